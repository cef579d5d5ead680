"""One connection's part of the packet trace: where a packet was before it was here, and what became of others."""

from functools import cached_property

import numpy as np

from netsim.core.observe.packet_trace import LOST, REFUSED, WAS_PACED
from netsim.core.state.dtypes import NEVER
from netsim.core.state.packet_header import ACK, MARK, PULL, TRIMMED
from netsim.explain.trace_columns import Column, Rows

EVERYTHING = -2  # `known_ps` of a line that lacks nothing: before any time that may be asked for


class Unknown(Exception):  # noqa: N818 - no error: a question
    """What is at hand does not say what a connection did at some time."""

    def __init__(self, connection: int, at_ps: int) -> None:
        super().__init__(connection, at_ps)
        self.connection, self.at_ps = connection, at_ps


class LineStretch:
    """The packets of one connection on one link, one way, in order of time."""

    def __init__(self, rows: Rows, mine: Column) -> None:
        first = mine[0]
        self.link, self.hop, self.is_ack = int(rows.link[first]), int(rows.hop[first]), bool(rows.flags[first] & ACK)
        self.rows, self._all = mine, rows

    @cached_property
    def began_at(self) -> Column:
        """When each was begun."""
        return self._all.began_at[self.rows]

    @cached_property
    def sent_at(self) -> Column:
        """When its last bit had left."""
        return self._all.sent_at[self.rows]

    @cached_property
    def sums(self) -> Column:
        """How long the link had been sending these before each, and in all."""
        return np.concatenate([[0], np.cumsum(self.sent_at - self.began_at)])

    @cached_property
    def arrived(self) -> Column:
        """The rows of those that the wire did not lose."""
        return self.rows[(self._all.flags[self.rows] & LOST) == 0]

    @cached_property
    def arrived_at(self) -> Column:
        """When they came to the far end."""
        return self._all.arrived_at[self.arrived]

    def sent_before(self, at: int) -> int:
        """How long the link had been sending these by then, ps."""
        count = int(np.searchsorted(self.began_at, at))
        return int(self.sums[count]) - (max(0, int(self.sent_at[count - 1]) - at) if count else 0)

    def last_before(self, at: int) -> int | None:
        """The row of the last of them to arrive before that."""
        count = int(np.searchsorted(self.arrived_at, at))
        return int(self.arrived[count - 1]) if count else None


