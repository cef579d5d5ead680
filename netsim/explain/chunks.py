"""The single chunk flows of a saved run, which its tables do not hold: it is simulated again with a packet tracer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from netsim.config.limits import NO_LIMITS
from netsim.core.observe.packet_trace import LOST, REFUSED
from netsim.core.observe.packet_tracer import MessageTimeline, PacketTracer
from netsim.core.state.dtypes import NEVER
from netsim.core.state.packet_header import ACK, CONNECTION, HOP, MARK
from netsim.core.state.world import World
from netsim.explain.message_timelines import SEQUENCES
from netsim.explain.saved import check_known, check_same
from netsim.result import Result
from netsim.result.chunks import COLUMNS, PAIRS, Chunks, steps_of
from netsim.simulation import Progress, check, run
from netsim.simulation.fabric import ActiveCollective, Fabric

MOST_CHUNKS = 500_000  # viewers become slow beyond a million events
MANY_ROWS = 1 << 21  # of the packet trace at a time: 64 MB
NONE = np.zeros(0, "i8")


def chunks_of(
    result: Result,
    *,
    collective: int | None = None,
    most: int = MOST_CHUNKS,
    many_rows: int = MANY_ROWS,
    progress: Progress | None = None,
) -> Chunks:
    """The chunk flows of a saved result, or of one collective; of more than `most` those that were sent first.

    Only collectives that ended before there were `most` are looked at, so that memory is bounded. InputError where the
    run had no such collective, or now takes other times.
    """
    check_known(result, collective)
    check(result.scenario)
    reader = _Reader(collective, most, many_rows)
    run(result.scenario, None, NO_LIMITS, progress, reader.watch)
    reader.read(reader.fabric.world, at_end=True)
    check_same(result, {each.number: _time_ps(each) for each in reader.fabric.carried}, "draw")
    return _joined(reader).first_sent(most)


def _time_ps(carried: ActiveCollective) -> int:
    assert carried.start_ps is not None
    assert carried.end_ps is not None
    return carried.end_ps - carried.start_ps


@dataclass(eq=False)
class _Reader:
    """Counts packets by message whenever the packet trace is full, and forgets what nobody asked for.

    kept: collectives of which everything is known, as they ended; packets: those of each collective, by its number.
    """

    only: int | None
    most: int
    many_rows: int
    kept: list[ActiveCollective] = field(default_factory=list)
    packets: dict[int, _Packets] = field(default_factory=dict)
    messages: int = 0  # of all that were asked for
    pairs: int = 0
    _is_open: list[int] = field(default_factory=list)
    _next: int = 0

    def watch(self, fabric: Fabric) -> None:
        """Be there when it begins."""
        self.fabric = fabric
        self.tracer = PacketTracer(self.many_rows, self.read)
        fabric.watch(self.tracer)

    def read(self, world: World, *, at_end: bool = False) -> None:
        """Take the packet trace in and forget it."""
        if at_end:
            self.tracer.take(world, at_end=True)
        carried = self.fabric.carried
        looked_at = [*self._is_open, *range(self._next, len(carried))]
        if wanted := [carried[n] for n in looked_at if self.only in (None, n) and self.messages < self.most]:
            self._count(world, wanted)
        for number in looked_at:
            self._end(carried[number])
        self._is_open, self._next = [n for n in looked_at if carried[n].end_ps is None], len(carried)
        self.tracer.keep([], until=self.many_rows)

    def _end(self, carried: ActiveCollective) -> None:
        """Keep a collective that has ended, if it was asked for and there is room; else forget it."""
        if carried.end_ps is None:
            return
        is_wanted = self.only in (None, carried.number)
        if is_wanted and self.messages < self.most:
            self.kept.append(carried)
        else:
            carried.timeline = None
            self.packets.pop(carried.number, None)
        self.messages += carried.admitted.messages if is_wanted else 0
        self.pairs += carried.admitted.dependents if is_wanted else 0

    def _count(self, world: World, wanted: list[ActiveCollective]) -> None:
        """Add what the packet trace holds of their packets."""
        timeline = [each.timeline or self.tracer.timeline_of(world, each.admitted) for each in wanted]
        sizes = [each.admitted.messages for each in wanted]
        found = _packets(world, np.concatenate(self.tracer.chunks), timeline)
        for each, last in zip(wanted, np.cumsum(sizes).tolist(), strict=True):
            mine = found.part(last - each.admitted.messages, last)
            so_far = self.packets.get(each.number)
            self.packets[each.number] = so_far.and_then(mine) if so_far else mine


@dataclass(frozen=True, eq=False)
class _Packets:
    """Per message: when its first left its NIC (NEVER: not yet), how many did, were lost, came with a mark."""

    first_ps: Any
    sent: Any
    dropped: Any
    marked: Any

    def part(self, first: int, last: int) -> _Packets:
        """Of some of the messages."""
        columns = (self.first_ps, self.sent, self.dropped, self.marked)
        return _Packets(*(each[first:last] for each in columns))

    def and_then(self, more: _Packets) -> _Packets:
        """With what happened later."""
        first_ps = np.minimum(self.first_ps, more.first_ps)
        return _Packets(first_ps, self.sent + more.sent, self.dropped + more.dropped, self.marked + more.marked)


def _packets(world: World, packet_trace: Any, timeline: list[MessageTimeline]) -> _Packets:
    """What a packet trace says of the packets of all these messages."""
    rows = packet_trace[(packet_trace["header"] >= 0) & (packet_trace["meta"] & ACK == 0)]
    state, of = rows["meta"], rows["header"] >> CONNECTION
    hop, is_refused = (state >> HOP) & 0xFF, rows["began_at"] == REFUSED
    is_gone = is_refused | (state & LOST != 0)
    comes = ~is_gone & (hop == world.connections["length"][of] - 1)
    message, count = _messages_of(rows["header"], timeline), sum(len(each.end) for each in timeline)

    def counted(which: Any) -> Any:
        return np.bincount(message[which & (message >= 0)], minlength=count)

    left = (hop == 0) & ~is_refused & (message >= 0)
    first_ps = np.full(count, NEVER, "i8")
    np.minimum.at(first_ps, message[left], rows["began_at"][left])
    return _Packets(first_ps, counted(left), counted(is_gone), counted(comes & (state & MARK != 0)))


def _messages_of(header: Any, timeline: list[MessageTimeline]) -> Any:
    """The message of each packet, counted through all these; -1 where it belongs to none of them."""
    names = ("first", "end", "connection")
    first, end, connection = (np.concatenate([getattr(each, name) for each in timeline]) for name in names)
    order = np.argsort((connection << SEQUENCES) + end, kind="stable")
    ends, begins = ((connection << SEQUENCES) + each for each in (end, first))
    keys = (header >> CONNECTION << SEQUENCES) + (header & 0xFFFFFFFF)
    place = np.searchsorted(ends[order], keys, side="right")
    message = np.append(order, -1)[place]
    return np.where((place < len(order)) & (np.append(begins, 0)[message] <= keys), message, -1)


def _joined(reader: _Reader) -> Chunks:
    """All collectives that were kept, one below the other in order of their ids."""
    kept = sorted(reader.kept, key=lambda each: each.number)
    tables = [_columns(reader.fabric, each, reader.packets[each.number]) for each in kept]
    first = np.cumsum([0, *(len(each["bytes"]) for each in tables)])
    for table, row in zip(tables, first.tolist(), strict=False):
        table["later"], table["earlier"] = table["later"] + row, table["earlier"] + row
    columns = {name: np.concatenate([NONE, *(each[name] for each in tables)]) for name in (*COLUMNS, *PAIRS)}
    return Chunks(**columns, in_all=reader.messages, pairs_in_all=reader.pairs)


def _columns(fabric: Fabric, carried: ActiveCollective, seen: _Packets) -> dict[str, Any]:
    """The columns of one collective's chunk flows; rows counted from its first."""
    timeline, ranks = carried.timeline, np.array(carried.ranks, "i8")
    assert timeline is not None
    count, packets = len(timeline.bytes), timeline.end - timeline.first
    later, earlier = np.repeat(np.arange(count), np.diff(timeline.first_before)), timeline.before
    is_delivered = timeline.target[earlier] == timeline.source[later]
    free_ps = np.where(is_delivered, timeline.delivered_at[earlier], timeline.acked_at[earlier])
    return {
        "collective": np.full(count, carried.number),
        "source": ranks[timeline.source],
        "target": ranks[timeline.target],
        "channel": fabric.collective_table.channels_of(timeline.connection),
        "bytes": timeline.bytes,
        "packets": packets,
        "start_ps": timeline.released_at,
        "sent_ps": seen.first_ps,
        "delivered_ps": timeline.delivered_at,
        "acked_ps": timeline.acked_at,
        "step": steps_of(later, earlier, free_ps, count),
        "sent_again": seen.sent - packets,
        "dropped": seen.dropped,
        "marked": seen.marked,
        "later": later,
        "earlier": earlier,
    }
