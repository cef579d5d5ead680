"""What links carried and where packets waited, by which causes are told apart: read from the whole packet trace."""

import numpy as np

from netsim.explain.line import Lines
from netsim.explain.path import NEVER_PAUSED
from netsim.explain.trace_columns import Column


class Traffic:
    """Answers from rows that lack nothing. Times are ps; a time is start_ps <= t < end_ps if nothing else is said."""

    def __init__(self, lines: Lines) -> None:
        self.lines, self.rows = lines, lines.rows

    def bytes_sent(self, link: int, start_ps: int, end_ps: int) -> int:
        """Bytes of data that a link began to send in that time."""
        return self.rows.lane(link).bytes_sent(start_ps, end_ps)

    def senders(self, link: int, start_ps: int, end_ps: int) -> tuple[Column, Column]:
        """The connections whose data a link began to send in that time, and the sequence number of each one's first."""
        lane = self.rows.lane(link)
        sent = lane.sent(start_ps, end_ps)
        connections, first = np.unique(lane.connection[sent], return_index=True)
        return connections, self.rows.sequence[lane.rows[sent][first]]

    def waiting(self, egress: int, link: int, start_ps: int, end_ps: int) -> int:
        """Bytes times the ps that they waited then for `egress`, of what came by `link` as far as routes tell."""
        lane = self.rows.lane(egress)
        first = int(np.searchsorted(lane.began_at, start_ps, side="right"))
        here = first + np.flatnonzero(lane.came_at[first:] < end_ps)  # not in order: headers of data go before it
        waits = np.minimum(lane.began_at[here], end_ps) - np.maximum(lane.came_at[here], start_ps)
        came_by = self._came_by(lane.rows[here], link)
        return int((np.maximum(waits, 0) * came_by * lane.bytes[here]).sum())

    def _came_by(self, rows: Column, link: int) -> Column:
        """Which packets came to where they are by a link."""
        world, hop = self.rows.world, self.rows.hop[rows]
        before = world.hops[self.rows.connection[rows] * int(world.settings[0]["stride"]) + np.maximum(hop - 1, 0)]
        return (hop > 0) & ((before == link) | bool(world.settings[0]["per_packet_routing"]))

    def losses(self, connection: int) -> tuple[Column, Column]:
        """Rows of a connection's data at the links that lost, refused or trimmed it, and when they did."""
        return self.lines.of(connection).losses

    def slowed(self, connection: int, start_ps: int, end_ps: int) -> tuple[Column, Column, Column]:
        """How many packets of a connection each link marked, and lost, in that time; how long they waited at each."""
        line = self.lines.of(connection)
        waited_at, waits = line.waits(start_ps, end_ps)
        waited = np.bincount(waited_at, np.maximum(waits, 0), minlength=1)
        marked, lost = (self._counted(events, start_ps, end_ps) for events in (line.marks, line.losses))
        return marked, lost, waited

    def _counted(self, events: tuple[Column, Column], start_ps: int, end_ps: int) -> Column:
        """How many of these rows there are per link, of the time in question."""
        rows, times = events
        first, last = np.searchsorted(times, [start_ps, end_ps])
        return np.bincount(self.rows.link[rows[first:last]], minlength=1)

    def paused(self, link: int, connection: int, start_ps: int, end_ps: int) -> int:
        """How long a link was stopped in that time, for the class of a connection."""
        stops, ends = self.rows.pauses.get(self.rows.row_of(link, connection), NEVER_PAUSED)
        return int(np.maximum(0, np.minimum(ends, end_ps) - np.maximum(stops, start_ps)).sum())