class Line:
    """The packets of one connection, both ways. What it gives are numbers of rows.

    With `since_ps` and `until_ps`, of those that links began to send (or refused) in that time; what they do not tell
    for sure, Unknown is raised for: all arrivals are known that came at `known_ps` or later. Packets below `new_from`
    may have been sent before.
    """

    def __init__(
        self, rows: Rows, connection: int, since_ps: int = 0, until_ps: int = NEVER, new_from: int = 0
    ) -> None:
        self.rows, self.connection = rows, connection
        self.length = int(rows.world.connections["length"][connection])
        self._new_from = new_from
        self.known_ps = since_ps + rows.longest_ps if since_ps > 0 else EVERYTHING
        mine = rows.of_connection(connection)
        at = np.maximum(rows.began_at[mine], rows.came_at[mine])  # it came before it was begun, or was refused
        self.all = mine[(at >= since_ps) & (at <= until_ps)]
        self._stretches: dict[tuple[int, bool], list[LineStretch]] = {}  # by hop and way
        sent = self.all[rows.began_at[self.all] != REFUSED]
        way = (rows.link[sent].astype("i8") << 9) | (rows.hop[sent].astype("i8") << 1) | (rows.flags[sent] & ACK)
        for mine in np.split(sent, np.flatnonzero(np.diff(way)) + 1) if len(sent) else []:
            stretch = LineStretch(rows, mine)
            self._stretches.setdefault((stretch.hop, stretch.is_ack), []).append(stretch)
        at_nic = self._stretches.get((0, False))
        self.own = at_nic[0].rows if at_nic else np.zeros(0, "i8")  # as its NIC sent them
        self.own_began = rows.began_at[self.own]

    def know(self, at_ps: int) -> None:
        """Go on only if all is known that came to an end of a link at that time or later."""
        if at_ps < self.known_ps:
            raise Unknown(self.connection, at_ps)

    @cached_property
    def _own_sums(self) -> Column:
        return np.concatenate([[0], np.cumsum(self.rows.bytes[self.own], dtype="i8")])

    def sending_ps(self, start_ps: int, end_ps: int) -> int:
        """How long the narrowest link of its route takes for what it began to send in start_ps <= t < end_ps."""
        first, last = np.searchsorted(self.own_began, [start_ps, end_ps])
        link, spread = self.rows.narrowest(self.connection)
        sent = int(self._own_sums[last] - self._own_sums[first])
        return sent * int(self.rows.ps[link]) // (int(self.rows.per_bytes[link]) * spread)

    def own_ps(self, link: int, hop: int, start_ps: int, end_ps: int) -> int:
        """For how much of a time a link, its hop-th, was sending data of it."""
        self.know(start_ps)
        here = [each for each in self._stretches.get((hop, False), []) if each.link == link]
        return sum(each.sent_before(end_ps) - each.sent_before(start_ps) for each in here)

    @cached_property
    def first_sent(self) -> Column:
        """For each own packet, the place in `own` where the same was sent first."""
        _, first, which = np.unique(self.rows.sequence[self.own], return_index=True, return_inverse=True)
        return first[which]

    @cached_property
    def _doubts(self) -> Column:
        """How many of the own packets before each place, and in all, may be copies of some that are not here."""
        own = self.own
        doubtful = (self.rows.sequence[own] < self._new_from) & (self.first_sent == np.arange(len(own)))
        return np.concatenate([[0], np.cumsum(doubtful)])

    def be_sure(self, first: int, last: int) -> None:
        """Go on only if it is known which of the own packets at these places had been sent before."""
        if self._new_from and self._doubts[last + 1] > self._doubts[first]:
            raise Unknown(self.connection, int(self.own_began[first]))

    @cached_property
    def train(self) -> Column:
        """For each own packet, the place of the first of those sent back to back, without waiting, up to it."""
        own, rows = self.own, self.rows
        came, new = rows.came_at[own], self.first_sent == np.arange(len(own))
        follows = np.zeros(len(own), bool)
        follows[1:] = (came[1:] == rows.sent_at[own[:-1]]) & (self.own_began[1:] == came[1:]) & new[1:]
        return np.maximum.accumulate(np.where(follows, 0, np.arange(len(own))))

    def place_of(self, row: int) -> int:
        """The place in `own` of a row."""
        place = int(np.searchsorted(self.own_began, self.rows.began_at[row]))
        assert self.own[place] == row
        return place

    def arriving(self, at: int, hop: int, *, ack: bool, sequence: int | None = None) -> int | None:
        """The row of the packet that came to the end of its `hop`-th link at that time; None if none did."""
        self.know(at)
        for stretch in self._stretches.get((hop, ack), []):
            first, last = np.searchsorted(stretch.arrived_at, [at, at + 1])
            for row in stretch.arrived[first:last].tolist():
                if sequence is None or self.rows.sequence[row] == sequence:
                    return int(row)
        return None

    def last_ack(self, after_ps: int, before_ps: int) -> int | None:
        """The last answer to come to the sender in after_ps < t < before_ps."""
        row = self._last(0, True, before_ps)
        found = row if row is not None and self.rows.arrived_at[row] > after_ps else None
        self.know(after_ps if found is None else int(self.rows.arrived_at[found]))
        return found

    def last_data(self, up_to_ps: int) -> int | None:
        """The last data packet, or header of one, to come to the receiver in t <= up_to_ps."""
        row = self._last(self.length - 1, False, up_to_ps + 1)
        self.know(-1 if row is None else int(self.rows.arrived_at[row]))
        return row

    def _last(self, hop: int, ack: bool, before_ps: int) -> int | None:
        found = [each.last_before(before_ps) for each in self._stretches.get((hop, ack), [])]
        here = [row for row in found if row is not None]
        return max(here, key=lambda row: int(self.rows.arrived_at[row]), default=None)

    def before(self, row: int) -> int | None:
        """The same packet at the link before; None at its first one."""
        rows = self.rows
        ack = bool(rows.flags[row] & ACK)
        hop = int(rows.hop[row]) + (1 if ack else -1)
        if not 0 <= hop < self.length:
            return None
        found = self.arriving(int(rows.came_at[row]), hop, ack=ack, sequence=int(rows.sequence[row]))
        assert found is not None, "a packet came from nowhere"
        return found

    def ahead(self, row: int) -> int | None:
        """The last data packet of it that the same link sent before a row's, if that came while it was still there."""
        rows = self.rows
        if rows.flags[row] & ACK or not rows.hop[row]:
            return None
        came_at = int(rows.came_at[row])
        self.know(came_at)
        for stretch in self._stretches[int(rows.hop[row]), False]:
            if stretch.link == rows.link[row]:
                place = int(np.searchsorted(stretch.began_at, rows.began_at[row])) - 1
                if place >= 0 and stretch.sent_at[place] > came_at:
                    return int(stretch.rows[place])
        return None

    def is_parked(self, row: int) -> bool:
        """Whether its pace let an own packet wait for its turn."""
        return bool(self.rows.flags[row] & WAS_PACED)

    def is_pull(self, row: int) -> bool:
        """Whether an answer is a pull, which answers nothing."""
        return bool(self.rows.flags[row] & PULL)

    @cached_property
    def losses(self) -> tuple[Column, Column]:
        """Rows of data at the links that lost, refused or trimmed it, and when they did."""
        rows, data = self.rows, self._data
        gone = data[(rows.began_at[data] == REFUSED) | ((rows.flags[data] & LOST) != 0)]
        return self._in_time(np.concatenate([gone, self._first_with(TRIMMED)]))

    @cached_property
    def marks(self) -> tuple[Column, Column]:
        """Rows of data at the links that marked it, and when they did."""
        return self._in_time(self._first_with(MARK))

    @cached_property
    def _data(self) -> Column:
        return self.all[(self.rows.flags[self.all] & ACK) == 0]

    def _in_time(self, found: Column) -> tuple[Column, Column]:
        at = self.rows.came_at[found]
        order = np.argsort(at, kind="stable")
        return found[order], at[order]

    def _first_with(self, flag: int) -> Column:
        """Rows of data with a flag that the same packet did not have at the link before."""
        rows, data = self.rows, self._data
        data = data[((rows.flags[data] & flag) != 0) & (rows.began_at[data] != REFUSED)]
        order = data[np.lexsort((rows.began_at[data], rows.sequence[data]))]
        new = np.ones(len(order), bool)
        new[1:] = (np.diff(rows.sequence[order]) != 0) | (np.diff(rows.hop[order].astype("i4")) != 1)
        return order[new]

    def waits(self, start_ps: int, end_ps: int) -> tuple[Column, Column]:
        """The links where its data waited at a switch in that time, packet by packet, and for how long."""
        rows, data = self.rows, self._data
        data = data[(rows.hop[data] > 0) & (rows.began_at[data] > start_ps) & (rows.came_at[data] < end_ps)]
        return rows.link[data], rows.began_at[data] - rows.came_at[data]


class Lines:
    """The lines of all connections, each sorted out when first asked for."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self._known: dict[int, Line] = {}

    def at(self, connection: int, _at_ps: int) -> Line:
        """The packets of a connection, those around a time at least."""
        return self.of(connection)

    def of(self, connection: int) -> Line:
        """All packets of a connection."""
        if connection not in self._known:
            self._known[connection] = Line(self.rows, connection)
        return self._known[connection]
