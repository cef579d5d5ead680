"""Priority flow control in the twin: accounts per ingress link, and the PAUSE and RESUME that they cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsim.topology.pfc import Pfc

if TYPE_CHECKING:
    from tests.reference.link.port import Port
    from tests.reference.twin import Twin

SIGNAL = 10  # SimPy priority, plus the number of the link that is told to stop or to go on


class Gate:
    """What a switch keeps for one ingress link: the bytes that came in by it and have not left yet."""

    def __init__(self, twin: Twin, port: Port, pfc: Pfc) -> None:
        self.twin, self.port, self.pfc = twin, port, pfc  # the port is at the link's near end: it obeys
        self.occupancy = 0
        self.stopped_by: Port | None = None  # whose queue was too long
        self.in_headroom = 0  # of it, what stands in the headroom
        self.pause_sent = False
        link = port.link
        late = twin.full_bytes * twin.jitter * 8 * 10**12 // link.rate_bps if port.has_jitter else 0
        on_the_way = 2 * link.rate_bps * (link.delay_ps - (-late >> 17)) // (8 * 10**12)
        self.headroom = on_the_way + 3 * twin.full_bytes if pfc.headroom is None else pfc.headroom
        self.pool = twin.pools.get(link.target)

    def admit(self, size: int) -> bool:
        """Take a packet into the account, and PAUSE above xoff; False if even the headroom is full."""
        inside = self.occupancy - self.in_headroom
        fits = max(0, min(size, self.pfc.xoff - inside))
        if self.pool:
            fits = self.pool.most(inside, fits)
        if self.in_headroom + size - fits > self.headroom:
            return False
        self.occupancy += size
        self.in_headroom += size - fits
        if self.pool:
            self.pool.take(fits)
        if self.in_headroom and not self.pause_sent:
            self.send_pause(stop=True)
        return True

    def release(self, size: int) -> None:
        """The last bit of a packet has left."""
        self.occupancy -= size
        from_headroom = min(size, self.in_headroom)
        self.in_headroom -= from_headroom
        if self.pool:
            self.pool.used -= size - from_headroom
        self.resume()

    def resume(self) -> None:
        """RESUME at or below xon, if no queue forbids it."""
        xon = self.pfc.xon
        if self.pool:
            xon -= max(0, self.pfc.xoff - self.pool.threshold())
        if self.pause_sent and self.in_headroom == 0 and self.stopped_by is None and self.occupancy <= max(0, xon):
            self.send_pause(stop=False)

    def send_pause(self, *, stop: bool) -> None:
        """Send PAUSE or RESUME; it takes the delay of the way back and nothing else."""
        number = self.port.link.number
        self.pause_sent = stop
        self.port.count.pauses += stop
        delay_ps = self.twin.network.links[number ^ 1].delay_ps
        self.twin.later(SIGNAL + self.port.signal_order, delay_ps, lambda: self.port.on_pause(stop=stop))


class Length:
    """How long a queue may get at a switch with flow control: what still comes when all are told to stop must fit in.

    Half of the buffer is for the queue in any case.
    """

    def __init__(self, port: Port) -> None:
        self.port, self.is_long = port, False
        into = [link.number for link in port.twin.network.links if link.target == port.link.source]
        self.gates = [gate for gate in map(port.gate_of, into) if gate]
        others = [gate for gate in self.gates if gate.port.link.number != port.link.number ^ 1]
        late, buffer = sum(gate.headroom for gate in others), port.link.buffer_bytes
        self.longest = buffer - min(late, buffer // 2)
        self.room = max(buffer, self.longest + late)

    def grow(self, gate: Gate) -> None:
        """A packet that came by the gate's link has joined the queue."""
        if self.port.filled["data"] > self.longest:
            self.port.twin.totals["queues_too_long"] += 1
            self.is_long, gate.stopped_by = True, self.port
            if not gate.pause_sent:
                gate.send_pause(stop=True)

    def shrink(self) -> None:
        """A packet has left: at four fifths senders may go on."""
        if self.is_long and self.port.filled["data"] <= self.longest * 4 // 5:
            self.is_long = False
            for gate in self.gates:
                if gate.stopped_by is self.port:
                    gate.stopped_by = None
                    gate.resume()


def note_signal(port: Port, *, stop: bool) -> None:
    """Count what is stopped, and what has waited for the RESUME that comes now."""
    twin, totals = port.twin, port.twin.totals
    at_host = port.link.source < len(twin.network.hosts)
    twin.last_signal[port.link.source] = twin.now
    totals["hosts_stopped" if at_host else "switches_stopped"] += stop
    if not stop:
        totals["transit_stopped"] += at_host and len(port.queues["data"]) > 0
        totals["acks_stopped"] += not port.is_strict and any(
            packet.message is None for queue in port.queues.values() for packet in queue
        )
