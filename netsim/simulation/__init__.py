"""simulate(scenario) -> Result: the heart."""

import time
import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import simpy

from netsim.config import build_scenario
from netsim.config.limits import Limits, limits_of
from netsim.config.scenario import Packet, Scenario
from netsim.core.state.checks import check_headers, check_trimming
from netsim.core.switch.ecmp_tables import PerPacketRouting
from netsim.errors import InputError
from netsim.result import Result
from netsim.result.tables import RawResult
from netsim.routing import PerPacket, Routing, Single
from netsim.routing.equal_cost_links import equal_cost_links_of
from netsim.routing.shortest_paths import check_distances
from netsim.simulation.deadlock import out_of_time, who_waits
from netsim.simulation.doubts import doubts_of
from netsim.simulation.fabric import Fabric
from netsim.simulation.interrupts import heard_meanwhile
from netsim.simulation.job import Job, Rank, start_job
from netsim.simulation.job_recorder import JobRecorder
from netsim.simulation.packet_size import change_by_packet_size
from netsim.simulation.raw_result import outcome_of
from netsim.simulation.replay import Choices, Rendezvous, Steps, check_algorithms, replay
from netsim.simulation.watchdog import interrupt
from netsim.topology.builder import NetworkBuilder
from netsim.topology.network import Network
from netsim.traces import Trace
from netsim.traces.limits import MAX_RANKS
from netsim.transport.settings import Transport

Progress = Callable[[int, float, int, int], None]  # now in ps, collectives done and in all, packet hops so far


def simulate(
    what: Any,
    topology: Any = None,
    *,
    ranks: int | None = None,
    progress: Progress | None = None,
    time_limit: str | int | None = None,
    wall_limit: str | int | None = None,
    **settings: Any,
) -> Result:
    """Run a scenario; or a trace, or user code for `ranks` ranks, on a topology.

    what: a Scenario; a Trace or a trace's name; or a function `job(rank)` that yields what the rank does. settings as
    in a scenario file: seed=7, transport="dctcp", routing="ecmp", algorithms={"all_reduce": "tree"}. time_limit:
    simulated time after which the run is given up; wall_limit: time by the clock ("90s"), for which it is simulated at
    most. progress(now_ps, done, total, packet_hops) is called some times a
    second; a collective under way counts as a fraction. Raises InputError for a mistake, RunError for an endless run.

    >>> import netsim
    >>> def job(rank):
    ...     yield rank.compute("10us")
    ...     yield rank.all_reduce("1MiB")
    >>> result = netsim.simulate(job, "fat_tree_k4_100g", ranks=16)
    >>> list(result.collectives["op"])
    ['all_reduce']
    """
    scenario = _scenario(what, topology, ranks, settings)
    limits = limits_of(time_limit, wall_limit)
    check(scenario)
    for doubt in doubts_of(scenario, scenario.topology.build()):
        warnings.warn(doubt, stacklevel=2)
    compile_seconds = get_ready()
    raw_result, recorded = run(scenario, what if callable(what) else None, limits, progress)
    raw_result.totals["compile_seconds"] = compile_seconds
    if change := change_by_packet_size(run, recorded, raw_result, limits):
        warnings.warn(change, stacklevel=2)
    return Result.of(raw_result, recorded)


def check(scenario: Scenario) -> None:
    """Refuse what cannot be run, before anything is compiled: too many ranks, unknown algorithms, useless headers."""
    network = scenario.topology.build()
    check_distances(network)
    scenario.placement.hosts(scenario.trace.ranks, len(network.hosts), scenario.seed)
    check_algorithms(scenario.trace)
    check_trimming(network, is_selective=scenario.transport.recovery == "selective_repeat")
    check_headers(network, scenario.packet.header)


def run(
    scenario: Scenario,
    job: Job | None,
    limits: Limits,
    progress: Progress | None,
    watch: Callable[[Fabric], None] | None = None,
) -> tuple[RawResult, Scenario]:
    """What the network measures while the ranks do their job; and the scenario, with user code written down in it.

    watch is called with the fabric before anything moves in it.
    """
    began = time.perf_counter()
    env = simpy.Environment()
    fabric, meeting = _fabric(env, scenario, limits, progress)
    if watch:
        watch(fabric)
    recorder = JobRecorder(scenario.trace.ranks)
    fabric.processes = (
        start_job(job, scenario.trace.ranks, meeting, recorder) if job else replay(scenario.trace, meeting)
    )
    with heard_meanwhile(partial(interrupt, fabric)):
        completion_ps = _walk_to_the_end(fabric, fabric.watchdog.time_limit_ps)
    raw_result = outcome_of(fabric, completion_ps, time.perf_counter() - began)
    return raw_result, scenario.changed(trace=recorder.trace(scenario.trace.name)) if job else scenario


