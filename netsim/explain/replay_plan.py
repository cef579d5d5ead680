"""Which connections a critical path may use, and when: guessed from what became of messages, and mended."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from netsim.core.state.world import World
from netsim.explain.line import Line, Lines, Unknown
from netsim.explain.message_timelines import Message, Timelines
from netsim.explain.path_hints import Origins
from netsim.explain.trace_columns import Column, Rows, longest_ps

MARGIN = 4  # times the longest that a packet is on one link: so much is watched before a path is thought to leave
WIDER = 4  # times as long as before, where a path did not leave
Span = tuple[int, int, int]  # connection, and the times from and until which its packets are needed, ps


@dataclass(frozen=True)
class Spans:
    """When which connections are watched: those of connection c are rows first[c] to first[c + 1], in order, apart."""

    first: Column
    since: Column
    until: Column

    @classmethod
    def of(cls, spans: list[Span], connections: int) -> Spans:
        """These, joined where they touch."""
        joined: list[list[int]] = []
        for connection, since, until in sorted(spans):
            if joined and joined[-1][0] == connection and since <= joined[-1][2]:
                joined[-1][2] = max(joined[-1][2], until)
            else:
                joined.append([connection, since, until])
        table = np.array(joined, "i8").reshape(-1, 3)
        first = np.searchsorted(table[:, 0], np.arange(connections + 1))
        return cls(first, table[:, 1].copy(), table[:, 2].copy())

    def around(self, connection: int, at_ps: int) -> tuple[int, int] | None:
        """The span of a connection that holds a time."""
        first, last = self.first[connection], self.first[connection + 1]
        place = int(first + np.searchsorted(self.since[first:last], at_ps, side="right")) - 1
        if place < first or self.until[place] < at_ps:
            return None
        return int(self.since[place]), int(self.until[place])


class WatchedLines(Lines):
    """The lines of connections in the times in which they were watched; `entered`: what was asked for, and when."""

    def __init__(self, rows: Rows, spans: Spans, plan: ReplayPlan) -> None:
        super().__init__(rows)
        self.spans, self.entered, self._plan = spans, list[tuple[int, int]](), plan
        self._parts: dict[tuple[int, int], Line] = {}

    def at(self, connection: int, at_ps: int) -> Line:
        """The packets of a connection around a time; Unknown where it was not watched."""
        self.entered.append((connection, at_ps))
        span = self.spans.around(connection, at_ps)
        if span is None:
            raise Unknown(connection, at_ps)
        key = connection, span[0]
        if key not in self._parts:
            self._parts[key] = Line(self.rows, connection, *span, self._plan.new_from(connection, span[0]))
        return self._parts[key]


class Queues:
    """All messages in order of connection and sequence: so they were released there, and so they were sent."""

    def __init__(self, timelines: Timelines) -> None:
        self._timelines, messages = timelines, timelines.messages
        self._connection, self._released = messages["connection"], messages["released_at"]
        self._first, self._end = messages["first"], messages["end"]

    def _place(self, connection: int, at_ps: int) -> int | None:
        first, last = np.searchsorted(self._connection, [connection, connection + 1])
        place = int(first + np.searchsorted(self._released[first:last], at_ps, side="right")) - 1
        return place if place >= first else None

    def last(self, connection: int, at_ps: int) -> Message | None:
        """The last message that a connection was given up to a time."""
        place = self._place(connection, at_ps)
        return self._timelines.message_at(place) if place is not None else None

    def end(self, connection: int, at_ps: int) -> int:
        """The end of the packets that a connection was given up to a time."""
        place = self._place(connection, at_ps)
        return int(self._end[place]) if place is not None else 0

    def packets(self, connection: int, since_ps: int, until_ps: int) -> int:
        """In the messages that a connection was given from the last one at since_ps to that at until_ps."""
        first, last = self._place(connection, since_ps), self._place(connection, until_ps)
        if last is None:
            return 0
        return int(self._end[last] - (self._first[first] if first is not None else 0))


class ReplayPlan:
    """Guesses the way of a critical path; `copied`: connections that sent some packet again."""

    def __init__(self, world: World, timelines: Timelines, origins: Origins) -> None:
        self.timelines, self._origins, self._queues = timelines, origins, Queues(timelines)
        self._margin_ps = MARGIN * longest_ps(world)
        self._length = world.connections["length"].astype("i8")
        self.copied = world.connections["injected"] > world.connections["sent"]

    def whole(self, number: int) -> list[Span]:
        """The way of a collective's critical path."""
        timeline, carried = self.timelines.timeline(number), self.timelines.carried[number]
        if not len(timeline.delivered_at) or carried.end_ps == carried.start_ps:
            return []
        assert carried.end_ps is not None
        return self.way(number, Message(number, int(np.argmax(timeline.delivered_at))), carried.end_ps)

    def way(self, number: int, message: Message | None, at_ps: int) -> list[Span]:
        """The way of the critical path of collective `number` from a message's arrival at some time."""
        spans: list[Span] = []
        start_ps = self.timelines.carried[number].start_ps or 0
        while message is not None and at_ps > start_ps:
            timeline = self.timelines.timeline(message.number)
            connection = int(timeline.connection[message.row])
            since = self._origins.of(connection, int(timeline.end[message.row]) - 1)
            released = self.timelines.released_at(message)
            since = since if 0 <= since <= at_ps else min(released, at_ps)
            spans.append(self.span(number, connection, since, at_ps))
            found = self._queues.last(connection, since)
            freed_by = self.timelines.released_by(found) if found else None
            if found is None or freed_by is None:
                break
            message, at_ps = freed_by[0], min(self.timelines.released_at(found), at_ps - 1)
        return spans

    def span(self, number: int, connection: int, since_ps: int, until_ps: int) -> Span:
        """What to watch of a connection that a path may leave at since_ps; no more than its collective lasted."""
        start_ps = self.timelines.carried[number].start_ps or 0
        return connection, max(0, max(since_ps, start_ps) - self._margin_ps), until_ps

    def mended(self, number: int, lines: WatchedLines, stopped: Unknown, most_rows: int) -> list[Span]:
        """The way as far as it is known, wider where the path went on, and guessed anew from there.

        Where the connection has no more than most_rows while the collective lasts, as wide as that.
        """
        entered = lines.entered
        ends = [*(at for _, at in entered[1:]), stopped.at_ps]
        used = [self.span(number, c, end, at) for (c, at), end in zip(entered, ends, strict=True)]
        connection, at_ps = entered[-1]
        all_of_it = self.span(number, connection, 0, at_ps)
        watched = lines.spans.around(connection, at_ps) or (at_ps - self._margin_ps, at_ps)
        wider = connection, max(at_ps - WIDER * (at_ps - watched[0]), all_of_it[1]), at_ps
        if watched[0] <= all_of_it[1]:
            wider = connection, 0, at_ps  # what was sent before the collective is needed too
        elif self.rows_in(all_of_it) <= most_rows:
            wider = all_of_it
        return [
            *used,
            wider,
            *self.way(number, self._queues.last(connection, stopped.at_ps), min(stopped.at_ps, at_ps)),
        ]

    def new_from(self, connection: int, since_ps: int) -> int:
        """Packets of lower numbers may have been sent before that time, and again after it."""
        return self._queues.end(connection, since_ps) if self.copied[connection] and since_ps > 0 else 0

    def rows_in(self, span: Span) -> int:
        """About how many rows of the packet trace a span holds."""
        connection, since_ps, until_ps = span
        packets = self._queues.packets(connection, since_ps, until_ps)
        return 2 * int(packets) * int(self._length[connection])
