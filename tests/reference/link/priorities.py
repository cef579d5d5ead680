"""Classes of traffic in the twin: a link is one transmitter before which every class has a port of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsim.topology.network import SCALE_UP, Link
from tests.reference.host.nic_scheduler import Nic
from tests.reference.link.pfc import Gate
from tests.reference.link.port import Port
from tests.reference.state.records import Connection, LinkCount, Packet

if TYPE_CHECKING:
    from tests.reference.twin import Twin


class Lane(Port):
    """The data of one class at a switch: queue, marks, account of what came in, pauses."""

    def __init__(self, twin: Twin, link: Link, head: Port, level: int) -> None:
        super().__init__(twin, link)
        self.head, self.level = head, level
        self.row = link.number + level * len(twin.network.links)
        if level == 0:
            self.count = head.count

    @property
    def signal_order(self) -> int:
        return 8 * self.link.number + self.level

    def gate_of(self, link: int) -> Gate | None:
        port = self.twin.ports[link]
        assert isinstance(port, ClassedPort)
        return port.lanes[self.level].gate

    def count_of(self, packet: Packet) -> LinkCount:
        """Where a refused packet is counted: headers are control."""
        return self.head.count if packet.trimmed else self.count

    def has_room(self, packet: Packet) -> bool:
        return self.head.has_room(packet) if packet.trimmed else super().has_room(packet)

    def store(self, packet: Packet) -> None:
        """Put the packet into its queue: what is left of a trimmed one is control."""
        if packet.trimmed:
            self.accepted -= 1
            self.head.store(packet)
        else:
            super().store(packet)

    def start(self) -> None:
        """Let the link choose."""
        self.head.start()

    @property
    def is_sending(self) -> bool:
        return self.head.busy


class Turns(Nic, Lane):
    """The data of one class at a NIC: what passes through, and own connections."""

    def could_send(self) -> bool:
        """Tell whether anything waits for its turn here and is not stopped."""
        is_due = any(connection.ready_ps <= self.twin.now for connection in self.paced)
        return not self.paused and (bool(self.queues["data"] or self.ready) or is_due)

    def head_bytes(self) -> int:
        """Bytes of the packet that is next, 0 if there is none: of an own connection those of a full packet."""
        if self.paused or not (self.queues["data"] or self.ready):
            return 0
        if self.queues["data"] and (self.transit_next or not self.ready):
            return self.queues["data"][0].bytes
        scenario = self.twin.scenario
        inside = any(link.kind == SCALE_UP for link in self.twin.network.links)
        return scenario.header + max(scenario.payload, scenario.scale_up_payload if inside else 0)


class ClassedPort(Port):
    """A link at a switch: control first, then the highest class that may send."""

    kind: type[Lane] = Lane

    def __init__(self, twin: Twin, link: Link) -> None:
        super().__init__(twin, link)
        self.lanes = [self.kind(twin, link, self, level) for level in range(twin.scenario.classes)]

    def lane_of(self, packet: Packet) -> Lane:
        return self.lanes[packet.connection.traffic_class]

    def queue_of(self, packet: Packet) -> Port:
        return self.lane_of(packet)

    def next_level(self, head_bytes: dict[int, int]) -> int:
        """Ask the disciplines which class is next; by itself it is the highest."""
        said = [each.next_class(head_bytes) for each in self.disciplines]
        return next((level for level in said if level is not None), max(head_bytes))

    def transmits(self, packet: Packet) -> None:
        """Tell the disciplines that a data packet begins to be sent."""
        for each in self.disciplines:
            each.on_transmit(packet.connection.traffic_class, packet)

    def accept(self, packet: Packet) -> None:
        if packet.message is None or packet.trimmed:
            super().accept(packet)
        else:
            self.lane_of(packet).accept(packet)

    def take(self) -> Packet | None:
        if self.queues["control"]:
            return self.queues["control"].popleft()
        ready = [lane for lane in reversed(self.lanes) if lane.queues["data"] and not lane.paused]
        self.twin.totals["lower_classes_waited"] += len(ready) > 1
        self.twin.totals["passed_a_stopped_class"] += len(ready) > 0 and any(
            lane.queues["data"] and lane.level > ready[0].level for lane in self.lanes
        )
        heads = {lane.level: lane.queues["data"][0].bytes for lane in ready}
        return self.lanes[self.next_level(heads)].queues["data"].popleft() if heads else None

    def waiting(self) -> int:
        return sum(self.filled.values()) + sum(sum(lane.filled.values()) for lane in self.lanes)

    def end(self, packet: Packet) -> None:
        if packet.stored_as != "data":
            super().end(packet)
            return
        self.busy = False
        self.lane_of(packet).free(packet)
        self.start()

    def behind(self, packet: Packet) -> int:
        return self.lane_of(packet).filled["data"] - packet.bytes


class ClassedNic(ClassedPort):
    """A link at a host: control first, then the highest class that may send; when it sends all unpace."""

    kind = Turns

    def accept(self, packet: Packet) -> None:
        if packet.message is None or packet.trimmed:
            packet.stored_as = "control"
            self.twin.totals["transit"] += packet.message is not None
            self.store(packet)
        else:
            self.lane_of(packet).accept(packet)

    def take(self) -> Packet | None:
        lanes = [lane for lane in reversed(self.lanes) if isinstance(lane, Turns)]
        if not self.queues["control"] and not any(lane.could_send() for lane in lanes):
            return None
        for lane in lanes:
            lane.unpace()
        if self.queues["control"]:
            return self.queues["control"].popleft()
        while heads := {lane.level: size for lane in lanes if (size := lane.head_bytes())}:
            lane = self.lanes[self.next_level(heads)]
            assert isinstance(lane, Turns)
            if packet := lane.take_turn():
                self.twin.totals["lower_classes_waited"] += any(
                    other.level < lane.level and other.could_send() for other in lanes
                )
                return packet
        return None

    def offer(self, connection: Connection) -> None:
        lane = self.lanes[connection.traffic_class]
        assert isinstance(lane, Turns)
        lane.offer(connection)
