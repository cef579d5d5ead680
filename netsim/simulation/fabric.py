"""The seam: where SimPy's time and the core's time meet. A network in motion that carries collectives for ranks."""

import heapq
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import simpy
from simpy.events import EventPriority

from netsim.config.limits import NO_LIMITS, Limits
from netsim.config.scenario import Packet
from netsim.core.engine.loop import FAILED, FINISHED, IDLE, PAUSED, POOL_SHORT, REACHED, SAMPLES_FULL, advance, enter
from netsim.core.flows.collective_table import Admitted, ChunkFlows, CollectiveTable
from netsim.core.flows.connections import Connections
from netsim.core.flows.queue_pairs import QueuePairs
from netsim.core.observe.counters import QueueSamples, packets_sent
from netsim.core.observe.packet_tracer import MessageTimeline, PacketTracer
from netsim.core.state.dtypes import NEVER
from netsim.core.state.growth import with_larger_packet_pool, with_room
from netsim.core.switch.ecmp_tables import PerPacketRouting, with_per_packet_routing
from netsim.errors import RunError
from netsim.simulation.deadlock import gave_up, who_waits
from netsim.simulation.progress_interval import ProgressInterval
from netsim.simulation.watchdog import Watchdog
from netsim.simulation.wire import sender_of, world_of
from netsim.topology.network import SCALE_UP, Network
from netsim.transport.settings import Transport

LATE = EventPriority(1 << 30)  # after everything that ranks do at the same instant


@dataclass(eq=False)
class ActiveCollective:
    """A collective on its way, and afterwards what became of it.

    `ranks` names its members by position; `about` is what the caller wants to read beside the times. Times are ps, None
    before they are known: when the first and the last member began, and the end; `entered` says by position when each
    did. Once all is acknowledged, `flows` holds one row per connection (see CollectiveTable.retire), `finished_ps` when
    each member's part was finished, by position, `timeline` what became of each message if there was a packet tracer.
    """

    number: int
    ranks: list[int]
    about: dict[str, Any]
    admitted: Admitted
    traffic_class: int = 0
    start_ps: int | None = None
    end_ps: int | None = None
    entered: dict[int, int] = field(default_factory=dict)  # when (ps), by position
    unfinished: int = 0
    flows: dict[str, Any] = field(default_factory=dict)
    finished_ps: Any = ()
    timeline: MessageTimeline | None = None

    @property
    def last_start_ps(self) -> int | None:
        """When the last of those members began that have begun."""
        return max(self.entered.values(), default=None)


