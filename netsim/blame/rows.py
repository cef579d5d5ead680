"""The journal of a run as columns, and one connection's part of it: which packet was where before it was here."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from netsim.core.journal import LOST, PARKED, REFUSED
from netsim.core.tables import NEVER, World
from netsim.core.words import ACK, BYTES, CONNECTION, HOP, INGRESS, MARK, PULL, TRIMMED

Column = Any  # of int64


class Rows:
    """Packets at queues: a row for each that a link began to send, or (began_at = REFUSED) that found no room there.

    Times in ps: came_at that queue, began_at its first bit left, sent_at its last bit, arrived_at the far end.
    """

    def __init__(self, world: World, journal: Any) -> None:
        ports = int(world.settings[0]["ports"])
        self.world, self.ports = world, ports
        packets = journal[journal["label"] >= 0]
        self._pauses = journal[journal["label"] < 0]
        state = packets["state"]
        self.came_at, self.began_at = packets["came_at"].copy(), packets["began_at"].copy()
        self.connection, self.sequence = packets["label"] >> CONNECTION, packets["label"] & 0xFFFFFFFF
        self.link = state >> INGRESS
        self.bytes, self.hop, self.flags = (state >> BYTES) & 0xFFFFFF, (state >> HOP) & 0xFF, state & 0xFF
        kind = world.kinds[world.links["kind"][:ports]]
        self.delay_ps = kind["delay"]  # per link
        self.ps, self.per_bytes = kind["ps"], kind["per_bytes"]
        self.sent_at = self.began_at - (-self.bytes * self.ps[self.link] // self.per_bytes[self.link])
        self.arrived_at = self.sent_at + self.delay_ps[self.link]
        self._lines: dict[int, Line] = {}
        self._lanes: dict[int, Lane] = {}

    def row_of(self, link: int, connection: int) -> int:
        """The row of a link's gate for the class of a connection."""
        return link + int(self.world.connections["egress"][connection]) // self.ports * self.ports

    def line(self, connection: int) -> Line:
        """The rows of one connection."""
        if connection not in self._lines:
            bounds, order = self._by_connection
            self._lines[connection] = Line(self, connection, order[bounds[connection] : bounds[connection + 1]])
        return self._lines[connection]

    @cached_property
    def _by_connection(self) -> tuple[Column, Column]:
        return _grouped(self.connection, len(self.world.connections))

    @cached_property
    def _by_link(self) -> tuple[Column, Column]:
        return _grouped(self.link, self.ports)

    def lane(self, link: int) -> Lane:
        """The data that a link sent."""
        if link not in self._lanes:
            bounds, order = self._by_link
            rows = order[bounds[link] : bounds[link + 1]]
            self._lanes[link] = Lane(self, rows[(self.began_at[rows] != REFUSED) & ((self.flags[rows] & ACK) == 0)])
        return self._lanes[link]

    @cached_property
    def pauses(self) -> dict[int, tuple[Column, Column]]:
        """By row of a gate: when its sender stopped, and when it went on."""
        found: dict[int, tuple[Column, Column]] = {}
        row = self._pauses["state"] >> INGRESS
        for each in np.unique(row).tolist():
            mine = self._pauses[row == each]
            at, stops = mine["came_at"], mine["label"] == -2  # they take turns
            began = at[stops] if stops[0] else np.concatenate([[0], at[stops]])
            ended = at[~stops] if not stops[-1] else np.concatenate([at[~stops], [NEVER]])
            found[each] = began, ended
        return found


def _grouped(keys: Column, count: int) -> tuple[Column, Column]:
    """Where each key's rows begin in an order of all rows; among equals the first stays first."""
    order = np.argsort(keys, kind="stable")
    return np.searchsorted(keys[order], np.arange(count + 1)), order


class Lane:
    """The data packets that one link sent, in order of time: `rows`, and their columns."""

    def __init__(self, rows: Rows, mine: Column) -> None:
        self.rows, self.came_at, self.began_at = mine, rows.came_at[mine], rows.began_at[mine]
        self.connection, self.bytes = rows.connection[mine], rows.bytes[mine]
        self._sums = np.concatenate([[0], np.cumsum(self.bytes)])

    def bytes_sent(self, start_ps: int, end_ps: int) -> int:
        """Bytes of packets begun in start_ps <= t < end_ps."""
        first, last = np.searchsorted(self.began_at, [start_ps, end_ps])
        return int(self._sums[last] - self._sums[first])

    def sent(self, start_ps: int, end_ps: int) -> slice:
        """The packets begun in start_ps <= t < end_ps."""
        first, last = np.searchsorted(self.began_at, [start_ps, end_ps])
        return slice(int(first), int(last))


