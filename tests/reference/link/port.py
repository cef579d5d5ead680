"""The twin's egress ports: switch queues that drop and mark, and the transmitter that empties them."""

from __future__ import annotations

from collections import deque
from functools import cached_property
from typing import TYPE_CHECKING

from netsim.topology.network import SCALE_UP, Link
from tests.reference.link.pfc import Gate, Length, note_signal
from tests.reference.queues.discipline import disciplines_of
from tests.reference.state.records import LinkCount, Packet, mix

if TYPE_CHECKING:
    from tests.reference.twin import Twin

DEPARTURE, ARRIVAL = 5, 10**6  # SimPy priorities; an arrival adds its link number


class Port:
    """The egress queue of a link at a switch, and the transmitter that empties it."""

    def __init__(self, twin: Twin, link: Link) -> None:
        self.twin, self.link, self.count = twin, link, LinkCount()
        self.busy = False
        pfc = None if link.kind == SCALE_UP else twin.network.pfc
        self.gate = Gate(twin, self, pfc) if pfc else None  # at the link's far end
        self.pool = None if twin.network.pfc else twin.pools.get(link.source)
        self.paused = False
        self.paused_since = 0
        self.queues: dict[str, deque[Packet]] = {"control": deque(), "data": deque()}
        self.filled = {"control": 0, "data": 0}  # bytes that wait or are being sent
        self.accepted = 0  # packets
        self.loss = round(link.loss * (1 << 30))
        self.row = link.number  # the key of its marks
        self.marks_late = twin.network.trim is not None and twin.network.trim.marking == "dequeue"
        self.last_arrival = 0
        self.disciplines = disciplines_of(self)

    def accept(self, packet: Packet) -> None:
        """Queue a packet that arrived, mark it, or drop it."""
        is_control = packet.message is None or packet.trimmed
        packet.stored_as = "control" if self.is_strict and is_control else "data"
        if not self.has_room(packet) and not self.cuts_last(packet) and not self.trims(packet):
            self.twin.drop(packet, self.count_of(packet))
            return
        if packet.message is not None and not packet.trimmed:
            by_length = not self.marks_late and self.marks(self.filled[packet.stored_as], self.accepted)
            self.mark(packet, by_length, *[each.on_enqueue(self, packet) for each in self.disciplines])
        self.accepted += 1
        self.store(packet)
        if packet.gate and self.length:
            self.length.grow(packet.gate)

    def gate_of(self, link: int) -> Gate | None:
        return self.twin.ports[link].gate

    @cached_property
    def length(self) -> Length | None:
        """What flow control says of this queue; nothing where ports share a buffer."""
        return Length(self) if self.twin.network.pfc and self.link.source not in self.twin.pools else None

    def count_of(self, packet: Packet) -> LinkCount:
        """Give where a refused packet is counted."""
        return self.count

    @property
    def signal_order(self) -> int:
        """Give the place of this link's PAUSE and RESUME among all of one instant."""
        return self.link.number

    @property
    def is_sending(self) -> bool:
        return self.busy

    @property
    def has_jitter(self) -> bool:
        """Tell whether a NIC sends by this link."""
        return self.link.source < len(self.twin.network.hosts) and self.link.kind != SCALE_UP

    @property
    def is_strict(self) -> bool:
        """Tell whether ACKs have a class of their own."""
        return self.twin.network.control_class == "strict"

    def has_room(self, packet: Packet) -> bool:
        """Tell whether a packet fits: with flow control data goes on the account of the link it came by."""
        gate = self.gate_of(packet.path[packet.hop - 1])
        if gate is None or packet.stored_as == "control":
            if packet.stored_as == "data" and self.refuses(packet):
                return False
            if self.pool and packet.stored_as == "data":
                return self.pool.admits(self.filled["data"], packet.bytes)
            share = 2 if packet.stored_as == "control" and self.twin.network.trim else 1
            return self.filled[packet.stored_as] + packet.bytes <= share * self.link.buffer_bytes
        if self.length and self.filled["data"] + packet.bytes > self.length.room:
            return False
        packet.gate = gate if gate.admit(packet.bytes) else None
        return packet.gate is not None

    def refuses(self, packet: Packet) -> bool:
        return any([each.refuses(self, packet) for each in self.disciplines])  # noqa: C419  each is asked

    def cuts_last(self, packet: Packet) -> bool:
        """Toss a coin, if switches do that: the last in a full queue is cut instead, if it is not the smaller one."""
        how, waiting = self.twin.network.trim, self.queues["data"]
        if how is None or how.last == 0 or packet.message is None or not waiting:
            return False
        if self.gate_of(packet.path[packet.hop - 1]):
            return False
        last, drawn = waiting[-1], mix(self.twin.seed, self.row + (1 << 41), self.count.trims)
        if last.bytes < packet.bytes or drawn >= round(how.last * (1 << 30)):
            return False
        self.free(waiting.pop())
        self.twin.totals["cut_last"] += 1
        if self.trims(last):
            self.store(last)
        else:
            self.accepted -= 1
            self.twin.drop(last, self.count_of(last))
        return True

    def trims(self, packet: Packet) -> bool:
        """Cut a data packet without room to its header, if switches do that; tell whether the header has room."""
        if not self.twin.network.trim or packet.message is None or packet.trimmed:
            return False
        self.count.trims += 1
        self.twin.totals["trims"] += 1
        packet.trimmed, packet.bytes, packet.stored_as = True, self.twin.scenario.header, "control"
        return self.has_room(packet)

    def on_pause(self, *, stop: bool) -> None:
        """PAUSE or RESUME has come; an idle link goes on at once."""
        note_signal(self, stop=stop)
        if stop:
            self.paused_since = self.twin.now
        else:
            self.count.paused_ps += self.twin.now - self.paused_since
        self.paused = stop
        was_idle = not self.is_sending
        self.start()
        self.twin.totals["resumed_at_once"] += was_idle and self.is_sending

    def queue_of(self, packet: Packet) -> Port:
        """Give the port in whose queue a packet stands."""
        return self

    def mark(self, packet: Packet, *answers: bool) -> None:
        """Mark a packet if the length of the queue or a discipline says so."""
        if any(answers):
            packet.marked = True
            self.count.ecn_marks += 1

    def marks(self, filled: int, k: int) -> bool:
        """Tell whether ECN marks the k-th packet accepted, which finds `filled` bytes, or that leaves them."""
        low, high = self.link.ecn_kmin_bytes, self.link.ecn_kmax_bytes
        if filled <= low or filled > high:
            return filled > low
        if low == high:
            return True
        chance = round(self.link.ecn_pmax * (1 << 30))
        return mix(self.twin.seed, self.row, k) * (high - low) < chance * (filled - low)

    def store(self, packet: Packet) -> None:
        packet.came_ps = self.twin.now
        self.queues[packet.stored_as].append(packet)
        if self.pool and packet.stored_as == "data":
            self.pool.take(packet.bytes)
        self.filled[packet.stored_as] += packet.bytes
        self.count.max_queue_bytes = max(self.count.max_queue_bytes, self.filled["data"])

    def take(self) -> Packet | None:
        """Give the packet to send next: control first. A pause stops data (a shared class: everything)."""
        if self.queues["control"]:
            return self.queues["control"].popleft()
        if self.queues["data"] and not self.paused:
            return self.queues["data"].popleft()
        return None

    def start(self) -> None:
        """Send the next packet if the link is idle and there is one."""
        if self.busy or (packet := self.take()) is None:
            return
        self.busy = True
        if packet.message is not None and packet.stored_as != "control":  # a NIC's own packets stand nowhere
            self.transmits(packet)
        if packet.message is not None and packet.stored_as == "data":
            queue = self.queue_of(packet)
            if self.link.source >= len(self.twin.network.hosts):
                by_length = self.marks_late and queue.marks(queue.filled["data"], self.count.packets)
                queue.mark(packet, by_length, *[each.on_dequeue(queue, packet) for each in queue.disciplines])
        if packet.message is not None and packet.stored_as == "data" and len(packet.telemetry) < 8:
            packet.telemetry.append((self.link.number, self.twin.now, self.count.bytes, self.behind(packet)))
        is_lost = mix(self.twin.seed, self.link.number + (1 << 40), self.count.packets) < self.loss
        late = mix(self.twin.seed, self.link.number + (1 << 41), self.count.packets)
        self.count.bytes += packet.bytes
        self.count.packets += 1
        sending_ps = -(-packet.bytes * 8 * 10**12 // self.link.rate_bps)
        self.twin.later(DEPARTURE, sending_ps, lambda: self.end(packet))
        if is_lost:
            self.count.lost += 1
            self.twin.forget(packet)
            return
        takes = sending_ps + self.link.delay_ps
        if packet.message is not None and packet.hop == 0 and self.has_jitter:
            most = (sending_ps * self.twin.jitter // 65536) * min(packet.sequence - packet.message.first, 128) // 128
            takes += most * (late // 1024) // (1 << 20)
        takes = max(takes, self.last_arrival - self.twin.now)  # it does not overtake the one before it
        self.last_arrival = self.twin.now + takes
        arrival = ARRIVAL + self.link.number
        self.twin.later(arrival, takes, lambda: self.twin.arrive(self.link.target, packet))

    def end(self, packet: Packet) -> None:
        """The last bit has left: free the buffer and go on."""
        self.busy = False
        if packet.stored_as:
            self.free(packet)
        elif packet.closes and packet.message is not None:
            self.twin.close(packet.message.sender)
        self.start()

    def transmits(self, packet: Packet) -> None:
        """A data packet begins to be sent: nobody asks where there is one class."""

    def waiting(self) -> int:
        """Count the bytes that wait or are being sent."""
        return sum(self.filled.values())

    def behind(self, packet: Packet) -> int:
        """Count the bytes behind a packet that is sent now."""
        return self.filled["data"] - packet.bytes

    def free(self, packet: Packet) -> None:
        self.filled[packet.stored_as] -= packet.bytes
        if self.pool and packet.stored_as == "data":
            self.pool.used -= packet.bytes
        self.pfc_release(packet)
        if self.length:
            self.length.shrink()

    def pfc_release(self, packet: Packet) -> None:
        """Take a packet that has left off its ingress account."""
        if packet.gate:
            gate, packet.gate = packet.gate, None
            gate.release(packet.bytes)
