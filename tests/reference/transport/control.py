"""What the twin's congestion controls have in common, and the plain ones: none, a fixed window, DCTCP, NDP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from netsim.topology.network import SCALE_UP
from netsim.transport.registry import REGISTRY
from tests.reference.state.records import FOREVER, ONE, Connection, Packet, Route

if TYPE_CHECKING:
    from tests.reference.twin import Twin

SECOND = 10**12


def share(number: float) -> int:
    """Sixteen digits behind the point."""
    return round(number * ONE)


def idle_path(twin: Twin, route: Route) -> tuple[int, int, int]:
    """Bytes of a full packet, the longest idle round trip of one and its ACK, and the packets that go into it."""
    ways = twin.per_packet.ways(route) if twin.per_packet else [route]
    links = twin.network.links
    inside = all(links[link].kind == SCALE_UP for link in route)
    full = twin.scenario.header + (twin.scenario.scale_up_payload if inside else twin.scenario.payload)

    def longest(ways: list[Route], size: int) -> int:
        return max(sum(sending(size, links[link].rate_bps) + links[link].delay_ps for link in way) for way in ways)

    idle = longest(ways, full) + longest([tuple(link ^ 1 for link in way) for way in ways], twin.scenario.ack)
    slowest = 0
    for hop in range(len(route)):
        side_by_side = {way[hop] for way in ways}
        slowest = max(slowest, sending(full, sum(links[link].rate_bps for link in side_by_side)))
    return full, idle, -(-idle // slowest)


def sending(size: int, rate_bps: int) -> int:
    """Picoseconds."""
    return -(-size * 8 * SECOND // rate_bps)


class Control:
    """A window that never changes. A control says what netsim calls it: `class Reno(Measuring, name="reno")`."""

    by_name: ClassVar[dict[str, type[Control]]] = {}

    def __init_subclass__(cls, name: str = "") -> None:
        if name:
            Control.by_name[name] = cls

    def __init__(self, window: int) -> None:
        self.window = self.largest = window * ONE

    @classmethod
    def make(cls, twin: Twin, route: Route, window: int | str) -> Self:
        """The control of a new connection; the window "bdp" is what fits into its idle round trip."""
        return cls(idle_path(twin, route)[2] if window == "bdp" else int(window))

    def on_ack(self, connection: Connection, expected: int, marked: bool, advanced: bool) -> None:
        """Hear of one ACK, after the connection's own bookkeeping."""

    def on_round_trip(self, connection: Connection, gained: int, ack: Packet) -> None:
        """Hear of one ACK, what it brings beside its number; it acknowledges `gained` packets for the first time."""

    def on_loss(self, connection: Connection, packets: int) -> None:
        """Hear that so many packets are missing, after the rewind."""

    def on_nack(self, connection: Connection, sent_ps: int) -> None:
        """Hear that a packet came trimmed to its header, and when that was sent."""

    def on_cnp(self) -> None:
        """Hear of a congestion notification."""

    def gap_ps(self, wire_bytes: int) -> int:
        """Give the time from the start of a packet that leaves now to the start of the next."""
        return 0

    def on_timeout(self, connection: Connection) -> None:
        """Hear that the recovery timer ran out, after the rewind."""


class Window(Control, name="window"):
    """That, and no more."""


class NoControl(Control, name="none"):
    """Line rate."""

    @classmethod
    def make(cls, twin: Twin, route: Route, window: int | str) -> Self:
        """Whatever the window."""
        return cls(FOREVER)


class Dctcp(Control, name="dctcp"):
    """Once a round, cut the window by half the moving average of the marked fraction (Alizadeh, SIGCOMM 2010)."""

    alpha = acks = marks = round_end = 0

    def on_ack(self, connection: Connection, expected: int, marked: bool, advanced: bool) -> None:
        """Count the ACK; at the end of a round adapt alpha and the window."""
        self.acks, self.marks = self.acks + 1, self.marks + marked
        if advanced and expected >= self.round_end:
            self.alpha += ((self.marks << 16) // self.acks - self.alpha) >> 4
            window = self.window - ((self.window * self.alpha) >> 17) if self.marks else self.window + ONE
            self.window = max(ONE, window)
            self.acks = self.marks = 0
            self.round_end = connection.next

    def on_nack(self, connection: Connection, sent_ps: int) -> None:
        """Let go of the packet that came trimmed."""
        self.window = max(ONE, self.window - ONE)

    def on_timeout(self, connection: Connection) -> None:
        """Halve the window and begin a new round."""
        self.window = max(ONE, self.window >> 1)
        self.round_end = connection.acked


class Ndp(Control, name="ndp"):
    """A window that answers shrink and pulls widen again, up to the first one."""

    pulls = 0

    def widen(self, pulls: int, *, wants: bool) -> None:
        """Hear that the receiver has pulled so often."""
        if wants and pulls > self.pulls:
            self.window = min(self.largest, self.window + (pulls - self.pulls) * ONE)
        self.pulls = max(self.pulls, pulls)

    def shrink(self, packets: int, *, credit: bool) -> None:
        """So many packets under way have been answered; a credit gives one back."""
        self.window = max(0, self.window - packets * ONE) + credit * ONE


class Measuring(Control):
    """What knows its settings, the idle round trip of a full packet and its ACK, the NIC's rate, the first window."""

    def __init__(self, twin: Twin, route: Route, window: int | str) -> None:
        self.twin: Twin = twin
        self.paper: Any = REGISTRY[twin.scenario.control].settings(**twin.scenario.chosen)
        self.full, self.idle, bdp = idle_path(twin, route)
        self.line = twin.network.links[route[0]].rate_bps
        self.switches = len(route) - 1
        super().__init__(bdp if window == "bdp" else int(window))

    @classmethod
    def make(cls, twin: Twin, route: Route, window: int | str) -> Self:
        return cls(twin, route, window)

    def note(self, what: str) -> None:
        """Count what a scenario may be there to show."""
        self.twin.totals[f"{self.twin.scenario.control}_{what}"] += 1


class Rate(Measuring):
    """A rate in bit/s, at most that of the NIC and at least a small share of it."""

    def __init__(self, twin: Twin, route: Route, window: int | str) -> None:
        super().__init__(twin, route, window)
        self.rate = self.line

    def within(self, rate: int) -> int:
        least = self.line // self.paper.least
        self.note("at_least") if rate < least else None
        return max(least, min(rate, self.line))

    def gap_ps(self, wire_bytes: int) -> int:
        return 0 if self.rate == self.line else -(-wire_bytes * 8 * SECOND // self.rate)
