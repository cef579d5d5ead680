"""The designs that a command line of `netsim compare` asks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from netsim.cli.choices import is_scenario, pair
from netsim.cli.progress import reading
from netsim.cli.work import no_fabric
from netsim.errors import InputError

if TYPE_CHECKING:
    from netsim.config.scenario import Scenario
    from netsim.study.designs import Design, Value

Axes = list[list["Value"]]


def saved_runs(traces: Sequence[str]) -> list[Path]:
    """The folders of saved runs, if that is what was given; InputError for a mixture."""
    folders = [Path(each) for each in traces if (Path(each) / "run.json").is_file()]
    if folders and len(folders) < max(len(traces), 2):
        hint = "give two folders, or their run.json to run them again"
        raise InputError("a saved run is compared with other saved runs", where=str(folders[0]), hint=hint)
    return folders


def axes_of(
    traces: Sequence[str],
    on: Sequence[str],
    algorithm: Sequence[str],
    preset: Sequence[str],
    transport: Sequence[str],
    routing: Sequence[str],
    placement: Sequence[str],
) -> Axes:
    """What may vary, each as a list of values: scenario files, fabrics, and every choice that was given."""
    from netsim.config import CONTROL_ALONE
    from netsim.study.designs import Value

    scenarios = [Value(Path(each).stem, scenario=each) for each in traces] if _are_scenarios(traces) else []
    if not scenarios and not on:
        raise no_fabric()
    by_operation: dict[str, list[Value]] = {}
    for text in algorithm:
        op = pair("--algorithm", text, "all_reduce=tree").partition("=")[0].strip()
        by_operation.setdefault(op, []).append(Value(text, (f"algorithms.{text}",)))
    return [
        scenarios,
        [Value(name, topology=name) for name in on],
        [Value(name, (f"transport.preset={name}",)) for name in preset],
        [Value(name, (f"{CONTROL_ALONE}{name}",), control=name) for name in transport],
        [Value(name, (f"routing.kind={name}",)) for name in routing],
        [Value(name, (f"placement.kind={name}",)) for name in placement],
        *by_operation.values(),
    ]


def designs(traces: Sequence[str], axes: Axes, sets: Sequence[str], note: Callable[[str], None]) -> list[Design]:
    """Every combination as a design; `sets` (seed and --set) have the last word in all of them.

    A control that cannot run on what it is combined with is left out, and `note` hears why.
    """
    from netsim.config import build_scenario, load_scenario, load_trace
    from netsim.study.controls import cannot_pull
    from netsim.study.designs import designs_of
    from netsim.transport.registry import REGISTRY

    pulling = [name for name, control in REGISTRY.items() if control.receiver_credit]
    with reading():
        trace = None if _are_scenarios(traces) else load_trace(list(traces))

    def fitting(values: Sequence[Value]) -> Scenario | None:
        others = [value for value in values if not value.control]
        for control in (value.control for value in values if value.control in pulling):
            if why := cannot_pull(control, make(others)):
                note(why)
                return None
        return make(values)

    def make(values: Sequence[Value]) -> Scenario:
        chosen = [*(each for value in values for each in value.sets), *sets]
        topology = next((value.topology for value in values if value.topology is not None), None)
        if trace is not None:
            return build_scenario(trace=trace, topology=topology or "", sets=chosen)
        return load_scenario(next(value.scenario for value in values if value.scenario), chosen, topology)

    return designs_of(axes, fitting)


def _are_scenarios(traces: Sequence[str]) -> bool:
    return all(is_scenario([each]) for each in traces)
