"""Selective repeat in the twin, and receivers that pull (NDP): sets of packet numbers at both ends."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.reference.state.records import ONE, Connection, Message, Packet, Route
from tests.reference.transport.control import Ndp
from tests.reference.transport.every import new_control
from tests.reference.twin import Twin

if TYPE_CHECKING:
    from tests.reference.scenarios.scenario import Scenario

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
    received: set[int] = field(default_factory=set)  # beyond `expected`, at the receiver
    known: int = 0  # the receiver knows of messages up to there
    pulls_due: int = 0
    pulled: int = 0  # pulls sent

    def under_way(self) -> set[int]:
        """Give what has been sent and is neither known to have arrived nor taken for lost."""
        return set(range(self.acked, self.next)) - self.got - self.lost

    def outstanding(self) -> int:
        return len(self.under_way())

    def has_work(self) -> bool:
        return bool(self.lost) or self.next < min(len(self.packets), self.acked + self.places)

    def may_send(self) -> bool:
        return self.has_work() and len(self.under_way()) < self.control.window >> 16

    def awaits(self) -> bool:
        """Tell whether an answer is outstanding, or a pull without which nothing goes on."""
        waits_for_pull = isinstance(self.control, Ndp) and self.has_work() and self.control.window < ONE
        return bool(self.under_way()) or waits_for_pull

    def arrived(self) -> int:
        return self.acked + len(self.got)

    def take(self) -> tuple[int, bool]:
        """Give the sequence number to send: the first lost one, else a new one; and whether it is new."""
        first = not self.lost
        sequence = self.next if first else min(self.lost)
        if first:
            self.next = self.highest = sequence + 1
        else:
            self.lost.remove(sequence)
            self.again.add(sequence)
        self.order[sequence] = self.sent
        if isinstance(self.control, Ndp) and not self.lost and self.next == len(self.packets):
            self.control.window = len(self.under_way()) * ONE
        return sequence, first

    def start_over(self) -> None:
        """Take everything under way for lost."""
        if isinstance(self.control, Ndp):
            self.control.window = self.control.largest if self.under_way() else ONE
        self.lost |= self.under_way()

    def mark_acked(self, sequences: range) -> int:
        """Note what has arrived; count those that were under way."""
        new = {s for s in sequences if s >= self.acked} - self.got
        left = len(new & self.under_way())
        self.got |= new
        self.lost -= new
        self.newest = max([self.newest, *(self.order[s] for s in new - self.again)])
        return left


class SelectiveTwin(Twin):
    """A network whose connections use selective repeat."""

    def __init__(self, scenario: Scenario) -> None:
        super().__init__(scenario)
        self.share = round(scenario.share * 65536)  # of the line rate
        self.pullers: dict[int, deque[Selective]] = {}
        self.pull_ps: dict[int, int] = {}
        self.pulling: set[int] = set()

    def new_connection(self, number: int, route: Route) -> Connection:
        return Selective(number, route, new_control(self, route), places=self.scenario.places)

    def release(self, messages: list[Message]) -> None:
        """A message that finds nothing unsent begins with a first window."""
        for message in messages:
            connection = message.connection
            has_sent_all = connection.next == len(connection.packets) and not connection.lost
            if isinstance(connection.control, Ndp) and has_sent_all:
                connection.control.window = connection.control.largest
            super().release([message])

    def on_data(self, packet: Packet, message: Message) -> None:
        super().on_data(packet, message)
        self.pull(packet.connection.way_back[0])

    def receive(self, packet: Packet, message: Message) -> dict[str, Any]:
        """Take in what is new, in any order; give what the answer says."""
        connection = packet.connection
        is_news = packet.sequence >= connection.expected and packet.sequence not in connection.received
        message.flow.marked += packet.marked and is_news
        self.totals["copies"] += not is_news
        if is_news and not packet.trimmed:
            connection.received.add(packet.sequence)
            while connection.expected in connection.received:
                connection.received.remove(connection.expected)
                connection.expected += 1
        nak = packet.trimmed and is_news
        is_covered = packet.sequence < connection.expected
        return {
            "sequence": connection.expected if is_covered else packet.sequence,
            "nak": nak,
            "sack": not is_covered and not nak,
            "credit": self.request_pull(connection, packet, message),
        }

    def learn(self, connection: Selective, ack: Packet) -> bool:
        """Take in what an ACK or a pull says, take for lost what was overtaken, and advance over what has arrived."""
        if ack.pull:
            wants = bool(connection.lost) or connection.next < len(connection.packets)
            connection.control.widen(ack.sequence, wants=wants)
            connection.progress_ps = self.now
            return False
        left = self.answered(connection, ack)
        if left:
            connection.progress_ps = self.now
            if isinstance(connection.control, Ndp):
                connection.control.shrink(left, credit=ack.credit and connection.next < len(connection.packets))
        tolerance = self.scenario.reordering
        old = {s for s in connection.under_way() if connection.order[s] + tolerance <= connection.newest}
        connection.lost |= old
        self.totals["overtaken"] += len(old)
        if old:
            connection.control.on_loss(connection, len(old))
        while connection.acked in connection.got:
            connection.got.remove(connection.acked)
            connection.acked += 1
            connection.advances.append((self.now, connection.acked))
        return not ack.nak

    def answered(self, connection: Selective, ack: Packet) -> int:
        """Count the packets under way that an ACK speaks of: one that was trimmed, one that came, or all before one."""
        if not ack.nak:
            return connection.mark_acked(range(ack.sequence if ack.sack else connection.acked, ack.sequence + ack.sack))
        trimmed = {ack.sequence} & connection.under_way()
        self.totals["nacked"] += len(trimmed)
        if trimmed:
            connection.control.on_nack(connection, ack.sent_ps)
        connection.lost |= trimmed
        return len(trimmed)

    def request_pull(self, connection: Selective, packet: Packet, message: Message) -> bool:
        """Queue a pull for what has come; or tell that none is due, as what is missing is on its way."""
        if not isinstance(connection.control, Ndp):
            return False
        connection.known = max(connection.known, message.end)
        missing = connection.known - connection.expected - len(connection.received)
        if not packet.trimmed and missing < connection.control.largest >> 16:
            self.totals["credits"] += 1
            return True
        connection.pulls_due += 1
        if connection.pulls_due == 1:
            self.pullers.setdefault(connection.way_back[0], deque()).append(connection)
        return False

    def pull(self, link: int) -> None:
        """Send a pull by this link if one is due and its time has come, or see to it that it is sent then."""
        if not self.pullers.get(link) or link in self.pulling:
            return
        if self.now < self.pull_ps.get(link, 0):
            self.pulling.add(link)
            self.later(PULL, self.pull_ps[link] - self.now, lambda: self.pull_now(link))
            return
        connection = self.pullers[link].popleft()
        connection.pulls_due -= 1
        if connection.pulls_due:
            self.pullers[link].append(connection)
        connection.pulled += 1
        full = self.payload_of(connection) + self.scenario.header
        packet_ps = -(-full * 8 * 10**12 // self.network.links[link ^ 1].rate_bps)
        self.pull_ps[link] = self.now - (-packet_ps * 65536 // self.share)
        self.totals.update(acks_sent=1, pulls=1)
        pull = Packet(connection, connection.way_back, self.scenario.ack, connection.pulled, pull=True)
        self.ports[link].accept(pull)
        self.pull(link)

    def pull_now(self, link: int) -> None:
        self.pulling.remove(link)
        self.pull(link)
        self.start_links(self.network.links[link].source)
