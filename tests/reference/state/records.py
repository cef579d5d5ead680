"""The twin's records: messages, packets, connections, counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import simpy
from simpy.events import EventPriority

if TYPE_CHECKING:
    from tests.reference.link.pfc import Gate
    from tests.reference.transport.control import Control

FOREVER = 1 << 60
ONE = 1 << 16  # a window of one packet: windows have 16 bits behind the point
Route = tuple[int, ...]


def mix(seed: int, link: int, k: int) -> int:
    """Give 30 random bits, for example for the k-th packet that a link accepts (splitmix64's finaliser)."""
    whole = (1 << 64) - 1
    z = (seed * 0x9E3779B97F4A7C15 + link * 0xBF58476D1CE4E5B9 + k * 0x94D049BB133111EB) & whole
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & whole
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & whole
    return (z ^ (z >> 31)) >> 34


class Moment(simpy.Event):
    """Something to do after `delay`, at its place in the order of that instant."""

    def __init__(self, env: simpy.Environment, priority: int, delay: int, action: Callable[[], None]) -> None:
        super().__init__(env)
        self._ok, self._value = True, None
        self.callbacks.append(lambda _: action())
        env.schedule(self, EventPriority(priority), delay)


@dataclass(eq=False)
class Flow:
    """What one connection did for one collective."""

    bytes: int = 0
    packets: int = 0  # first transmissions
    retransmitted: int = 0  # all others
    marked: int = 0  # data packets that reached the receiver with a mark, copies of what it already has left out
    dropped: int = 0  # data packets
    start_ps: int = -1  # its first message is released
    delivered_ps: int = -1
    acked_ps: int = -1


@dataclass(eq=False)
class LinkCount:
    """What crossed one link, and what did not; the fullest its data queue was (a NIC's own packets never queue)."""

    bytes: int = 0
    packets: int = 0
    drops: int = 0
    lost: int = 0  # on its wire
    trims: int = 0
    ecn_marks: int = 0
    max_queue_bytes: int = 0
    pauses: int = 0  # PAUSE frames that were sent for it
    paused_ps: int = 0  # from obeying PAUSE to obeying RESUME


@dataclass(frozen=True)
class Results:
    """What was measured: flows by (collective, connection), finish times by (collective, position), -1 for never.

    Totals: data_sent, data_delivered, data_dropped, the same of acks, and what was rare: naks, timeouts, ...
    """

    flows: dict[tuple[int, int], Flow]
    links: list[LinkCount]
    parts: dict[tuple[int, int], int]
    totals: Counter[str]


@dataclass(eq=False)
class Part:
    """One position's share of a collective; `open` counts rows yet to arrive and rows yet to leave its NIC."""

    event: simpy.Event
    open: int = 0
    entered: bool = False
    early: list[Message] = field(default_factory=list)  # rows that wait for nothing but the rank, as they became so
    finish_ps: int = -1


@dataclass(eq=False)
class Message:
    """One row of a schedule."""

    collective: int
    row: int
    bytes: int
    connection: Connection
    flow: Flow
    sender: Part = field(init=False)
    receiver: Part = field(init=False)
    missing: int = 0  # predecessors that have not finished
    dependents: dict[str, list[Message]] = field(default_factory=lambda: {"delivered": [], "acked": []})
    first: int = -1  # the connection's sequence number of its first packet; -1 before it is released
    end: int = -1  # and that after its last
    acked: bool = False


@dataclass(eq=False)
class Packet:
    """A data packet (`message` set) or an ACK; `sequence` is its own number, or for an ACK the next one expected."""

    connection: Connection
    path: Route
    bytes: int
    sequence: int
    message: Message | None = None
    marked: bool = False
    nak: bool = False
    cnp: bool = False
    trimmed: bool = False  # only its header is left
    sack: bool = False  # an ACK of this packet alone
    pull: bool = False
    credit: bool = False
    closes: bool = False  # first transmission of its message's last packet
    entropy: int = 0
    sent_ps: int = 0  # an ACK: when the packet it answers was sent
    telemetry: list[tuple[int, int, int, int]] = field(default_factory=list)  # link, time, bytes sent, bytes behind
    hop: int = 0
    came_ps: int = 0  # to the queue in which it stands
    stored_as: str = ""  # the buffer class it occupies at the port it stands at
    gate: Gate | None = None  # the ingress account it is on


@dataclass(eq=False)
class Connection:
    """Both ends of a queue pair: go-back-N over sequence numbers that run on for ever."""

    number: int
    route: Route
    control: Control
    traffic_class: int = 0
    packets: list[tuple[Message, int]] = field(default_factory=list)  # message and payload bytes, by sequence number
    messages: list[Message] = field(default_factory=list)
    next: int = 0
    acked: int = 0
    highest: int = 0  # first sequence number never sent
    progress_ps: int = 0
    armed: bool = False  # its timer is set
    expected: int = 0
    nak_pending: bool = False
    ready_ps: int = 0  # it sends nothing before
    cnp_ps: int = 0  # its receiver sends no CNP before
    sent: int = 0  # packets, copies too
    cached_entropies: list[int] = field(default_factory=list)  # came back without a mark, not yet used again
    retries: int = 0  # time-outs in a row in which nothing more had arrived
    stuck_at: int = 0
    drops: list[tuple[Flow, int, int]] = field(default_factory=list)  # of its data: whose, sequence and when
    advances: list[tuple[int, int]] = field(default_factory=list)  # when `acked` grew, and to what

    @property
    def way_back(self) -> Route:
        """The route of an ACK: the same links the other way, last one first."""
        return tuple(link ^ 1 for link in reversed(self.route))

    def awaits(self) -> bool:
        return self.next > self.acked

    def outstanding(self) -> int:
        """Count the packets under way."""
        return self.next - self.acked

    def take(self) -> tuple[int, bool]:
        """Give the sequence number to send, and whether it is sent for the first time."""
        sequence, first = self.next, self.next == self.highest
        self.next += 1
        self.highest = max(self.highest, self.next)
        return sequence, first

    def start_over(self) -> None:
        """Nothing was heard for too long: retransmit what is unacknowledged."""
        self.next = self.acked

    def arrived(self) -> int:
        """Count the packets that are known to have arrived."""
        return self.acked

    def may_send(self) -> bool:
        """Tell whether there is a released packet inside the window."""
        return self.next < min(len(self.packets), self.acked + (self.control.window >> 16))
