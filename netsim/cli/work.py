"""What `run` and `compare` both do: make the scenario a command line asks for, and simulate it before one's eyes."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import TYPE_CHECKING

from netsim.cli import show
from netsim.cli.choices import is_scenario
from netsim.cli.progress import reading, watching
from netsim.errors import InputError

if TYPE_CHECKING:
    from netsim.config.limits import Limits
    from netsim.config.scenario import Scenario
    from netsim.result import Result
    from netsim.study.pool import Finished, Pool


def scenario_of(traces: list[str], on: str | None, sets: list[str], *, fill: bool = False) -> Scenario:
    """The scenario of a scenario file, or of traces and a topology, with the settings of the command line.

    With `fill`, ranks that the traces do not show do the same as the others.
    """
    from netsim.config import build_scenario, load_scenario, load_trace

    if is_scenario(traces):
        if fill:
            hint = "give the trace itself and --on TOPOLOGY, or leave the option out"
            raise InputError("a scenario holds a whole trace", where="--fill-missing-ranks", hint=hint)
        with reading():
            return load_scenario(traces[0], sets=sets, topology=on)
    if on is None:
        raise no_fabric()
    with reading():
        trace = load_trace(traces, fill_missing_ranks=True) if fill else traces
        return build_scenario(trace=trace, topology=on, sets=sets)


def say_how_read(scenario: Scenario) -> None:
    """Tell the person what the reader of a log assumed, skipped or filled in; a native trace says what it means."""
    if scenario.trace.report.format != "native":
        for note in scenario.trace.notes:
            show.note(note)


def no_fabric() -> InputError:
    """What is said where a trace is given and no topology."""
    return InputError("no fabric named", where="--on", hint="add --on fat_tree_k4_400g; 'netsim list' shows more")


def simulated(scenario: Scenario, limits: Limits) -> Result:
    """The result of a scenario and its reason, with a progress bar on stderr when that is a terminal."""
    from netsim.simulation import check, simulate

    check(scenario)
    say_if_compiling()
    with watching(scenario.topology.title) as progress:
        result = simulate(scenario, progress=progress, time_limit=limits.time_ps, wall_limit=limits.wall_ps)
        result.summary["reason"] = result.reason.as_json()
    return result


def saying_warnings(tell: Callable[[Finished], None]) -> Callable[[Finished], None]:
    """The same function, that also says what runs in other processes warn of, each warning once."""
    said: set[str] = set()

    def announce(finished: Finished) -> None:
        for text in finished.warnings:
            if text not in said:
                said.add(text)
                show.note(f"warning: {text}")
        tell(finished)

    return announce


def compile_once(pool: Pool) -> None:
    """Have the packet core compiled before a pool starts: every process that finds none would compile its own.

    Where processes start, nothing is loaded here to find that out: they load it themselves meanwhile.
    """
    from netsim.kernel.cache import is_kept

    if pool.scheduler or (pool.processes > 1 and is_kept("engine.advance")):
        return
    say_if_compiling()


def say_if_compiling() -> None:
    """Compile the packet core where that has not been done, and tell the person once why it takes longer.

    Ctrl-C ends the process meanwhile as it ends any: the compiler lets Python hear nothing for many seconds.
    """
    from netsim import kernel, simulation

    if simulation.is_ready() or kernel.is_compiled("advance"):  # the others take seconds, and are compiled when needed
        return
    show.note("compiling the packet core, which happens once on a machine and takes a minute or two")
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        simulation.get_ready()
    finally:
        signal.signal(signal.SIGINT, before)
