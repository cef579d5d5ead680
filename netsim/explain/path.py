"""The critical path of a collective, walked backwards: from its last delivery, packet by packet, to its start.

Each step asks what the packet at hand waited for last, and goes on from there; so the pieces of time join without a gap
and add up to the whole. A packet on its way: propagation, serialisation, queueing behind others, pause. Where packets
of its own connection stood before it, the walk goes on with the first of them: their serialisation had to be, and what
others took there is counted once. At its NIC: its connection's turn had come, and others went first (queueing at the
NIC); before that the packet ahead of it was being sent (serialisation), or its pace (throttling) or its window held it
back. A window opens with an answer: the walk goes on along the answer and the packet it answers. Of what an idle
network takes for such a round trip, as long as the narrowest link takes for what the window holds is serialisation, and
the rest throttling: a larger window would have hidden it. A packet that was retransmitted: from its first transmission
to the last it is retransmission.
"""

from typing import Any, NamedTuple

import numpy as np

from netsim.explain.line import Line, Lines
from netsim.explain.message_timelines import Message, Timelines

PROPAGATION, SERIALISATION, QUEUEING, PAUSE = "propagation", "serialisation", "queueing", "pause"
THROTTLING, RETRANSMISSION, DEPENDENCY, COMPUTE = "throttling", "retransmission", "dependency", "compute"
KINDS = (PROPAGATION, SERIALISATION, QUEUEING, PAUSE, THROTTLING, RETRANSMISSION, DEPENDENCY, COMPUTE)
IDLE = (PROPAGATION, SERIALISATION)  # what an idle network takes too
NO_LINK, NO_CONNECTION = -1, -1
NEVER_PAUSED = (np.zeros(0, "i8"), np.zeros(0, "i8"))


class Segment(NamedTuple):
    """A part of the time: what it went into, at which link, for which connection; for a late rank, that rank
    and the other collective it was in; whether a connection's pace, not its window, held it back."""

    kind: str
    start_ps: int
    end_ps: int
    link: int = NO_LINK
    connection: int = NO_CONNECTION
    rank: int = -1
    other: int = -1
    paced: bool = False

    @property
    def ps(self) -> int:
        """How long it is."""
        return self.end_ps - self.start_ps


class Arrival(NamedTuple):
    """A data packet that came to its end; with the round trip it is part of: its first piece, and when that ended."""

    line: Line
    row: int
    trip: tuple[int, int] | None = None


