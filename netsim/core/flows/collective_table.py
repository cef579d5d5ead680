"""The collectives that are under way in a World: their rows are taken when they begin and given back when they end."""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Protocol

import numpy as np

from netsim.core.flows.admission import admit
from netsim.core.flows.connections import Connections
from netsim.core.flows.queue_pairs import QueuePairs, joined
from netsim.core.ideal.alone import MOST_MESSAGES
from netsim.core.ideal.floors import ideal_times
from netsim.core.state.dtypes import NEVER, NONE
from netsim.core.state.growth import with_rows
from netsim.core.state.range_allocator import RangeAllocator
from netsim.core.state.world import World

MOST_KNOWN = 1 << 10  # operations whose ideal times are remembered
TABLE_PER_ROW = 64  # so many possible (source, target, channel) a row may cost where a table finds them, not a sort


class ChunkFlows(Protocol):
    """A schedule, as far as the core reads it: columns over rows, positions in the group, predecessors as CSR."""

    @property
    def ranks(self) -> int: ...
    @property
    def source(self) -> Any: ...
    @property
    def target(self) -> Any: ...
    @property
    def channel(self) -> Any: ...
    @property
    def bytes(self) -> Any: ...
    @property
    def first_after(self) -> Any: ...
    @property
    def after(self) -> Any: ...


@dataclass(frozen=True)
class Admitted:
    """Where the rows of one collective lie; how long it takes at least, and alone as NICs send it (ps)."""

    collective: int
    first_part: int
    parts: int
    first_message: int
    messages: int
    first_dependent: int
    dependents: int
    first_flow: int
    flows: int
    floor_ps: int
    alone_ps: int
    bytes: Any  # per flow
    packets: Any  # per flow
    source: Any  # per flow: position in the group
    target: Any
    floors: Any  # per flow: see flow_floors.FLOOR

    def ideal_ps(self, took_ps: int) -> int:
        """The time alone, in the order in which NICs send; or in another that was better, as the run that took so long.

        No run takes less than `floor_ps`.
        """
        return max(self.floor_ps, min(self.alone_ps, took_ps))