class Fabric:
    """Carries schedules over a network. Ranks enter a collective one by one; each gets an event: its part is done.

    route(source, target, channel) -> Routes gives the links of new connections. A connection has `queue_pairs`, which
    take its messages in turn or, with `split`, each a share of every one. With `per_packet` switches choose per packet.
    `classes` of traffic are served in strict order, the highest first. `jitter` of NICs: core/host/jitter.py. RunError
    past the `limits`, and where all is sent in vain (see Watchdog). on_progress is called some times a second.
    `carried` and `world` hold what happened; `processes`, filled by whoever starts them, are the ranks' processes: an
    error says who has ended.
    """

    def __init__(
        self,
        env: simpy.Environment,
        network: Network,
        route: Callable[..., Any],
        *,
        packet: Packet,
        transport: Transport,
        seed: int,
        queue_pairs: int = 1,
        split: bool = False,
        per_packet: PerPacketRouting | None = None,
        classes: int = 1,
        jitter: float = 0,
        limits: Limits = NO_LIMITS,
        on_progress: Callable[["Fabric"], None] | None = None,
    ) -> None:
        self.env, self.network = env, network
        self.world = world_of(network, packet, transport, seed, classes, jitter)
        if per_packet:
            self.world = with_per_packet_routing(self.world, per_packet)
        pairs = QueuePairs(queue_pairs, split=split, payload=packet.payload, inside=network.are_in_one_server)
        inside = np.array([kind == SCALE_UP for kind in network.kinds])
        sender = sender_of(network, packet, transport, in_order=per_packet is None)
        self.collective_table = CollectiveTable(Connections(len(network.hosts), route, inside, sender), pairs)
        self.carried: list[ActiveCollective] = []
        self.under_way: list[ActiveCollective] = []  # some part unfinished
        self.processes: list[tuple[int, simpy.Process]] = []
        self.samples = QueueSamples(self.world)
        self._unacknowledged: list[ActiveCollective] = []  # all parts finished
        self.watchdog, self._on_progress = Watchdog(limits, transport.retries), on_progress
        self._events: dict[int, tuple[ActiveCollective, simpy.Event]] = {}  # by part: what its rank waits for
        self._finished: list[tuple[int, int, int]] = []  # heap of (time, collective, part) whose events have not fired
        self._interval = ProgressInterval()
        self._witness: PacketTracer | None = None
        self._work = env.event()
        env.process(self._drive())

    def watch(self, tracer: PacketTracer) -> None:
        """Have a packet tracer, who must be there before anything moves."""
        self._witness, self.world = tracer, tracer.begin(self.world)

    def carry(self, schedule: ChunkFlows, hosts: Any, traffic_class: int = 0, **about: Any) -> ActiveCollective:
        """Admit a schedule; member p of its group is host hosts[p]. Nothing moves before ranks `enter` it.

        RunError if some of its chunk flows wait for each other in a cycle.
        """
        self.world, admitted = self.collective_table.admit(self.world, schedule, np.asarray(hosts), traffic_class)
        if admitted.floor_ps < 0:
            what = f"some chunk flows of {about.get('op', 'the schedule')} wait for each other in a cycle"
            raise RunError(what, hint="break the cycle in the schedule's `after`")
        carried = ActiveCollective(
            len(self.carried), list(range(schedule.ranks)), about, admitted, traffic_class, unfinished=schedule.ranks
        )
        self.carried.append(carried)
        self.under_way.append(carried)
        return carried

    def enter(self, carried: ActiveCollective, position: int) -> simpy.Event:
        """Member `position` begins its part now. The event fires when that part is finished; its value is the time."""
        part = carried.admitted.first_part + position
        event = self.env.event()
        self._make_room(4 * carried.admitted.flows)
        self._events[part] = (carried, event)
        began = int(enter(self.world, part, self.env.now))
        carried.start_ps = began if carried.start_ps is None else min(carried.start_ps, began)
        carried.entered[position] = began
        self._collect()
        if not self._work.triggered:
            self._work.succeed()
        return event

    def waiting(self, carried: ActiveCollective) -> list[int]:
        """The ranks that have begun this collective and are not through with it."""
        first = carried.admitted.first_part
        return [carried.ranks[position] for position in sorted(carried.entered) if first + position in self._events]

    @property
    def is_quiet(self) -> bool:
        """Nothing is under way: every collective is delivered and acknowledged."""
        return not (self.under_way or self._unacknowledged)

    @property
    def now_ps(self) -> int:
        """How far the packets are: SimPy's clock waits for the next thing a rank can see."""
        soonest = int(self.world.next_event_of_group.min())
        return int(max(self.env.now, min(soonest, self.env.peek()))) if soonest < NEVER else int(self.env.now)

    @property
    def packet_hops(self) -> int:
        """Packets put on wires so far."""
        return int(packets_sent(self.world).sum())

    @property
    def done(self) -> float:
        """How many collectives are done; one under way counts as the part of its chunk flows that is acknowledged."""
        unacked = self.world.collectives["unacked"]
        is_open = [*self.under_way, *self._unacknowledged]
        rest = sum(int(unacked[each.admitted.collective]) / (each.admitted.messages or 1) for each in is_open)
        return len(self.carried) - rest

    def drain(self) -> None:
        """Let what is still on the wires arrive: last ACKs, and copies of packets that were sent twice."""
        while (reason := self._advance(NEVER)) != IDLE:
            if reason == FAILED:
                raise gave_up(self)
        self._retire_acknowledged()

    def _drive(self) -> Generator[simpy.Event, Any, None]:
        """The one process that lets the core run, never past the next thing SimPy might do."""
        while True:
            yield self._work
            yield self._late(0)
            while not self.is_quiet:
                wake_at = self._run()
                if wake_at is None:
                    break
                yield self._late(wake_at - int(self.env.now))
                self.watchdog.check_time(self)
                self._fire()
                yield self._late(0)
            self._work = self.env.event()

    def _run(self) -> int | None:
        """Advance to the next moment at which ranks may act. Returns it; None when all is delivered and acknowledged.

        RunError, with who waits for whom, when nothing is in flight and no rank will do anything by itself.
        """
        next_step = self.env.peek()
        limit = int(min(next_step, self.watchdog.time_limit_ps + 1, NEVER))
        while True:
            first = self._finished[0][0] if self._finished else NEVER
            reason = self._advance(min(limit, first + 1))
            if reason == FAILED:
                raise gave_up(self)
            if reason != FINISHED:
                break
        if first < limit:
            return first
        self._retire_acknowledged()
        if self.is_quiet:
            return None
        if reason == IDLE and next_step == float("inf"):
            raise who_waits(self)
        return limit

    def _advance(self, limit: int) -> int:
        """Let the core run up to `limit`; it comes back with REACHED, with IDLE, or when parts have FINISHED."""
        while True:
            began, until = time.perf_counter(), min(limit, self.watchdog.next_ps)
            reason = int(advance(self.world, until, self._interval.steps))
            self.watchdog.look_at_the_clock(self)
            if reason == PAUSED:
                self._interval.paused_after(time.perf_counter() - began)
            if self._on_progress and self._interval.is_time() and (reason != REACHED or self.done < len(self.carried)):
                self._on_progress(self)  # but not of deadlines that nobody needs any more
            if reason == POOL_SHORT and self._witness and self._witness.is_due(self.world):
                self._witness.take(self.world)
            elif reason == POOL_SHORT:
                self.world = with_room(self.world)
            elif reason == SAMPLES_FULL:
                self.samples.collect()
            elif reason == REACHED and until < limit:
                self.watchdog.look(self)
            elif reason != PAUSED:
                self._collect()
                return reason

    def _make_room(self, packets: int) -> None:
        while len(self.world.packet_pool) - int(self.world.progress[0]["pool_used"]) < packets:
            self.world = with_larger_packet_pool(self.world)

    def _collect(self) -> None:
        """Take the parts that finished since the last look."""
        progress = self.world.progress[0]
        if progress["finished"]:
            for at, part in self.world.finished[: progress["finished"]].tolist():
                heapq.heappush(self._finished, (at, self._events[part][0].number, part))
            progress["finished"] = 0

    def _fire(self) -> None:
        """Tell the ranks whose parts are finished by now."""
        while self._finished and self._finished[0][0] <= self.env.now:
            at, _, part = heapq.heappop(self._finished)
            carried, event = self._events.pop(part)
            carried.unfinished -= 1
            if carried.unfinished == 0:
                self.under_way.remove(carried)
                self._unacknowledged.append(carried)
            event.succeed(at)
        self._retire_acknowledged()

    def _retire_acknowledged(self) -> None:
        """Take the flows of collectives that are delivered and acknowledged, and give back their rows."""
        unacked = self.world.collectives["unacked"]
        ended = [each for each in self._unacknowledged if unacked[each.admitted.collective] == 0]
        for each in ended:
            first, parts = each.admitted.first_part, each.admitted.parts
            each.finished_ps = self.world.parts["finished_at"][first : first + parts].copy()
            last = int(each.finished_ps.max())  # for one that moves nothing
            each.timeline = self._witness.timeline_of(self.world, each.admitted) if self._witness else None
            each.flows = self.collective_table.retire(self.world, each.admitted)
            each.end_ps = int(each.flows["delivered_ps"].max(initial=0 if each.admitted.flows else last))
            self._unacknowledged.remove(each)

    def _late(self, delay: int) -> simpy.Event:
        """An event after everything else that happens then."""
        event = simpy.Event(self.env)
        event._ok, event._value = True, None
        self.env.schedule(event, priority=LATE, delay=delay)
        return event
