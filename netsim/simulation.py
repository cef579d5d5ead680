"""simulate(scenario) -> Result: the heart."""

import time
from collections.abc import Callable
from typing import Any

import simpy

from netsim.config import build_scenario
from netsim.core.tables import NEVER
from netsim.errors import InputError, RunError
from netsim.fabric import Fabric, Wire
from netsim.outcome import Outcome, outcome_of
from netsim.replay import Choices, Job, Meeting, replay, start_job
from netsim.result import Result
from netsim.scenario import Scenario
from netsim.traces import Trace
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
    job = what if callable(what) else None
    limit_ps = NEVER if time_limit is None else parse_time(time_limit)
    return Result.of(run(scenario, job, limit_ps, progress), scenario)


def run(scenario: Scenario, job: Job | None, limit_ps: int, progress: Progress | None) -> Outcome:
    """What a scenario's network measures while the ranks walk through their job."""
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
    return outcome_of(fabric, int(end.value), time.perf_counter() - began)


def _until_all_end(env: simpy.Environment, ranks: list[simpy.Process]) -> Any:
    yield simpy.AllOf(env, ranks)
    return env.now


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
            progress(env.now, done, max(total, len(fabric.carried)), fabric.packet_hops)

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