def _walk_to_the_end(fabric: Fabric, limit_ps: int) -> int:
    """Let every rank come to its end and every packet arrive. Returns when the last rank or collective ended."""
    env = fabric.env
    ends: list[int] = []
    for _, process in fabric.processes:
        process.callbacks.append(lambda _: ends.append(int(env.now)))  # a rank's error goes its own way, at once
    while env.peek() <= limit_ps:
        env.step()
        fabric.watchdog.look_at_the_clock(fabric)
    if fabric.under_way or len(ends) < len(fabric.processes):
        raise who_waits(fabric) if env.peek() == float("inf") else out_of_time(fabric, limit_ps)
    fabric.drain()
    return max([0, *ends, *(each.end_ps or 0 for each in fabric.carried)])


def _steering(routing: Routing, network: Network) -> PerPacketRouting | None:
    """How switches choose a link for every packet, where the routing has them do so."""
    if not isinstance(routing, PerPacket):
        return None
    found = equal_cost_links_of(network)
    return PerPacketRouting(routing.kind, found.group_of, found.first, found.links, **routing.settings)


def is_ready() -> bool:
    """Whether this process has the compiled core."""
    return get_ready.cache_info().currsize > 0


@cache
def get_ready() -> float:
    """Load the compiled core, or compile it: two hosts send each other a byte. How many seconds it took."""
    began = time.perf_counter()
    builder = NetworkBuilder("ready")
    first, second, switch = builder.host("a"), builder.host("b"), builder.switch("s", "tor")
    for host in (first, second):
        builder.connect(host, switch, rate_bps=10**11, delay_ps=10**6, kind="tor", buffer_bytes=10**6)
    env = simpy.Environment()
    network = builder.build()
    routing = Single()
    fabric = Fabric(
        env,
        network,
        lambda source, target, channel: routing.routes(network, source, target, channel, seed=1),
        packet=Packet(),
        transport=Transport(),
        seed=1,
    )
    start_job(_say_hello, 2, Rendezvous(fabric, (0, 1), Choices({})), JobRecorder(2))
    env.run()
    return time.perf_counter() - began


def _say_hello(rank: Rank) -> Steps:
    yield rank.all_to_all(2)


def _scenario(what: Any, topology: Any, ranks: int | None, settings: dict[str, Any]) -> Scenario:
    if ranks is not None and not callable(what):
        raise InputError(f"ranks = {ranks!r} with a trace", where="simulate", hint="leave it out: a trace has its own")
    if isinstance(what, Scenario):
        if topology is not None or settings:
            hint = "give it alone, or a trace and a topology"
            raise InputError("a scenario already says everything", where="simulate", hint=hint)
        return what
    if topology is None:
        raise InputError("no topology", where="simulate", hint='give one, as in simulate(trace, "fat_tree_k4_100g")')
    if callable(what):
        if ranks is None:
            raise InputError("no number of ranks for the job", where="simulate", hint="give ranks=16")
        if isinstance(ranks, bool) or not isinstance(ranks, int) or not 1 <= ranks <= MAX_RANKS:
            raise InputError(
                f"ranks = {ranks!r} for a job", where="simulate", hint="give a number of ranks as in ranks=16"
            )
        what = Trace(getattr(what, "__name__", "job"), ranks, {}, ())
    return build_scenario(what, topology, **settings)


def _fabric(
    env: simpy.Environment, scenario: Scenario, limits: Limits, progress: Progress | None
) -> tuple[Fabric, Rendezvous]:
    network = scenario.topology.build()
    hosts = scenario.placement.hosts(scenario.trace.ranks, len(network.hosts), scenario.seed)
    total = sum(operation.op != "compute" for operation in scenario.trace.operations)

    def tell(fabric: Fabric) -> None:
        if progress is not None:
            progress(fabric.now_ps, fabric.done, max(total, len(fabric.carried)), fabric.packet_hops)

    fabric = Fabric(
        env,
        network,
        lambda source, target, channel: scenario.routing.routes(network, source, target, channel, scenario.seed),
        packet=scenario.packet,
        transport=scenario.transport,
        seed=scenario.seed,
        queue_pairs=scenario.routing.queue_pairs_per_connection,
        split=scenario.routing.splits_messages,
        per_packet=_steering(scenario.routing, network),
        classes=scenario.classes.count,
        jitter=scenario.nic.jitter,
        limits=limits,
        on_progress=tell if progress else None,
    )
    choices = Choices(scenario.algorithms, scenario.channels, scenario.chunk, scenario.classes)
    return fabric, Rendezvous(fabric, hosts, choices)
