"""The twin's NICs: control, transit data and own connections in turn."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from netsim.topology.network import Link
from tests.reference.link.port import DEPARTURE, Port
from tests.reference.state.records import Connection, Packet

if TYPE_CHECKING:
    from tests.reference.twin import Twin


class Nic(Port):
    """A host's egress: control first, then transit data and own connections in turn; no limit, no marks.

    A connection that may send but is not ready is paced. It joins the round robin at the first departure after that.
    """

    def __init__(self, twin: Twin, link: Link, *of_a_lane: Any) -> None:
        super().__init__(twin, link, *of_a_lane)
        self.ready: deque[Connection] = deque()  # the round robin
        self.paced: list[Connection] = []
        self.transit_next = True

    def accept(self, packet: Packet) -> None:
        """Queue an ACK, or data in transit through this host."""
        packet.stored_as = "control" if packet.message is None or packet.trimmed else "data"
        self.twin.totals["transit"] += packet.message is not None
        self.store(packet)

    def take(self) -> Packet | None:
        if self.paused and not (self.is_strict and self.queues["control"]):
            return None
        self.unpace()
        if self.queues["control"]:
            return self.queues["control"].popleft()
        return self.take_turn()

    def take_turn(self) -> Packet | None:
        """What passes through and own connections take turns."""
        sources = [self.take_transit, self.take_own]
        for source in sources if self.transit_next else reversed(sources):
            if packet := source():
                return packet
        return None

    def take_transit(self) -> Packet | None:
        if not self.queues["data"]:
            return None
        self.transit_next = False
        return self.queues["data"].popleft()

    def take_own(self) -> Packet | None:
        """Give one packet of the first connection in the round robin that may still send."""
        while self.ready:
            connection = self.ready.popleft()
            if connection.may_send():
                packet = self.twin.send(connection)
                self.offer(connection)
                self.transit_next = True
                return packet
            self.twin.totals["skipped_turns"] += 1
        return None

    def offer(self, connection: Connection) -> None:
        """Let the connection stand in the round robin or among the paced, once, if it may send."""
        if not connection.may_send() or connection in self.ready or connection in self.paced:
            return
        if connection.ready_ps <= self.twin.now:
            self.ready.append(connection)
            return
        self.twin.totals["paced"] += 1
        self.paced.append(connection)
        self.twin.later(DEPARTURE, connection.ready_ps - self.twin.now, self.start)

    def unpace(self) -> None:
        """A departure: let those paced connections whose time has come join the round robin, earliest first."""
        due = [connection for connection in self.paced if connection.ready_ps <= self.twin.now]
        self.paced = [connection for connection in self.paced if connection not in due]
        self.ready.extend(sorted(due, key=lambda connection: connection.ready_ps))
        self.twin.totals["unpaced_together"] += len(due) > 1
