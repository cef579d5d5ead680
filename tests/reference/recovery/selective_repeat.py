"""Selective repeat in the twin, and receivers that pull (NDP): sets of packet numbers at both ends."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from netsim.topology.network import Network
from tests.reference.state.records import ONE, Connection, Message, Ndp, Packet, Route
from tests.reference.transport.dcqcn import new_control
from tests.reference.twin import Twin

PULL = 4  # SimPy priority: before departures


@dataclass(eq=False)
class Selective(Connection):
    """Both ends of a connection with selective repeat."""

    places: int = 1024
    got: set[int] = field(default_factory=set)  # the sender knows that they have arrived
    lost: set[int] = field(default_factory=set)  # to be retransmitted
    order: dict[int, int] = field(default_factory=dict)  # of each packet the last transmission, counted from 0
    again: set[int] = field(default_factory=set)  # sent more than once
    newest: int = 0
    here: set[int] = field(default_factory=set)  # beyond `expected`, at the receiver
    known: int = 0  # the receiver knows of messages up to there
    due: int = 0  # pulls
    pulled: int = 0  # pulls sent

    def under_way(self) -> set[int]:
        """Give what has been sent and is neither known to have arrived nor taken for lost."""
        return set(range(self.acked, self.next)) - self.got - self.lost

    def outstanding(self) -> int:
        """Count them."""
        return len(self.under_way())

    def has_work(self) -> bool:
        """Tell whether a packet waits to be sent."""
        return bool(self.lost) or self.next < min(len(self.packets), self.acked + self.places)

    def may_send(self) -> bool:
        """Tell whether a packet waits and the window has room."""
        return self.has_work() and len(self.under_way()) < self.control.window >> 16

    def awaits(self) -> bool:
        """Tell whether an answer is outstanding, or a pull without which nothing goes on."""
        waits_for_pull = isinstance(self.control, Ndp) and self.has_work() and self.control.window < ONE
        return bool(self.under_way()) or waits_for_pull

    def arrived(self) -> int:
        """Count the packets that are known to have arrived."""
        return self.acked + len(self.got)

    def start_over(self) -> None:
        """Take everything under way for lost."""
        if isinstance(self.control, Ndp):
            self.control.window = self.control.largest if self.under_way() else ONE
        self.lost |= self.under_way()

    def tick_off(self, sequences: range) -> int:
        """Note what has arrived; count those that were under way."""
        new = {s for s in sequences if s >= self.acked} - self.got
        left = len(new & self.under_way())
        self.got |= new
        self.lost -= new
        self.newest = max([self.newest, *(self.order[s] for s in new - self.again)])
        return left


class RepairingTwin(Twin):
    """A network whose connections use selective repeat; the tolerance in transmissions, the share of the line rate."""

    def __init__(self, network: Network, *, places: int, reordering: int, share: float, **settings: Any) -> None:
        super().__init__(network, **settings)
        self.places, self.reordering, self.share = places, reordering, round(share * 65536)
        self.askers: dict[int, deque[Selective]] = {}
        self.pull_ps: dict[int, int] = {}
        self.pulling: set[int] = set()

    def new_connection(self, number: int, route: Route) -> Connection:
        """Make a connection."""
        return Selective(number, route, new_control(self, route), places=self.places)

    def release(self, messages: list[Message]) -> None:
        """A message that finds nothing unsent begins with a first window."""
        for message in messages:
            connection = message.connection
            assert isinstance(connection, Selective)
            has_sent_all = connection.next == len(connection.packets) and not connection.lost
            if isinstance(connection.control, Ndp) and has_sent_all:
                connection.control.window = connection.control.largest
            super().release([message])

    def send(self, connection: Connection) -> Packet:
        """Give the first lost packet, else a new one."""
        assert isinstance(connection, Selective)
        if not connection.under_way():
            connection.progress_ps = self.now
        is_again = bool(connection.lost)
        sequence = min(connection.lost) if is_again else connection.next
        message, payload = connection.packets[sequence]
        closes = not is_again and sequence == message.end - 1
        packet = Packet(connection, connection.route, payload + self.header, sequence, message, closes=closes)
        if is_again:
            connection.lost.remove(sequence)
            connection.again.add(sequence)
        else:
            connection.next = connection.highest = sequence + 1
        connection.order[sequence] = connection.sent
        connection.sent += 1
        packet.sent_ps = self.now
        if self.per_packet:
            packet.entropy = self.per_packet.entropy_of(connection)
        message.flow.packets += not is_again
        message.flow.retransmitted += is_again
        self.totals["data_sent"] += 1
        connection.ready_ps = self.now + connection.control.gap_ps(packet.bytes)
        if isinstance(connection.control, Ndp) and not connection.lost and connection.next == len(connection.packets):
            connection.control.window = len(connection.under_way()) * ONE
        self.arm(connection)
        return packet

    def on_data(self, packet: Packet, message: Message) -> None:
        """Take in what is new; answer; deliver messages that have no gap before their end."""
        connection = packet.connection
        assert isinstance(connection, Selective)
        is_news = packet.sequence >= connection.expected and packet.sequence not in connection.here
        message.flow.marked += packet.marked and is_news
        cnp = packet.marked and self.now >= connection.cnp_ps
        if cnp:
            connection.cnp_ps = self.now + self.dcqcn.cnp_interval_ps
        before = connection.expected
        if is_news and not packet.trimmed:
            connection.here.add(packet.sequence)
            while connection.expected in connection.here:
                connection.here.remove(connection.expected)
                connection.expected += 1
        nak = packet.trimmed and is_news
        is_covered = packet.sequence < connection.expected
        credit = self.ask(connection, packet, message)
        answer = Packet(
            connection,
            connection.way_back,
            self.ack,
            connection.expected if is_covered else packet.sequence,
            marked=packet.marked,
            nak=nak,
            cnp=cnp,
            sack=not is_covered and not nak,
            credit=credit,
        )
        answer.entropy, answer.sent_ps, answer.told = packet.entropy, packet.sent_ps, packet.told
        self.ports[answer.path[0]].accept(answer)
        self.totals.update(data_delivered=1, acks_sent=1, naks=int(nak), cnps=int(cnp), sacks=int(answer.sack))
        self.totals["copies"] += not is_news
        for each in [m for m in connection.messages if before < m.end <= connection.expected]:
            each.flow.delivered_ps = self.now
            self.close(each.receiver)
            self.settle(each, "delivered")
        self.pull(answer.path[0])

    def on_ack(self, ack: Packet) -> None:
        """Note what has arrived or was trimmed, judge what has been overtaken, and send on."""
        connection, sequence = ack.connection, ack.sequence
        assert isinstance(connection, Selective)
        self.totals["acks_delivered"] += 1
        if self.per_packet and not (ack.nak or ack.pull):
            self.per_packet.recycle(ack)
        before, advanced = connection.arrived(), False
        if ack.pull:
            assert isinstance(connection.control, Ndp)
            wants = bool(connection.lost) or connection.next < len(connection.packets)
            connection.control.widen(sequence, wants=wants)
            connection.progress_ps = self.now
        else:
            advanced = self.learn(connection, ack)
        if ack.cnp:
            connection.control.on_cnp()
        connection.control.on_ack(connection, connection.acked, ack.marked, advanced)
        if not (ack.nak or ack.pull):
            connection.control.on_round_trip(connection, connection.arrived() - before, ack)
        self.offer(connection)

    def learn(self, connection: Selective, ack: Packet) -> bool:
        """Take in what an ACK says; tell whether it closes the first gap."""
        left = 0
        if ack.nak:
            trimmed = {ack.sequence} & connection.under_way()
            left = len(trimmed)
            self.totals["nacked"] += left
            if left:
                connection.control.on_nack(connection, ack.sent_ps)
            connection.lost |= trimmed
        elif ack.sack:
            left = connection.tick_off(range(ack.sequence, ack.sequence + 1))
        else:
            left = connection.tick_off(range(connection.acked, ack.sequence))
        if left:
            connection.progress_ps = self.now
            if isinstance(connection.control, Ndp):
                connection.control.shrink(left, credit=ack.credit and connection.next < len(connection.packets))
        old = {s for s in connection.under_way() if connection.order[s] + self.reordering <= connection.newest}
        connection.lost |= old
        self.totals["overtaken"] += len(old)
        if old:
            connection.control.on_loss(connection, len(old))
        before = connection.acked
        while connection.acked in connection.got:
            connection.got.remove(connection.acked)
            connection.acked += 1
        if connection.acked > before:
            connection.progress_ps = self.now
            self.acknowledge([m for m in connection.messages if m.end <= connection.acked and not m.acked])
        return connection.acked > before

    def ask(self, connection: Selective, packet: Packet, message: Message) -> bool:
        """Queue a pull for what has come; or tell that none is due, as what is missing is on its way."""
        if not isinstance(connection.control, Ndp):
            return False
        connection.known = max(connection.known, message.end)
        missing = connection.known - connection.expected - len(connection.here)
        if not packet.trimmed and missing < connection.control.largest >> 16:
            self.totals["credits"] += 1
            return True
        connection.due += 1
        if connection.due == 1:
            self.askers.setdefault(connection.way_back[0], deque()).append(connection)
        return False

    def pull(self, link: int) -> None:
        """Send a pull by this link if one is due and its time has come, or see to it that it is sent then."""
        if not self.askers.get(link) or link in self.pulling:
            return
        if self.now < self.pull_ps.get(link, 0):
            self.pulling.add(link)
            self.later(PULL, self.pull_ps[link] - self.now, lambda: self.pull_now(link))
            return
        connection = self.askers[link].popleft()
        connection.due -= 1
        if connection.due:
            self.askers[link].append(connection)
        assert isinstance(connection.control, Ndp)
        connection.pulled += 1
        full = self.payload_of(connection) + self.header
        packet_ps = -(-full * 8 * 10**12 // self.network.links[link ^ 1].rate_bps)
        self.pull_ps[link] = self.now - (-packet_ps * 65536 // self.share)
        self.totals.update(acks_sent=1, pulls=1)
        self.ports[link].accept(Packet(connection, connection.way_back, self.ack, connection.pulled, pull=True))
        self.pull(link)

    def pull_now(self, link: int) -> None:
        """The time of a pull has come."""
        self.pulling.remove(link)
        self.pull(link)
        self.start_links(self.network.links[link].source)
