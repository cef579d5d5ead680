"""The twin's controls that set a window by round trips: Swift, NSCC. In Python's own whole numbers."""

from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING

from netsim.topology.network import SCALE_UP
from tests.reference.state.records import ONE, Connection, Packet, Route
from tests.reference.transport.control import SECOND, Measuring, share

if TYPE_CHECKING:
    from tests.reference.twin import Twin


class SwiftWindow(Measuring, name="swift"):
    """Swift (SIGCOMM 2020): hold the round trip at a target."""

    def __init__(self, twin: Twin, route: Route, window: int | str) -> None:
        super().__init__(twin, route, window)
        self.mine, self.rtt, self.cut_ps, self.timeouts = self.window, self.idle, -self.idle, 0
        given, most = self.paper.base_target, self.paper.max_cwnd
        self.base = max(20_000_000, self.idle) if given == "auto" else given
        self.most = max(1024 * ONE, 2 * self.window) if most == "auto" else share(most)
        few, many = self.paper.fs_min_cwnd**-0.5, self.paper.fs_max_cwnd**-0.5
        self.steep = round(self.paper.fs_range / (few - many))
        self.offset = round(self.paper.fs_range / (few - many) * many)

    def target(self) -> int:
        """Base, switches, and more for small windows."""
        root = isqrt(min(self.mine, (1 << 32) - 1) * ONE)
        more = min(max(self.steep * ONE // root - self.offset, 0), self.paper.fs_range)
        return int(self.base + self.switches * self.paper.hop_scale + more)

    def on_round_trip(self, connection: Connection, gained: int, ack: Packet) -> None:
        """Widen below the target, narrow above it."""
        self.rtt = self.twin.now - ack.sent_ps
        self.timeouts = 0 if gained else self.timeouts
        late = self.rtt - self.target()
        if late >= 0:
            self.cut(min(share(self.paper.beta) * late // self.rtt, share(self.paper.max_mdf)), "late")
        elif self.mine >= ONE:
            self.become(self.mine + share(self.paper.ai) * gained * ONE // self.mine)
        else:
            self.note("below_one")
            self.become(self.mine + share(self.paper.ai) * gained)

    def cut(self, part: int, why: str) -> None:
        """Once a round trip."""
        if self.twin.now - self.cut_ps < self.rtt:
            return
        self.note(why)
        self.cut_ps = self.twin.now
        self.become(self.mine - self.mine * part // ONE)

    def become(self, window: int) -> None:
        """Within the limits; one packet may always be on the way."""
        self.mine = min(max(window, share(self.paper.min_cwnd)), self.most)
        self.window = max(self.mine, ONE)

    def on_loss(self, connection: Connection, packets: int) -> None:
        self.cut(share(self.paper.max_mdf), "loss")

    def on_nack(self, connection: Connection, sent_ps: int) -> None:
        self.cut(share(self.paper.max_mdf), "nack")

    def on_timeout(self, connection: Connection) -> None:
        """No progress: after several in a row begin anew with the smallest window."""
        self.timeouts += 1
        if self.timeouts < self.paper.retx_reset_threshold:
            self.cut(share(self.paper.max_mdf), "timeout")
        else:
            self.note("reset")
            self.become(0)

    def gap_ps(self, wire_bytes: int) -> int:
        """Below a window of one packet: a packet every so many round trips."""
        return 0 if self.mine >= ONE else self.rtt * ONE // self.mine


class NsccWindow(Measuring, name="nscc"):
    """NSCC (Ultra Ethernet), packets instead of bytes."""

    def __init__(self, twin: Twin, route: Route, window: int | str) -> None:
        super().__init__(twin, route, window)
        said, inside = self.paper.base_rtt, all(twin.network.links[link].kind == SCALE_UP for link in route)
        self.period = self.idle if inside else twin.longest_ps if said == "auto" else said  # the network's
        self.learn(self.period)
        self.window = self.widest if window == "bdp" else min(self.window, self.widest)
        self.size = self.line // 10**6 * self.period // 1_200_000 * ONE // 10**6  # in units of 100 Gb/s x 12 us
        goal = self.paper.target_qdelay
        self.goal = self.period * share(self.paper.target_share) // ONE if goal == "auto" else goal
        self.gathered = self.average = self.look_ps = self.cut_ps = 0
        self.adjusted_ps = -1  # not yet: at first it is when the first packet was sent
        self.achieved = self.received = self.passed = self.passing = self.smooth = 0
        self.fast = self.pressed = False

    def learn(self, base_ps: int) -> None:
        """The shortest round trip so far: what the NIC sends in it bounds the window."""
        packet_ps = self.full * 8 * SECOND // self.line
        self.base, widest = base_ps, base_ps * ONE // packet_ps * share(self.paper.max_window) // ONE
        self.widest = max(ONE, widest)

    def see(self, rtt: int) -> None:
        """A round trip; the first tells when the connection began."""
        self.adjusted_ps = self.twin.now - rtt if self.adjusted_ps < 0 else self.adjusted_ps
        if rtt < self.base:
            self.note("learned")
            self.learn(rtt)

    def times(self, packets: float) -> int:
        """Packets as the paper gives them, on this network."""
        return share(packets) * self.size // ONE

    def become(self, window: int) -> None:
        """Between one packet and the widest."""
        self.window = max(ONE, min(window, self.widest))

    def on_round_trip(self, connection: Connection, gained: int, ack: Packet) -> None:
        """One ACK: four cases by mark and delay, unless quick adapt acts."""
        self.see(self.twin.now - ack.sent_ps)
        delay = self.twin.now - ack.sent_ps - self.base
        self.achieved, self.received, self.passed = self.achieved + gained, self.received + gained, self.passed + gained
        sample = self.base // 4 if delay > self.goal and not ack.marked else delay
        self.average += (sample - self.average) * share(self.paper.delay_alpha) // ONE
        late = delay > self.paper.qa_threshold * self.goal
        if self.quick_adapt(connection, marked=ack.marked, late=late):
            return
        case = ("late" if delay >= self.goal else "early") + ("_marked" if ack.marked else "")
        self.note(case)
        if case == "early":
            self.in_proportion(gained, delay)
        elif case == "late":
            self.gathered += gained * self.times(self.paper.fi)
        elif case == "late_marked":
            self.decrease()
        self.become(self.window)
        if self.received > self.paper.adjust_after or self.twin.now - self.adjusted_ps > self.period:
            self.adjust()

    def quick_adapt(self, connection: Connection, *, marked: bool, late: bool) -> bool:
        """Very late or trimmed, and little has arrived: take that as the window."""
        if marked and self.passed < self.passing:
            acts = True
            self.note("ignored")
        elif self.twin.now > self.look_ps:
            little = self.achieved * ONE < self.widest // 2**self.paper.qa_gate
            acts = self.look_ps > 0 and (late or self.pressed) and little
            if acts:
                self.note("adapted")
                self.become(self.achieved * ONE)
                self.passing, self.passed, self.pressed = connection.outstanding(), 0, False
            self.achieved, self.look_ps = 0, self.twin.now + self.base + self.goal
        else:
            return False
        if acts:
            self.gathered = self.received = 0
        return acts

    def in_proportion(self, gained: int, delay: int) -> None:
        """The further below the target the more; after a window without delay by leaps."""
        smooth = delay < self.paper.fast_below
        self.smooth = self.smooth + gained if smooth else 0
        self.fast = smooth and (self.fast or self.smooth * ONE > self.window)
        if self.fast:
            self.note("leaps")
            self.window += gained * self.times(self.paper.fi_scale)
        else:
            self.gathered += gained * self.times(self.paper.alpha) * (self.goal - delay) // (12 * 10**6)

    def decrease(self) -> None:
        """By how far the average delay is above the target, once a round trip."""
        self.fast, self.smooth = False, 0
        if self.average > self.goal and self.twin.now - self.cut_ps > self.base:
            self.note("cuts")
            part = share(self.paper.gamma) * (self.average - self.goal) // self.average
            self.become(self.window - self.window * min(part, share(self.paper.max_md)) // ONE)
            self.cut_ps = self.twin.now

    def adjust(self) -> None:
        """What was gathered widens the window; and a little more, once a round trip."""
        window = self.window + self.gathered * ONE // self.window
        if self.twin.now - self.adjusted_ps >= self.period:
            window += self.times(self.paper.eta)
            self.adjusted_ps = self.twin.now
        self.gathered = self.received = 0
        self.become(window)

    def on_loss(self, connection: Connection, packets: int) -> None:
        self.note("loss")
        self.become(self.window - packets * ONE)

    def on_nack(self, connection: Connection, sent_ps: int) -> None:
        """A queue was full: quick adapt may act now, or with the next ACKs."""
        self.note("nack")
        self.see(self.twin.now - sent_ps)
        self.passed, self.pressed = self.passed + 1, True
        self.average += (self.period - self.average) * share(self.paper.delay_alpha) // ONE
        if not self.quick_adapt(connection, marked=True, late=True):
            self.become(self.window - ONE)

    def on_timeout(self, connection: Connection) -> None:
        self.on_loss(connection, 1)
