"""simulate(scenario) -> Result: the heart."""

import time
from collections.abc import Callable
from functools import cache
from typing import Any

import simpy

from netsim.config import build_scenario
from netsim.core.tables import NEVER
from netsim.errors import InputError, RunError
from netsim.fabric import Fabric, Wire
from netsim.outcome import Outcome, outcome_of
from netsim.replay import Choices, Job, Meeting, Rank, Steps, replay, start_job
from netsim.result import Result
from netsim.routing import Single
from netsim.scenario import Scenario
from netsim.topology.builder import NetworkBuilder
from netsim.traces import Trace
from netsim.transport.settings import Transport
from netsim.units import parse_time

Progress = Callable[[int, int, int, int], None]  # now in ps, collectives done, collectives in all, packet hops so far


def simulate(
    what: Any,
    topology: Any = None,
    *,
    ranks: int | None = None,
    progress: Progress | None = None,
    time_limit: str | int | None = None,
    **settings: Any,
) -> Result:
    """Run a scenario; or a trace, or user code for `ranks` ranks, on a topology.

    what: a Scenario; a Trace or a trace's name; or a function `job(rank)` that yields what the rank does. settings as in a scenario
    file: seed=7, transport="dctcp", routing="ecmp", algorithms={"all_reduce": "tree"}. time_limit: simulated time after which the
    run is given up. progress(now_ps, done, total, packet_hops) is called now and then. Raises InputError and RunError.

    >>> import netsim
    >>> def job(rank):
    ...     yield rank.compute("10us")
    ...     yield rank.all_reduce("1MiB")
    >>> result = netsim.simulate(job, "fat_tree_k4_100g", ranks=16)
    >>> list(result.collectives["op"])
    ['all_reduce']
    """
    scenario = _scenario(what, topology, ranks, settings)
    limit_ps = NEVER if time_limit is None else parse_time(time_limit)
    compile_seconds = _get_ready()
    outcome, recorded = run(scenario, what if callable(what) else None, limit_ps, progress)
    outcome.totals["compile_seconds"] = compile_seconds
    return Result.of(outcome, recorded)


def run(scenario: Scenario, job: Job | None, limit_ps: int, progress: Progress | None) -> tuple[Outcome, Scenario]:
    """What the network measures while the ranks walk through their job; and the scenario, user code written down in it."""
    began = time.perf_counter()
    env = simpy.Environment()
    fabric, meeting = _fabric(env, scenario, limit_ps, progress)
    ranks = start_job(job, scenario.trace.ranks, meeting) if job else replay(scenario.trace, meeting)
    end = env.process(_until_all_end(env, ranks))
    env.run()
    if not end.triggered:
        raise RunError(
            "some ranks wait for something that nobody does", mend="each recv needs a send, each event its trigger"
        )
    fabric.drain()
    outcome = outcome_of(fabric, int(end.value), time.perf_counter() - began)
    return outcome, _written_down(scenario, meeting) if job else scenario


def _until_all_end(env: simpy.Environment, ranks: list[simpy.Process]) -> Any:
    yield simpy.AllOf(env, ranks)
    return env.now


def _written_down(scenario: Scenario, meeting: Meeting) -> Scenario:
    """The scenario with what user code did as its trace, so that the result names all it came from."""
    trace = scenario.trace
    note = "written down from user code: operations of one rank that overlapped follow one another here"
    did = Trace(trace.name, trace.ranks, {}, tuple(meeting.recorded), notes=(note,))
    return Scenario(**{name: getattr(scenario, name) for name in Scenario.model_fields} | {"trace": did})


@cache
def _get_ready() -> float:
    """Seconds to load the compiled core, or to compile it: two hosts send each other a byte."""
    began = time.perf_counter()
    builder = NetworkBuilder("ready")
    first, second, switch = builder.host("a"), builder.host("b"), builder.switch("s", "tor")
    for host in (first, second):
        builder.connect(host, switch, rate_bps=10**11, delay_ps=10**6, kind="tor", buffer_bytes=10**6)
    env = simpy.Environment()
    network = builder.build()
    routing = Single()
    fabric = Fabric(
        env, network, lambda *ends: routing.routes(network, *ends, seed=1), wire=Wire(), transport=Transport(), seed=1
    )
    meeting = Meeting(fabric, (0, 1), Choices({}))
    start_job(_say_hello, 2, meeting)
    env.run()
    return time.perf_counter() - began


def _say_hello(rank: Rank) -> Steps:
    yield rank.all_to_all(2)


def _scenario(what: Any, topology: Any, ranks: int | None, settings: dict[str, Any]) -> Scenario:
    if isinstance(what, Scenario):
        if topology is not None or settings:
            raise InputError(
                "a scenario already says everything", where="simulate", mend="give it alone, or a trace and a topology"
            )
        return what
    if topology is None:
        raise InputError("no topology", where="simulate", mend='give one, as in simulate(trace, "fat_tree_k4_100g")')
    if callable(what):
        if ranks is None:
            raise InputError("no number of ranks for the job", where="simulate", mend="give ranks=16")
        name = getattr(what, "__name__", "job")
        what = Trace(name, ranks, {}, (), notes=("user code: its operations are not part of the scenario",))
    return build_scenario(what, topology, **settings)


def _fabric(
    env: simpy.Environment, scenario: Scenario, limit_ps: int, progress: Progress | None
) -> tuple[Fabric, Meeting]:
    network = scenario.topology.build()
    hosts = scenario.placement.hosts(scenario.trace.ranks, len(network.hosts), scenario.seed)
    packet = scenario.packet
    total = sum(operation.op != "compute" for operation in scenario.trace.operations)

    def tell(fabric: Fabric) -> None:
        if progress:
            done = sum(each.end_ps is not None for each in fabric.carried)
            progress(fabric.now_ps, done, max(total, len(fabric.carried)), fabric.packet_hops)

    fabric = Fabric(
        env,
        network,
        lambda source, target, channel: scenario.routing.routes(network, source, target, channel, scenario.seed),
        wire=Wire(packet.payload, packet.scale_up_payload, packet.header, packet.ack),
        transport=scenario.transport,
        seed=scenario.seed,
        time_limit_ps=limit_ps,
        on_progress=tell,
    )
    return fabric, Meeting(fabric, hosts, Choices(scenario.algorithms, scenario.channels, scenario.chunk))
