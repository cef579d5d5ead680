"""The network once more as plain SimPy events: slow, obviously right, and sharing no code with the core.

Times are integer picoseconds, sizes bytes. Things of one instant happen in this order: the ranks' processes, time-outs,
DCQCN's timers, departures, PAUSE and RESUME, arrivals by link number, completions (which let ranks act again at
the same instant). An arrival is processed completely; then every idle link of that node that has work starts.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from netsim.topology.network import SCALE_UP
from netsim.transport.controls import dcqcn
from tests.reference.flows.collectives import Ranks
from tests.reference.host.nic_scheduler import Nic
from tests.reference.link.port import DEPARTURE, Port
from tests.reference.link.priorities import ClassedNic, ClassedPort
from tests.reference.link.shared_buffer import Pool
from tests.reference.scenarios.networks import longest_round_trip
from tests.reference.state.records import Connection, LinkCount, Message, Packet, Results, Route
from tests.reference.switch.per_packet_routing import PerPacketRouting
from tests.reference.transport.dcqcn import PAPER
from tests.reference.transport.every import new_control

if TYPE_CHECKING:
    from tests.reference.scenarios.scenario import Scenario

TIMEOUT = 2  # a SimPy priority; its processes have 0 and 1


class GaveUpError(Exception):
    """A connection has timed out more often in a row than its retries allow; the argument is its number."""


class Twin(Ranks):
    """A network in motion; sizes in bytes, windows in packets, times in ps."""

    def __init__(self, scenario: Scenario) -> None:
        super().__init__()
        network = scenario.network
        self.scenario, self.network, self.seed = scenario, network, scenario.seed
        self.per_packet = scenario.per_packet and PerPacketRouting(self, scenario.per_packet)
        self.jitter = round(scenario.jitter * 65536)
        self.full_bytes = scenario.payload + scenario.header
        self.dcqcn = dcqcn.DcqcnSettings(**PAPER | scenario.dcqcn)
        hosts = len(network.hosts)
        outside = {link.source for link in network.links if link.kind != SCALE_UP and link.source >= hosts}
        shared = network.shared_buffer
        self.pools = {node: Pool(shared) for node in outside} if shared else {}
        at_host, at_switch = (ClassedNic, ClassedPort) if scenario.classes > 1 else (Nic, Port)
        self.ports: list[Port] = [(at_host if link.source < hosts else at_switch)(self, link) for link in network.links]
        self.ports_of: dict[int, list[Port]] = {}
        for port in self.ports:
            self.ports_of.setdefault(port.link.source, []).append(port)
        self.last_arrival: dict[int, int] = {}
        self.last_signal: dict[int, int] = {}

    def new_connection(self, number: int, route: Route) -> Connection:
        return Connection(number, route, new_control(self, route))

    def release(self, messages: list[Message]) -> None:
        """Append messages to their connections and offer these to their NICs."""
        for message in messages:
            connection = message.connection
            payload = self.payload_of(connection)
            for first in range(0, message.bytes, payload):
                connection.packets.append((message, min(payload, message.bytes - first)))
            message.end = len(connection.packets)
            message.first = message.end - -(-message.bytes // payload)
            connection.messages.append(message)
            if message.flow.start_ps < 0:
                message.flow.start_ps = self.now
            self.offer(connection)

    def payload_of(self, connection: Connection) -> int:
        """Give the bytes of a full packet: more inside an NVLink domain."""
        inside = all(self.network.links[link].kind == SCALE_UP for link in connection.route)
        return self.scenario.scale_up_payload if inside else self.scenario.payload

    @cached_property
    def longest_ps(self) -> int:
        """Give the longest idle round trip between two hosts outside servers: of all shortest ways the slowest."""
        return longest_round_trip(self.network, self.full_bytes, self.scenario.ack)

    def send(self, connection: Connection) -> Packet:
        if not connection.outstanding():
            connection.progress_ps = self.now
        sequence, first = connection.take()
        message, payload = connection.packets[sequence]
        closes, size = first and sequence == message.end - 1, payload + self.scenario.header
        packet = Packet(connection, connection.route, size, sequence, message, closes=closes, sent_ps=self.now)
        message.flow.packets += first
        message.flow.retransmitted += not first
        self.totals["data_sent"] += 1
        connection.sent += 1
        if self.per_packet:
            packet.entropy = self.per_packet.entropy_of(connection)
        connection.ready_ps = self.now + connection.control.gap_ps(packet.bytes)
        self.arm(connection)
        return packet

    def drop(self, packet: Packet, count: LinkCount) -> None:
        """Forget a packet that found its queue full."""
        count.drops += 1
        self.forget(packet)

    def forget(self, packet: Packet) -> None:
        """Count a packet that will not arrive."""
        self.totals["acks_dropped" if packet.message is None else "data_dropped"] += 1
        if packet.message is None:
            return
        packet.connection.drops.append((packet.message.flow, packet.sequence, self.now))
        if packet.sequence >= packet.connection.acked:
            packet.message.flow.dropped += 1

    def arrive(self, node: int, packet: Packet) -> None:
        """The last bit has reached a node: forward, receive, or acknowledge; then its idle links start."""
        packet.hop += 1
        self.totals["ties"] += self.last_arrival.get(node) == self.now
        self.totals["signal_ties"] += self.last_signal.get(node) == self.now
        self.last_arrival[node] = self.now
        if self.per_packet and node >= len(self.network.hosts):
            self.per_packet.steer(packet, node)
        if packet.hop < len(packet.path):
            self.ports[packet.path[packet.hop]].accept(packet)
        elif packet.message is None:
            self.on_ack(packet)
        else:
            self.on_data(packet, packet.message)
        self.start_links(node)

    def on_data(self, packet: Packet, message: Message) -> None:
        """Receive; answer every packet; deliver messages that have no gap before their end."""
        connection, before = packet.connection, packet.connection.expected
        said = self.receive(packet, message)
        cnp = packet.marked and self.now >= connection.cnp_ps
        if cnp:
            connection.cnp_ps = self.now + self.dcqcn.cnp_interval
        back, copied = connection.way_back, ("marked", "entropy", "sent_ps", "telemetry")
        said |= {name: getattr(packet, name) for name in copied}
        answer = Packet(connection, back, self.scenario.ack, cnp=cnp, **said)
        self.ports[back[0]].accept(answer)
        self.totals.update(data_delivered=1, acks_sent=1, naks=answer.nak, cnps=cnp, sacks=answer.sack)
        for each in [m for m in connection.messages if before < m.end <= connection.expected]:
            each.flow.delivered_ps = self.now
            self.close(each.receiver)
            self.settle(each, "delivered")

    def receive(self, packet: Packet, message: Message) -> dict[str, Any]:
        """Go-back-N: receive in order or complain once; give what the answer says."""
        connection = packet.connection
        if packet.marked and packet.sequence >= connection.expected:
            connection.packets[connection.expected][0].flow.marked += 1
        in_order = packet.sequence == connection.expected
        nak = packet.sequence > connection.expected and (self.scenario.nak_per_packet or not connection.nak_pending)
        connection.expected += in_order
        connection.nak_pending = not in_order and (nak or connection.nak_pending)
        return {"sequence": connection.expected, "nak": nak}

    def on_ack(self, ack: Packet) -> None:
        """Take in what has arrived and what has not, tell the congestion control, send on."""
        connection, acked, before = ack.connection, ack.connection.acked, ack.connection.arrived()
        self.totals["acks_delivered"] += 1
        answers_data = self.learn(connection, ack)
        if self.per_packet and answers_data:
            self.per_packet.recycle(ack)
        if connection.acked > acked:
            connection.progress_ps = self.now
            self.acknowledge([m for m in connection.messages if m.end <= connection.acked and not m.acked])
        connection.control.on_ack(connection, connection.acked, ack.marked, connection.acked > acked)
        if ack.cnp:
            connection.control.on_cnp()
        if answers_data:
            connection.control.on_round_trip(connection, connection.arrived() - before, ack)
        self.offer(connection)

    def learn(self, connection: Connection, ack: Packet) -> bool:
        """Go-back-N: rewind on a complaint, advance on progress; tell that it answers a packet that arrived whole."""
        expected = ack.sequence
        if ack.nak and (expected >= connection.acked or connection.next > connection.acked):
            connection.next = max(expected, connection.acked)
            self.totals["overtaken_naks"] += expected < connection.acked
            connection.control.on_loss(connection, 1)
        if expected > connection.acked:
            connection.acked = expected
            connection.advances.append((self.now, expected))
            connection.next = max(connection.next, expected)
        return True

    def acknowledge(self, messages: list[Message]) -> None:
        """All packets of these messages are known to have arrived."""
        self.totals["acked_together"] += len(messages) > 1
        for message in messages:
            message.acked = True
            message.flow.acked_ps = self.now
            self.settle(message, "acked")

    def offer(self, connection: Connection) -> None:
        nic = self.ports[connection.route[0]]
        assert isinstance(nic, Nic | ClassedNic)
        nic.offer(connection)

    def start_links(self, node: int) -> None:
        """Let every idle link of the node that has work start."""
        for port in self.ports_of[node]:
            port.start()

    def start_soon(self, node: int) -> None:
        """The same, when the departures of this instant have their turn."""
        self.later(DEPARTURE, 0, lambda: self.start_links(node))

    def arm(self, connection: Connection) -> None:
        """Set the timer of a connection that waits for something, if it is not set."""
        if connection.awaits() and not connection.armed:
            connection.armed = True
            left = connection.progress_ps + self.scenario.timeout_ps - self.now
            self.later(TIMEOUT, left, lambda: self.expire(connection))

    def expire(self, connection: Connection) -> None:
        """A timer has run out: time-outs of one instant are in order of connection."""
        connection.armed = False
        self.time_out()
        self.arm(connection)

    def time_out(self) -> None:
        """Rewind every connection that has waited too long for progress."""
        for connection in self.connections.values():
            if connection.awaits() and self.now - connection.progress_ps >= self.scenario.timeout_ps:
                self.count_timeout(connection)
                connection.start_over()
                connection.progress_ps = self.now
                connection.control.on_timeout(connection)
                self.offer(connection)
                self.start_soon(self.network.links[connection.route[0]].source)

    def count_timeout(self, connection: Connection) -> None:
        """Raise GaveUpError when nothing more has arrived since so many time-outs."""
        self.totals["timeouts"] += 1
        if connection.arrived() > connection.stuck_at:
            connection.stuck_at, connection.retries = connection.arrived(), 0
        connection.retries += 1
        if connection.retries > self.scenario.retries:
            raise GaveUpError(connection.number)

    def ended(self) -> Self:
        """The same when nothing is left to do."""
        self.run()
        return self

    def run(self, until_ps: int | None = None) -> Results:
        """Run until nothing is left to do, or up to but not including `until_ps`; can be called again."""
        self.env.run(until=until_ps)
        parts = {(c, p): part.finish_ps for c, parts in enumerate(self.parts) for p, part in enumerate(parts)}
        return Results(self.flows, [port.count for port in self.ports], parts, self.totals)