class Line:
    """The packets of one connection, both ways. What it gives are numbers of rows."""

    def __init__(self, rows: Rows, connection: int, mine: Column) -> None:
        self.rows, self.connection = rows, connection
        self.length = int(rows.world.connections["length"][connection])
        self.all = mine
        self._at: dict[int, tuple[Column, Column, Column]] = {}  # by link: its data there
        sent = mine[rows.began_at[mine] != REFUSED]
        is_ack = (rows.flags[sent] & ACK) != 0
        own = sent[(rows.hop[sent] == 0) & ~is_ack]
        self.own = own[np.argsort(rows.began_at[own], kind="stable")]  # as its NIC sent them
        arrived = sent[is_ack | ((rows.flags[sent] & LOST) == 0)]
        arrived = arrived[(rows.flags[arrived] & LOST) == 0]
        self._arrived = arrived[np.argsort(rows.arrived_at[arrived], kind="stable")]
        self._times = rows.arrived_at[self._arrived]

    @cached_property
    def own_began(self) -> Column:
        """When each of its own packets was begun."""
        return self.rows.began_at[self.own]

    @cached_property
    def _own_sums(self) -> Column:
        return np.concatenate([[0], np.cumsum(self.rows.bytes[self.own])])

    @cached_property
    def _slowest(self) -> int:
        """The link of its route that sends slowest."""
        first = self.connection * int(self.rows.world.settings[0]["stride"])
        route = self.rows.world.hops[first : first + self.length]
        return int(route[np.argmax(self.rows.ps[route] / self.rows.per_bytes[route])])

    def sending_ps(self, start_ps: int, end_ps: int) -> int:
        """How long its slowest link takes for what it began to send in start_ps <= t < end_ps."""
        first, last = np.searchsorted(self.own_began, [start_ps, end_ps])
        sent = int(self._own_sums[last] - self._own_sums[first])
        return sent * int(self.rows.ps[self._slowest]) // int(self.rows.per_bytes[self._slowest])

    def own_ps(self, link: int, start_ps: int, end_ps: int) -> int:
        """For how much of a time a link was sending data of it."""
        if link not in self._at:
            rows, mine = self.rows, self.all
            here = mine[(rows.link[mine] == link) & (rows.began_at[mine] != REFUSED) & ((rows.flags[mine] & ACK) == 0)]
            here = here[np.argsort(rows.began_at[here], kind="stable")]
            began, sent = rows.began_at[here], rows.sent_at[here]
            self._at[link] = began, sent, np.concatenate([[0], np.cumsum(sent - began)])
        return self._sent_before(link, end_ps) - self._sent_before(link, start_ps)

    def _sent_before(self, link: int, at: int) -> int:
        began, sent, sums = self._at[link]
        count = int(np.searchsorted(began, at))
        return int(sums[count]) - (max(0, int(sent[count - 1]) - at) if count else 0)

    @cached_property
    def first_sent(self) -> Column:
        """For each own packet, the place in `own` where the same was sent first."""
        _, first, which = np.unique(self.rows.sequence[self.own], return_index=True, return_inverse=True)
        return first[which]

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
        rows = self.rows
        first, last = np.searchsorted(self._times, [at, at + 1])
        for row in self._arrived[first:last].tolist():
            same = sequence is None or rows.sequence[row] == sequence
            if rows.hop[row] == hop and bool(rows.flags[row] & ACK) == ack and same:
                return int(row)
        return None

    def last_ack(self, after_ps: int, before_ps: int) -> int | None:
        """The last answer to come to the sender in after_ps < t < before_ps."""
        rows = self.rows
        first, last = np.searchsorted(self._times, [after_ps + 1, before_ps])
        window = self._arrived[first:last]
        found = window[(rows.hop[window] == 0) & ((rows.flags[window] & ACK) != 0)]
        return int(found[-1]) if len(found) else None

    def last_data(self, up_to_ps: int) -> int | None:
        """The last data packet, or header of one, to come to the receiver in t <= up_to_ps."""
        rows = self.rows
        here = self._data_here
        last = int(np.searchsorted(rows.arrived_at[here], up_to_ps, side="right"))
        return int(here[last - 1]) if last else None

    @cached_property
    def _data_here(self) -> Column:
        rows, arrived = self.rows, self._arrived
        return arrived[(rows.hop[arrived] == self.length - 1) & ((rows.flags[arrived] & ACK) == 0)]

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

    def is_parked(self, row: int) -> bool:
        """Whether its pace let an own packet wait for its turn."""
        return bool(self.rows.flags[row] & PARKED)

    def is_pull(self, row: int) -> bool:
        """Whether an answer is a pull, which answers nothing."""
        return bool(self.rows.flags[row] & PULL)

    @cached_property
    def losses(self) -> tuple[Column, Column]:
        """Rows of data at the links that lost, refused or trimmed it, and when they did."""
        rows, mine = self.rows, self.all
        data = mine[(rows.flags[mine] & ACK) == 0]
        gone = data[(rows.began_at[data] == REFUSED) | ((rows.flags[data] & LOST) != 0)]
        found = np.concatenate([gone, self._first_with(TRIMMED)])
        found = found[np.argsort(rows.came_at[found], kind="stable")]
        return found, rows.came_at[found]

    @cached_property
    def marks(self) -> tuple[Column, Column]:
        """Rows of data at the links that marked it, and when they did."""
        found = self._first_with(MARK)
        found = found[np.argsort(self.rows.came_at[found], kind="stable")]
        return found, self.rows.came_at[found]

    def _first_with(self, flag: int) -> Column:
        """Rows of data with a flag that the same packet did not have at the link before."""
        rows, mine = self.rows, self.all
        data = mine[((rows.flags[mine] & (ACK | flag)) == flag) & (rows.began_at[mine] != REFUSED)]
        order = data[np.lexsort((rows.hop[data], rows.sequence[data]))]
        new = np.ones(len(order), bool)
        new[1:] = (np.diff(rows.sequence[order]) != 0) | (np.diff(rows.hop[order]) != 1)
        return order[new]

    def waits(self, start_ps: int, end_ps: int) -> tuple[Column, Column]:
        """Rows of its data that waited at a switch in that time, and for how long."""
        rows, mine = self.rows, self.all
        data = mine[((rows.flags[mine] & ACK) == 0) & (rows.hop[mine] > 0) & (rows.began_at[mine] > start_ps)]
        data = data[rows.came_at[data] < end_ps]
        return data, rows.began_at[data] - rows.came_at[data]