class CollectiveTable:
    """Admits schedules and retires them."""

    def __init__(self, connections: Connections, pairs: QueuePairs | None = None) -> None:
        self._connections, self._pairs = connections, pairs or QueuePairs()
        self._known: dict[bytes, tuple[int, int, Any]] = {}  # ideal times of operations
        self._messages, self._heirs, self._flows, self._parts, self._collectives = (RangeAllocator() for _ in range(5))

    def admit(self, world: World, schedule: ChunkFlows, hosts: Any, traffic_class: int = 0) -> tuple[World, Admitted]:
        """The schedule's rows as messages; position p is host hosts[p]. floor_ps -1: rows wait in a cycle."""
        schedule = self._pairs.spread(schedule, hosts, traffic_class)
        rows, ranks = len(schedule.bytes), schedule.ranks
        source, target, channel, flow_of_row = flows_of(schedule)
        world, numbers = self._connections.numbers(world, hosts[source], hosts[target], channel, traffic_class)
        parts, collective = self._parts.take(ranks), self._collectives.take(1)
        messages, flows = self._messages.take(rows + 1), self._flows.take(len(numbers))
        dependents = self._heirs.take(len(schedule.after))
        world = self._with_rows(world)
        if world.settings[0]["tracing"]:
            world.message_timelines[messages : messages + rows] = np.zeros(1, world.message_timelines.dtype)
        _new_parts(world.parts[parts : parts + ranks], hosts)
        _new_flows(world.flows[flows : flows + len(numbers)], numbers, source + parts, target + parts, collective)
        sizes, after = np.ascontiguousarray(schedule.bytes, "i8"), np.ascontiguousarray(schedule.after, "i4")
        first_after = np.ascontiguousarray(schedule.first_after, "i8")
        admit(world, messages, dependents, flows, collective, flow_of_row, sizes, first_after, after)
        total = np.bincount(flow_of_row, weights=sizes, minlength=len(numbers)).astype("i8")
        in_packets = -(-sizes // world.connections["payload"][numbers].astype("i8")[flow_of_row])
        packets = np.bincount(flow_of_row, weights=in_packets, minlength=len(numbers)).astype("i8")
        rest = numbers, source, target, flow_of_row, sizes, first_after, after
        floor_ps, alone_ps, floors = self._ideal_times(world, messages, flows, int(in_packets.sum()), rest)
        return world, Admitted(
            collective=collective,
            first_part=parts,
            parts=ranks,
            first_message=messages,
            messages=rows,
            first_dependent=dependents,
            dependents=len(after),
            first_flow=flows,
            flows=len(numbers),
            floor_ps=floor_ps,
            alone_ps=alone_ps,
            bytes=total,
            packets=packets,
            source=source,
            target=target,
            floors=floors,
        )

    def _with_rows(self, world: World) -> World:
        """The world with at least as many rows in its tables as are taken."""
        return with_rows(
            world,
            parts=self._parts.size,
            collectives=self._collectives.size,
            messages=self._messages.size,
            dependents=self._heirs.size,
            flows=self._flows.size,
            finished=self._parts.size + 1,
            message_timelines=self._messages.size * int(world.settings[0]["tracing"]),
        )

    def _ideal_times(self, world: World, first: int, first_flow: int, packets: int, rest: Any) -> tuple[int, int, Any]:
        """Those of `floors.ideal_times`, remembered: jobs ask for the same operation again and again."""
        if len(rest[-2]) > MOST_MESSAGES:
            return ideal_times(world, first, first_flow, len(rest[0]), packets, *rest[-2:])
        digest = blake2b()
        for column in rest:
            digest.update(len(column).to_bytes(8, "little"))
            digest.update(np.asarray(column).tobytes())
        key = digest.digest()
        if key not in self._known:
            if len(self._known) == MOST_KNOWN:
                self._known.clear()
            self._known[key] = ideal_times(world, first, first_flow, len(rest[0]), packets, *rest[-2:])
        return self._known[key]

    def retire(self, world: World, admitted: Admitted) -> dict[str, Any]:
        """Give the collective's rows back; what they say of its flows, column by column, one row per connection."""
        rows = world.flows[admitted.first_flow : admitted.first_flow + admitted.flows]
        columns = {
            "source": admitted.source,
            "target": admitted.target,
            "channel": self._connections.channel[rows["connection"]],
            "bytes": admitted.bytes,
            "start_ps": rows["started_at"].copy(),
            "delivered_ps": rows["delivered_at"].copy(),
            "acked_ps": rows["acked_at"].copy(),
            "ideal_ps": admitted.floors["ideal"],
            "packets": admitted.packets + rows["retransmitted"],
            "retransmitted": rows["retransmitted"].copy(),
            "marked": rows["marked"].copy(),
            "dropped": rows["dropped"].copy(),
        }
        columns = joined(columns, admitted.floors, self._pairs.count)
        self._messages.give(admitted.first_message, admitted.messages + 1)
        self._heirs.give(admitted.first_dependent, admitted.dependents)
        self._flows.give(admitted.first_flow, admitted.flows)
        self._parts.give(admitted.first_part, admitted.parts)
        self._collectives.give(admitted.collective, 1)
        return columns

    def channels_of(self, connections: Any) -> Any:
        """The channels i8[n] of connections as schedules name them: all queue pairs of a channel have its number."""
        return self._connections.channel[connections] // self._pairs.count


def flows_of(schedule: ChunkFlows) -> tuple[Any, Any, Any, Any]:
    """The different (source, target, channel) of a schedule in order, i8 arrays; and the one of each row, u4[m]."""
    ranks = schedule.ranks
    channels = int(np.max(schedule.channel, initial=0)) + 1
    keys = (np.asarray(schedule.source, "i8") * ranks + schedule.target) * channels + schedule.channel
    possible = ranks * ranks * channels
    if possible <= TABLE_PER_ROW * len(keys):
        number = np.zeros(possible, "u4")
        number[keys] = 1
        different = np.flatnonzero(number)
        number[different] = np.arange(len(different), dtype="u4")
        flow_of_row = number[keys]
    else:
        different, inverse = np.unique(keys, return_inverse=True)
        flow_of_row = inverse.astype("u4")
    pairs, channel = np.divmod(different, channels)
    source, target = np.divmod(pairs, ranks)
    return source, target, channel, flow_of_row


def _new_parts(parts: Any, hosts: Any) -> None:
    parts[:] = np.zeros(1, parts.dtype)
    parts["host"] = hosts
    parts["first_waiting"] = parts["last_waiting"] = NONE


def _new_flows(flows: Any, connections: Any, source_part: Any, target_part: Any, collective: int) -> None:
    flows[:] = np.zeros(1, flows.dtype)
    flows["connection"], flows["collective"] = connections, collective
    flows["source_part"], flows["target_part"] = source_part, target_part
    flows["started_at"] = NEVER
