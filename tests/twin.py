"""The network once more as plain SimPy events: slow, obviously right, and sharing no code with the core.

Times are integer picoseconds, sizes bytes. Things of one instant happen in this order: the ranks' processes, the timer
tick, DCQCN's timers, departures, PAUSE and RESUME, arrivals by link number, completions (which let ranks act again at
the same instant). An arrival is processed completely; then every idle link of that node that has work starts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import simpy

from netsim.topology.network import SCALE_UP, Network
from tests.twin_dcqcn import PAPER, Dcqcn, new_control
from tests.twin_nouns import Connection, Flow, LinkCount, Message, Moment, Packet, Part, Results, Route
from tests.twin_pool import Pool
from tests.twin_ports import DEPARTURE, Nic, Port

TICK, COMPLETION = 2, 10**9  # SimPy priorities; its processes have 0 and 1


class GaveUpError(Exception):
    """A connection has timed out more often in a row than its retries allow; the argument is its number."""


class Twin:
    """A network in motion; sizes in bytes, windows in packets, times in ps."""

    def __init__(
        self,
        network: Network,
        *,
        payload: int = 4096,
        header: int = 64,
        ack: int = 64,
        scale_up_payload: int = 16384,
        control: str = "window",
        window: int | str | Callable[[Route], int] = 50,
        dcqcn: Dcqcn = PAPER,
        max_window: int = 1 << 30,
        timeout_ps: int = 4_194_304_000,
        seed: int = 1,
        retries: int = 1 << 30,
    ) -> None:
        self.network, self.seed, self.retries = network, seed, retries
        self.payload, self.header, self.ack, self.scale_up_payload = payload, header, ack, scale_up_payload
        self.control, self.window, self.max_window, self.dcqcn = control, window, max_window, dcqcn
        self.largest_packet = header + (max(payload, scale_up_payload) if network.has_servers else payload)
        self.timeout_ps, self.tick_ps = timeout_ps, max(timeout_ps // 16, 10**6)
        self.env = simpy.Environment()
        hosts = len(network.hosts)
        outside = {link.source for link in network.links if link.kind != SCALE_UP and link.source >= hosts}
        shared = network.shared_buffer
        self.pools = {node: Pool(shared) for node in outside} if shared else {}
        self.ports = [(Nic if link.source < hosts else Port)(self, link) for link in network.links]
        self.ports_of: dict[int, list[Port]] = {}
        for port in self.ports:
            self.ports_of.setdefault(port.link.source, []).append(port)
        self.connections: dict[tuple[int, int, int], Connection] = {}
        self.messages: list[list[Message]] = []  # by collective and row
        self.parts: list[list[Part]] = []  # by collective and position
        self.hosts: list[Sequence[int]] = []  # by collective and position
        self.flows: dict[tuple[int, int], Flow] = {}
        self.totals: Counter[str] = Counter()
        self.completed: list[Part] = []
        self.last_arrival: dict[int, int] = {}
        self.last_signal: dict[int, int] = {}
        self.ticking = False

    def connect(self, source_host: int, target_host: int, channel: int, route: Route) -> int:
        """Give the number of the connection, made when it is new."""
        key = (source_host, target_host, channel)
        if key not in self.connections:
            self.connections[key] = self.new_connection(len(self.connections), tuple(route))
        return self.connections[key].number

    def new_connection(self, number: int, route: Route) -> Connection:
        """Make a connection."""
        return Connection(number, route, new_control(self, route))

    def collective(
        self,
        source: Sequence[int],
        target: Sequence[int],
        channel: Sequence[int],
        sizes: Sequence[int],
        after: Sequence[Sequence[int]],
        *,
        hosts: Sequence[int],
        route: Callable[[int, int, int], Route],
    ) -> int:
        """Add a schedule by columns; `hosts` says where each position is; new connections get numbers as sorted."""
        keys = [(hosts[s], hosts[t], c) for s, t, c in zip(source, target, channel, strict=True)]
        for s, t, c in sorted(set(zip(source, target, channel, strict=True))):
            self.connect(hosts[s], hosts[t], c, route(hosts[s], hosts[t], c))
        parts = [Part(self.env.event()) for _ in hosts]
        rows = [self.message(row, self.connections[key], sizes[row]) for row, key in enumerate(keys)]
        for row, message in enumerate(rows):
            message.sender, message.receiver = parts[source[row]], parts[target[row]]
            message.sender.open += 1
            message.receiver.open += 1
            message.missing = len(after[row])
            for before in after[row]:
                rows[before].heirs["delivered" if target[before] == source[row] else "acked"].append(message)
        self.messages.append(rows)
        self.parts.append(parts)
        self.hosts.append(hosts)
        return len(self.messages) - 1

    def message(self, row: int, connection: Connection, size: int) -> Message:
        """Make a row of the collective that is being added."""
        collective = len(self.messages)
        flow = self.flows.setdefault((collective, connection.number), Flow())
        flow.bytes += size
        return Message(collective, row, size, connection, flow)

    def part(self, collective: int, position: int) -> simpy.Event:
        """Give the event that fires when the position's part is finished."""
        return self.parts[collective][position].event

    def enter(self, collective: int, position: int) -> None:
        """Let a rank enter now: its rows that wait for nothing else are released, as they became so."""
        part = self.parts[collective][position]
        part.entered = True
        at_once = [m for m in self.messages[collective] if m.sender is part and m.missing == 0 and m not in part.early]
        self.release([*at_once, *part.early])
        self.finish_if_done(part)
        self.start_soon(self.hosts[collective][position])

    def release(self, messages: list[Message]) -> None:
        """Append messages to their connections and offer these to their NICs."""
        for message in messages:
            connection = message.connection
            payload = self.payload_of(connection)
            for first in range(0, message.bytes, payload):
                connection.packets.append((message, min(payload, message.bytes - first)))
            message.end = len(connection.packets)
            connection.messages.append(message)
            if message.flow.start_ps < 0:
                message.flow.start_ps = self.now
            self.offer(connection)

    def payload_of(self, connection: Connection) -> int:
        """Give the bytes of a full packet: more inside an NVLink domain."""
        inside = all(self.network.links[link].kind == SCALE_UP for link in connection.route)
        return self.scale_up_payload if inside else self.payload

    def settle(self, message: Message, when: str) -> None:
        """Release what waited only for this message to be delivered (or acked), in row order."""
        for heir in message.heirs[when]:
            heir.missing -= 1
            if heir.missing == 0 and heir.sender.entered:
                self.release([heir])
            elif heir.missing == 0:
                heir.sender.early.append(heir)
                self.totals["early_rows"] += 1

    def close(self, part: Part) -> None:
        """One more row of this part has arrived or has left its NIC."""
        part.open -= 1
        self.finish_if_done(part)

    def finish_if_done(self, part: Part) -> None:
        """Note the finish; all parts that finish at one instant become visible together, at its end."""
        if part.entered and part.open == 0 and part.finish_ps < 0:
            part.finish_ps = self.now
            self.completed.append(part)
            if len(self.completed) == 1:
                self.later(COMPLETION, 0, self.tell_ranks)

    def tell_ranks(self) -> None:
        """Fire the events of the parts that finished now, in order of collective and position."""
        for part in (part for parts in self.parts for part in parts if part in self.completed):
            part.event.succeed()
        self.completed.clear()

    def send(self, connection: Connection) -> Packet:
        """Give the connection's next packet."""
        message, payload = connection.packets[connection.next]
        first = connection.next == connection.highest
        closes = first and connection.next == message.end - 1
        packet = Packet(connection, connection.route, payload + self.header, connection.next, message, closes=closes)
        message.flow.packets += first
        message.flow.retransmitted += not first
        if connection.next == connection.acked:
            connection.progress_ps = self.now
        connection.next += 1
        connection.highest = max(connection.highest, connection.next)
        self.totals["data_sent"] += 1
        connection.ready_ps = self.now + connection.control.gap_ps(packet.bytes)
        self.arm()
        return packet

    def drop(self, packet: Packet, count: LinkCount) -> None:
        """Forget a packet that found its queue full."""
        count.drops += 1
        self.forget(packet)

    def forget(self, packet: Packet) -> None:
        """Count a packet that will not arrive."""
        self.totals["acks_dropped" if packet.message is None else "data_dropped"] += 1
        if packet.message is not None and packet.sequence >= packet.connection.acked:
            packet.message.flow.dropped += 1

    def arrive(self, node: int, packet: Packet) -> None:
        """The last bit has reached a node: forward, receive, or acknowledge; then its idle links start."""
        packet.hop += 1
        self.totals["ties"] += self.last_arrival.get(node) == self.now
        self.totals["signal_ties"] += self.last_signal.get(node) == self.now
        self.last_arrival[node] = self.now
        if packet.hop < len(packet.path):
            self.ports[packet.path[packet.hop]].accept(packet)
        elif packet.message is None:
            self.on_ack(packet)
        else:
            self.on_data(packet, packet.message)
        self.start_links(node)

    def on_data(self, packet: Packet, message: Message) -> None:
        """Receive in order or complain once; answer every packet; deliver a message with its last packet."""
        connection = packet.connection
        if packet.marked and packet.sequence >= connection.expected:
            connection.packets[connection.expected][0].flow.marked += 1
        in_order = packet.sequence == connection.expected
        nak = packet.sequence > connection.expected and not connection.complained
        connection.expected += in_order
        connection.complained = not in_order and (nak or connection.complained)
        back = connection.way_back
        cnp = packet.marked and self.now >= connection.cnp_ps
        if cnp:
            connection.cnp_ps = self.now + self.dcqcn.cnp_interval_ps
        answer = Packet(connection, back, self.ack, connection.expected, marked=packet.marked, nak=nak, cnp=cnp)
        self.ports[back[0]].accept(answer)
        self.totals.update(data_delivered=1, acks_sent=1, naks=int(nak), cnps=int(cnp))
        if in_order and connection.expected == message.end:
            message.flow.delivered_ps = self.now
            self.close(message.receiver)
            self.settle(message, "delivered")

    def on_ack(self, ack: Packet) -> None:
        """Rewind on a complaint, advance on progress, tell the congestion control, send on."""
        connection, expected = ack.connection, ack.sequence
        self.totals["acks_delivered"] += 1
        if ack.nak and expected >= connection.acked:
            connection.next = expected
        advanced = expected > connection.acked
        if advanced:
            connection.acked = expected
            connection.next = max(connection.next, expected)
            connection.progress_ps = self.now
            self.acknowledge([m for m in connection.messages if m.end <= expected and not m.acked])
        connection.control.on_ack(connection, expected, ack.marked, advanced)
        if ack.cnp:
            connection.control.on_cnp()
        self.offer(connection)

    def acknowledge(self, messages: list[Message]) -> None:
        """All packets of these messages are known to have arrived."""
        self.totals["acked_together"] += len(messages) > 1
        for message in messages:
            message.acked = True
            message.flow.acked_ps = self.now
            self.settle(message, "acked")

    def offer(self, connection: Connection) -> None:
        """Offer the connection to its NIC's round robin."""
        nic = self.ports[connection.route[0]]
        assert isinstance(nic, Nic)
        nic.offer(connection)

    @property
    def now(self) -> int:
        """The time in ps."""
        return int(self.env.now)

    def later(self, priority: int, delay: int, action: Callable[[], None]) -> None:
        """Do something after `delay`."""
        Moment(self.env, priority, delay, action)

    def start_links(self, node: int) -> None:
        """Let every idle link of the node that has work start."""
        for port in self.ports_of[node]:
            port.start()

    def start_soon(self, node: int) -> None:
        """The same, when the departures of this instant have their turn."""
        self.later(DEPARTURE, 0, lambda: self.start_links(node))

    def arm(self) -> None:
        """Make sure that the timer ticks at the next multiple of its period."""
        if not self.ticking:
            self.ticking = True
            self.later(TICK, self.tick_ps - self.now % self.tick_ps, self.tick)

    def tick(self) -> None:
        """Rewind every connection that has waited too long for progress."""
        self.ticking = False
        for connection in self.connections.values():
            if connection.awaits() and self.now - connection.progress_ps >= self.timeout_ps:
                self.count_timeout(connection)
                connection.start_over()
                connection.progress_ps = self.now
                connection.control.on_timeout(connection)
                self.offer(connection)
                self.start_soon(self.network.links[connection.route[0]].source)
        if any(connection.awaits() for connection in self.connections.values()):
            self.arm()

    def count_timeout(self, connection: Connection) -> None:
        """Raise GaveUpError when nothing more has arrived since so many time-outs."""
        self.totals["timeouts"] += 1
        if connection.arrived() > connection.stuck_at:
            connection.stuck_at, connection.tries = connection.arrived(), 0
        connection.tries += 1
        if connection.tries > self.retries:
            raise GaveUpError(connection.number)

    def run(self, until_ps: int | None = None) -> Results:
        """Run until nothing is left to do, or up to but not including `until_ps`; can be called again."""
        self.env.run(until=until_ps)
        parts = {(c, p): part.finish_ps for c, parts in enumerate(self.parts) for p, part in enumerate(parts)}
        return Results(self.flows, [port.count for port in self.ports], parts, self.totals)
