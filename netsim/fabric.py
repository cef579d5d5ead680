"""The seam: where SimPy's time and the core's time meet. A network in motion that carries collectives for ranks."""

import heapq
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import simpy

from netsim.core.connections import Connections, Sender
from netsim.core.engine import CROWDED, FINISHED, IDLE, PAUSED, STUCK, advance, enter
from netsim.core.ledger import Admitted, ChunkFlows, Ledger
from netsim.core.readings import QueueSamples
from netsim.core.tables import NEVER
from netsim.core.world import new_world, with_more_air
from netsim.errors import RunError
from netsim.stuck import who_waits
from netsim.topology.network import SCALE_UP, Network
from netsim.transport.settings import Transport
from netsim.units import format_time

LATE = 1 << 30  # SimPy priority: after everything that ranks do at the same instant
PATIENCE = 2_000_000  # node steps between two looks at the clock: some tenths of a second
Late = Generator[simpy.Event, Any, None]


@dataclass(frozen=True)
class Wire:
    """Sizes on the wire in bytes: payload of a packet, of one inside a scale-up domain, header of each, an ACK."""

    payload: int = 4096
    scale_up_payload: int = 16384
    header: int = 64
    ack: int = 64


@dataclass(eq=False)
class Carried:
    """A collective under way. `about` is what the caller wants to read beside its times; times are ps, None before they are known."""

    number: int
    ranks: list[int]
    about: dict[str, Any]
    admitted: Admitted
    start_ps: int | None = None
    end_ps: int | None = None
    entered: set[int] = field(default_factory=set)
    unfinished: int = 0
    flows: dict[str, Any] = field(default_factory=dict)