class Path:
    """The critical path of one collective: `pieces`, the last first, from its end to its start."""

    def __init__(self, lines: Lines, timelines: Timelines, number: int) -> None:
        self.lines, self.rows, self.timelines, self.number = lines, lines.rows, timelines, number
        carried = timelines.carried[number]
        assert carried.start_ps is not None
        assert carried.end_ps is not None
        self.start_ps, self.end_ps = carried.start_ps, carried.end_ps
        self.segments: list[Segment] = []
        self.reached = self.end_ps
        self._walk()

    def _walk(self) -> None:
        at, timeline = None, self.timelines.timeline(self.number)
        if self._is_on and len(timeline.delivered_at):
            at = self._delivery(Message(self.number, int(np.argmax(timeline.delivered_at))))
        while at is not None and self._is_on:
            at = self._before(at)
        if self._is_on:  # nothing was sent: the last rank to come ended it
            carried = self.timelines.carried[self.number]
            last = max(carried.entered, key=lambda position: (carried.entered[position], position))
            self._until_entry(carried.ranks[last], carried.entered[last])

    @property
    def _is_on(self) -> bool:
        return self.reached > self.start_ps

    def _add(self, kind: str, start_ps: int, link: int = NO_LINK, connection: int = NO_CONNECTION, **more: Any) -> None:
        """Time from start_ps to where the walk has come so far; nothing before the collective's start."""
        start_ps = max(start_ps, self.start_ps)
        if start_ps < self.reached:
            segment = Segment(kind, start_ps, self.reached, link, connection, **more)
            last = self.segments[-1] if self.segments else None
            if last == segment._replace(start_ps=self.reached, end_ps=last.end_ps if last else 0):
                self.segments[-1] = last._replace(start_ps=start_ps)
            else:
                self.segments.append(segment)
            self.reached = start_ps

    def _delivery(self, message: Message) -> Arrival:
        """The packet that completed a message."""
        timeline = self.timelines.timeline(message.number)
        line = self.lines.at(int(timeline.connection[message.row]), self.reached)
        row = line.arriving(int(timeline.delivered_at[message.row]), line.length - 1, ack=False)
        assert row is not None, "a message was delivered and no packet came"
        return Arrival(line, row)

    def _before(self, at: Arrival) -> Arrival | None:
        """From one packet's arrival back to the arrival that let it go."""
        line = at.line
        first = self._along(line, at.row)
        if at.trip:
            self._hide(at.trip, line, int(self.rows.began_at[first]))
        if not self._is_on:
            return None
        answer, message = self._before_sending(line, line.place_of(first))
        if answer is not None:
            trip = len(self.segments), self.reached
            row = self._answered(line, answer)
            return None if row is None else Arrival(line, row, trip)
        return self._before_release(message) if message and self._is_on else None

    def _along(self, line: Line, row: int) -> int:
        """Back along a packet's links to its first; without its wait there. Its first row."""
        rows, each = self.rows, row
        while True:
            link = int(rows.link[each])
            self._add(PROPAGATION, int(rows.sent_at[each]), link, line.connection)
            self._add(SERIALISATION, int(rows.began_at[each]), link, line.connection)
            each = self._behind_own(line, each)
            before = line.before(each)
            if before is None:
                return each
            self._wait(line, each, int(rows.came_at[each]))
            each = before

    def _behind_own(self, line: Line, row: int) -> int:
        """Back over the packets of its connection that a data packet stood behind: the row of the first of them."""
        rows = self.rows
        while self._is_on and (ahead := line.ahead(row)) is not None:
            self._wait(line, row, int(rows.sent_at[ahead]))
            self._add(SERIALISATION, int(rows.began_at[ahead]), int(rows.link[row]), line.connection)
            row = ahead
        return row

    def _wait(self, line: Line, row: int, since_ps: int) -> None:
        """In a queue: paused while its link's sender was stopped, else behind its own kind or others."""
        rows, link = self.rows, int(self.rows.link[row])
        stops, ends = rows.pauses.get(rows.row_of(link, line.connection), NEVER_PAUSED)
        for i in range(int(np.searchsorted(stops, self.reached)) - 1, -1, -1):
            if ends[i] <= since_ps:
                break
            self._behind(line, row, max(int(ends[i]), since_ps))
            self._add(PAUSE, max(int(stops[i]), since_ps), link, line.connection)
        self._behind(line, row, since_ps)

    def _behind(self, line: Line, row: int, since_ps: int) -> None:
        """Behind packets of the same connection, which had to be sent anyway, and behind others."""
        since_ps = max(since_ps, self.start_ps)
        link, hop = int(self.rows.link[row]), int(self.rows.hop[row])
        own = line.own_ps(link, hop, since_ps, self.reached) if since_ps < self.reached else 0
        self._add(QUEUEING, since_ps + own, link, line.connection)
        self._add(SERIALISATION, since_ps, link, line.connection)

    def _before_sending(self, line: Line, place: int) -> tuple[int | None, Message | None]:
        """From when an own packet was begun: to the answer that let it go (its row), or to a message not yet free.

        Packets that it waited for at its own NIC are passed on the way.
        """
        rows = self.rows
        while self._is_on:
            place = self._first_of_train(line, place)
            row = int(line.own[place])
            sent_before = int(rows.sent_at[line.own[place - 1]]) if place else -1
            self._wait(line, row, max(int(rows.came_at[row]), sent_before))
            message = self.timelines.message_of(line.connection, int(rows.sequence[row]))
            released = self.timelines.released_at(message) if message else -1
            if not place and self._is_on:  # what it sent before, if anything, had left before all that is known
                line.know(min(int(rows.came_at[row]), released))
            answer = self._opened_by(line, row, max(released, sent_before)) if self._is_on else None
            if answer is not None:
                return answer, None
            since, paced = max(released, sent_before), line.is_parked(row)
            self._add(THROTTLING, since, NO_LINK, line.connection, paced=paced)
            if sent_before < released or not place:
                return None, message
            place -= 1
            self._add(SERIALISATION, int(line.own_began[place]), int(rows.link[row]), line.connection)
        return None, None

    def _first_of_train(self, line: Line, place: int) -> int:
        """Back to when a packet was sent first, and over those sent back to back before it."""
        while (first := int(line.first_sent[place])) != place or (first := int(line.train[place])) != place:
            line.be_sure(first, place)
            is_copy = line.first_sent[place] != place
            link = NO_LINK if is_copy else int(self.rows.link[line.own[place]])
            self._add(RETRANSMISSION if is_copy else SERIALISATION, int(line.own_began[first]), link, line.connection)
            place = first
        line.be_sure(place, place)
        return place

    def _opened_by(self, line: Line, row: int, since_ps: int) -> int | None:
        """The answer that let an own packet go, which could not go before: its row."""
        since_ps = max(since_ps, self.start_ps - 1)
        if self.reached <= since_ps or line.is_parked(row):
            return None
        found = line.arriving(self.reached, 0, ack=True)
        if found is None:
            found = line.last_ack(since_ps, self.reached)  # then something else made it wait
            if found is not None:
                self._add(THROTTLING, int(self.rows.arrived_at[found]), NO_LINK, line.connection)
        return found

    def _answered(self, line: Line, answer: int) -> int | None:
        """Back along an answer to the arrival that it answers: its row. A pull answers none: the last."""
        first = self._along(line, answer)
        self._wait(line, first, int(self.rows.came_at[first]))
        if not self._is_on:
            return None
        if not line.is_pull(answer):
            return line.arriving(self.reached, line.length - 1, ack=False)
        row = line.last_data(self.reached)
        if row is not None:
            self._add(THROTTLING, int(self.rows.arrived_at[row]), NO_LINK, line.connection)
        return row

    def _hide(self, trip: tuple[int, int], line: Line, began_ps: int) -> None:
        """Of a round trip that held back a window: as long as the narrowest link takes for what it holds is sending.

        What an idle network takes beyond that is throttling: a larger window would have hidden it.
        """
        first, until = trip
        narrowest, _ = self.rows.narrowest(line.connection)
        sending = line.sending_ps(max(began_ps, self.start_ps), until)
        whole, self.segments[first:] = self.segments[first:], []
        for segment in whole:
            if segment.kind not in IDLE:
                self.segments.append(segment)
                continue
            cut = segment.end_ps - min(segment.ps, sending)
            if cut < segment.end_ps:
                self.segments.append(segment._replace(kind=SERIALISATION, link=narrowest, start_ps=cut))
            if cut > segment.start_ps:
                self.segments.append(segment._replace(kind=THROTTLING, link=NO_LINK, end_ps=cut))
            sending -= segment.end_ps - cut

    def _before_release(self, message: Message) -> Arrival | None:
        """From when a message was free to go: to the arrival that freed it, or to its rank's entry, and so the end."""
        freed_by = self.timelines.released_by(message)
        if freed_by is None:
            rank, entered_ps = self.timelines.entry_of(message)
            if message.number == self.number:
                self._until_entry(rank, entered_ps)
            else:
                self._add(DEPENDENCY, self.start_ps, rank=rank, other=message.number)
            return None
        before, delivered = freed_by
        if delivered:
            return self._delivery(before)
        line = self.lines.at(int(self.timelines.timeline(before.number).connection[before.row]), self.reached)
        answer = line.arriving(self.reached, 0, ack=True)
        assert answer is not None, "a message was acknowledged and no answer came"
        row = self._answered(line, answer)
        return None if row is None else Arrival(line, row)

    def _until_entry(self, rank: int, entered_ps: int) -> None:
        """From when the rank of the first packet came, back to the collective's start: in others, else computing."""
        self._add(DEPENDENCY, entered_ps, rank=rank)
        for began, ended, other in reversed(self.timelines.spans(rank, self.start_ps, self.reached, but=self.number)):
            self._add(COMPUTE, ended, rank=rank)
            self._add(DEPENDENCY, began, rank=rank, other=other)
        self._add(COMPUTE, self.start_ps, rank=rank)