class Fabric:
    """Carries schedules over a network. Ranks enter a collective one by one; each gets an event that fires when its part is done.

    route(source, target, channel) -> Routes gives the links of new connections. After the run `carried` and `world` hold what happened.
    """

    def __init__(
        self,
        env: simpy.Environment,
        network: Network,
        route: Callable[..., Any],
        *,
        wire: Wire,
        transport: Transport,
        seed: int,
        time_limit_ps: int = NEVER,
        on_progress: Callable[["Fabric"], None] | None = None,
    ) -> None:
        self.env, self.network = env, network
        self.world = new_world(
            network,
            header=wire.header,
            ack=wire.ack,
            largest=wire.header + (max(wire.payload, wire.scale_up_payload) if network.has_servers else wire.payload),
            tick_ps=transport.tick_ps,
            seed=seed,
            control=transport.control,
            parameters=transport.parameters,
        )
        sender = Sender(transport.control, transport.window, transport.timeout, wire.payload, wire.scale_up_payload)
        inside = np.array([kind == SCALE_UP for kind in network.kinds])
        self._ledger = Ledger(Connections(len(network.hosts), route, inside, sender))
        self.carried: list[Carried] = []
        self.core_seconds = 0.0
        self.samples = QueueSamples()
        self._time_limit_ps, self._on_progress = time_limit_ps, on_progress
        self._events: dict[int, tuple[Carried, simpy.Event]] = {}  # by part
        self._owner: dict[int, Carried] = {}  # by part, of collectives under way
        self._finished: list[tuple[int, int]] = []  # heap of (time, part) whose events have not fired
        self._under_way: list[Carried] = []
        self._work = env.event()
        env.process(self._drive())

    def carry(self, schedule: ChunkFlows, hosts: Any, **about: Any) -> Carried:
        """Admit a schedule; member p of its group is host hosts[p]. Nothing moves before ranks `enter` it."""
        self.world, admitted = self._ledger.admit(self.world, schedule, np.asarray(hosts))
        if admitted.ideal_ps < 0:
            raise RunError(
                "some chunk flows wait for each other in a circle", mend="break the cycle in the schedule's `after`"
            )
        carried = Carried(len(self.carried), list(range(schedule.ranks)), about, admitted, unfinished=schedule.ranks)
        self.carried.append(carried)
        self._under_way.append(carried)
        self._owner.update((part, carried) for part in range(admitted.first_part, admitted.first_part + schedule.ranks))
        return carried

    def enter(self, carried: Carried, position: int) -> simpy.Event:
        """Member `position` begins its part now. The event fires when that part is finished."""
        part = carried.admitted.first_part + position
        event = self.env.event()
        self._make_room(4 * carried.admitted.flows)
        self._events[part] = (carried, event)
        began = int(enter(self.world, part, self.env.now))
        carried.start_ps = began if carried.start_ps is None else min(carried.start_ps, began)
        carried.entered.add(position)
        self._collect()
        if not self._work.triggered:
            self._work.succeed()
        return event

    @property
    def is_quiet(self) -> bool:
        """Nothing is under way: every collective is delivered and acknowledged."""
        return not self._under_way

    @property
    def now_ps(self) -> int:
        """How far the packets are: SimPy's clock waits for the next thing a rank can see."""
        soonest = int(self.world.wakes.min())
        return int(self.env.now) if soonest == NEVER else max(int(self.env.now), soonest)

    @property
    def packet_hops(self) -> int:
        """Packets put on wires so far."""
        return int(self.world.links["wire"]["tail"].sum())

    def drain(self) -> None:
        """Let what is still on the wires (copies sent twice, their ACKs) arrive."""
        while self._advance(NEVER) not in (IDLE, FINISHED):
            pass

    def _drive(self) -> Late:
        """The one process that lets the core run, never past the next thing SimPy might do."""
        while True:
            yield self._work
            yield self._late(0)
            while self._under_way:
                wake_at = self._run()
                if wake_at is None:
                    break
                yield self._late(wake_at - self.env.now)
                self._fire()
                yield self._late(0)
            self._work = self.env.event()

    def _run(self) -> int | None:
        """Advance to the next moment at which ranks may act, and return it; None when only a rank's own step could go on."""
        while True:
            next_step = self.env.peek()
            limit = NEVER if next_step == float("inf") else int(next_step)
            first = self._finished[0][0] if self._finished else NEVER
            reason = self._advance(min(limit, first + 1))
            if reason in (FINISHED, PAUSED, CROWDED):
                self._attend(reason)
            elif reason == STUCK:
                what, mend = who_waits(self._under_way, self.world, self.network)
                raise RunError(what, mend=mend)
            elif first < limit:
                return first
            elif limit < NEVER:
                return limit
            elif self._retire_ended():
                if not self._under_way:
                    return None
            else:
                what, mend = who_waits(self._under_way, self.world, self.network)
                raise RunError(what, mend=mend)

    def _advance(self, limit: int) -> int:
        began = time.perf_counter()
        stop = min(limit, self.samples.next_at)
        reason = int(advance(self.world, stop, PATIENCE))
        self.core_seconds += time.perf_counter() - began
        if stop == self.samples.next_at and reason not in (FINISHED, PAUSED, CROWDED, IDLE):
            self.samples.take(self.world)
            return PAUSED
        self._collect()
        return reason

    def _attend(self, reason: int) -> None:
        if reason == CROWDED:
            self.world = with_more_air(self.world)
        if self._on_progress:
            self._on_progress(self)

    def _make_room(self, packets: int) -> None:
        while len(self.world.air) - int(self.world.settings[0]["air_used"]) < packets:
            self.world = with_more_air(self.world)

    def _collect(self) -> None:
        """Take the parts that finished since the last look."""
        settings = self.world.settings[0]
        for at, part in self.world.finished[: settings["finished"]].tolist():
            heapq.heappush(self._finished, (at, part))
        settings["finished"] = 0

    def _fire(self) -> None:
        """Tell the ranks whose parts are finished by now."""
        if self.env.now > self._time_limit_ps:
            limit = format_time(self._time_limit_ps)
            raise RunError(
                f"not finished within the time limit of {limit}", mend="raise --time-limit or look at the queues so far"
            )
        while self._finished and self._finished[0][0] <= self.env.now:
            at, part = heapq.heappop(self._finished)
            carried, event = self._events.pop(part)
            carried.unfinished -= 1
            event.succeed(at)
        self._retire_ended()

    def _retire_ended(self) -> bool:
        """Take the flows of collectives that are delivered and acknowledged, and give back their rows."""
        unacked = self.world.collectives["unacked"]
        ended = [each for each in self._under_way if each.unfinished == 0 and unacked[each.admitted.collective] == 0]
        for each in ended:
            each.flows = self._ledger.retire(self.world, each.admitted)
            parts = range(each.admitted.first_part, each.admitted.first_part + each.admitted.parts)
            finished = self.world.parts["finished_at"][parts.start : parts.stop]
            each.end_ps = int(
                max(each.flows["delivered_ps"].max(initial=0), finished.max() if not len(each.flows["bytes"]) else 0)
            )
            for part in parts:
                del self._owner[part]
            self._under_way.remove(each)
        return bool(ended)

    def _late(self, delay: int) -> simpy.Event:
        """An event after everything else that happens then."""
        event = simpy.Event(self.env)
        event._ok, event._value = True, None
        self.env.schedule(event, priority=LATE, delay=delay)
        return event
