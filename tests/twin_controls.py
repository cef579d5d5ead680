"""The twin's controls that measure: round trips (TIMELY, Swift, NSCC), links (HPCC). In Python's own whole numbers."""

from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING, Any

from netsim.topology.network import SCALE_UP
from netsim.transport.hpcc import Settings as Hpcc
from netsim.transport.nscc import Settings as Nscc
from netsim.transport.swift import Settings as Swift
from netsim.transport.timely import Settings as Timely
from tests.twin_nouns import FOREVER, ONE, Connection, Control, Packet, Route

if TYPE_CHECKING:
    from tests.twin import Twin

SECOND = 10**12


def share(number: float) -> int:
    """Sixteen digits behind the point."""
    return round(number * ONE)


def idle_path(twin: Twin, route: Route) -> tuple[int, int, int]:
    """Bytes of a full packet, the longest idle round trip of one and its ACK, and the packets that go into it."""
    ways = twin.steering.ways(route) if twin.steering else [route]
    links = twin.network.links
    inside = all(links[link].kind == SCALE_UP for link in route)
    full = twin.header + (twin.scale_up_payload if inside else twin.payload)

    def longest(ways: list[Route], size: int) -> int:
        return max(sum(sending(size, links[link].rate_bps) + links[link].delay_ps for link in way) for way in ways)

    idle = longest(ways, full) + longest([tuple(link ^ 1 for link in way) for way in ways], twin.ack)
    slowest = 0
    for hop in range(len(route)):
        side_by_side = {way[hop] for way in ways}
        slowest = max(slowest, sending(full, sum(links[link].rate_bps for link in side_by_side)))
    return full, idle, -(-idle // slowest)


def sending(size: int, rate_bps: int) -> int:
    """Picoseconds."""
    return -(-size * 8 * SECOND // rate_bps)


class Measuring(Control):
    """What they have in common: the idle round trip of a full packet and its ACK, the NIC's rate, the first window."""

    kind: Any = None

    def __init__(self, twin: Twin, route: Route, window: int | str) -> None:
        self.twin, self.paper = twin, self.kind(**twin.chosen)
        self.full, self.idle, bdp = idle_path(twin, route)
        self.line = twin.network.links[route[0]].rate_bps
        self.switches = len(route) - 1
        super().__init__(bdp if window == "bdp" else int(window), FOREVER)

    def note(self, what: str) -> None:
        """Count what a scenario may be there to show."""
        self.twin.totals[f"{self.twin.control}_{what}"] += 1


class Rate(Measuring):
    """A rate in bit/s, at most that of the NIC and at least a small share of it."""

    def __init__(self, twin: Twin, route: Route, window: int | str) -> None:
        super().__init__(twin, route, window)
        self.rate = self.line

    def within(self, rate: int) -> int:
        """The rate, within its limits."""
        least = self.line // self.paper.least
        self.note("at_least") if rate < least else None
        return max(least, min(rate, self.line))

    def gap_ps(self, wire_bytes: int) -> int:
        """From the start of this packet to that of the next."""
        return 0 if self.rate == self.line else -(-wire_bytes * 8 * SECOND // self.rate)


class TimelyRate(Rate):
    """TIMELY (SIGCOMM 2015), between the thresholds by the rule of CoNEXT 2016 unless told otherwise."""

    kind = Timely
    last_rtt = trend = goal = streak = 0

    def __init__(self, twin: Twin, route: Route, window: int | str) -> None:
        super().__init__(twin, route, 1 if window == "bdp" else window)
        if window == "bdp":
            self.window = FOREVER * ONE
        low, high = self.paper.t_low, self.paper.t_high
        self.low = self.idle * 5 // 2 if low == "auto" else low
        self.high = self.idle * 25 if high == "auto" else high
        self.step = self.paper.delta * (self.line // 10**6) // 10_000

    def on_round_trip(self, connection: Connection, gained: int, ack: Packet) -> None:
        """Once a round: follow the round trip and its trend."""
        if not gained or connection.acked < self.goal:
            return
        self.goal = connection.next
        rtt, before = self.twin.now - ack.sent_ps, self.last_rtt
        self.last_rtt = rtt
        if before == 0:
            return
        self.trend += (rtt - before - self.trend) * share(self.paper.alpha) // ONE
        self.rate = self.within(self.next_rate(rtt, self.trend * ONE // self.idle))

    def next_rate(self, rtt: int, gradient: int) -> int:
        """Algorithm 1."""
        if rtt < self.low:
            return self.raise_rate("low")
        if rtt > self.high:
            self.streak = 0
            self.note("high")
            return self.rate - self.rate * (share(self.paper.beta) * (rtt - self.high) // rtt) // ONE
        if self.paper.patched:
            weight = min(max(ONE // 2 + 2 * gradient, 0), ONE)
            return self.patched(weight, (rtt - self.low) * ONE // self.low)
        if gradient <= 0:
            return self.raise_rate("falling")
        self.streak = 0
        self.note("rising")
        return self.rate - self.rate * min(share(self.paper.beta) * gradient // ONE, ONE) // ONE

    def patched(self, weight: int, error: int) -> int:
        """CoNEXT 2016: a part of a step up, and a part of a cut."""
        if weight == 0:
            return self.raise_rate("falling")
        self.streak = 0
        self.note("balanced")
        cut = min(share(self.paper.beta_patched) * weight * error // ONE**2, ONE)
        return self.rate - self.rate * cut // ONE + self.step * (ONE - weight) // ONE

    def raise_rate(self, why: str) -> int:
        """One step up, or several once it has gone up for long."""
        self.streak += 1
        hyper = self.streak > self.paper.hai_after
        self.note("hyper" if hyper else why)
        return self.rate + self.step * (self.paper.hai if hyper else 1)


class HpccRate(Rate):
    """HPCC (SIGCOMM 2019) as its authors' ns-3 model: a rate, and the window that it fills in an idle round trip."""

    kind = Hpcc

    def __init__(self, twin: Twin, route: Route, window: int | str) -> None:
        super().__init__(twin, route, window)
        self.settled, self.stage, self.goal, self.load = self.line, 0, 0, 1 << 20
        self.widest = self.window
        self.at_line = self.line // 10**6 * self.idle // (8 * 10**6) * ONE // self.full
        self.before: dict[int, tuple[int, int, int, int]] = {}

    def on_round_trip(self, connection: Connection, gained: int, ack: Packet) -> None:
        """Find the fullest link, average its load, set rate and window."""
        load, span = self.fullest(ack.told)
        if span == 0:
            self.goal = self.goal or connection.next
            return
        span = min(span, self.idle)
        self.load = (self.load * (self.idle - span) + load * span) // self.idle
        goal_load = round(self.paper.eta * (1 << 20))
        cuts = self.load >= goal_load or self.stage >= self.paper.max_stage
        self.note("by_load" if cuts else "by_stage")
        step = self.paper.ai * (self.line // 10**6) // 25_000
        self.rate = self.within((self.settled * goal_load // max(self.load, 1) if cuts else self.settled) + step)
        if gained and connection.acked >= self.goal:
            self.settled, self.goal = self.rate, connection.next
            self.stage = 0 if cuts else self.stage + 1
        window = self.at_line * (self.rate // 1000) // (self.line // 1000)
        self.window = max(ONE, min(window + ONE - 1, self.widest))

    def fullest(self, told: list[tuple[int, int, int, int]]) -> tuple[int, int]:
        """The highest load (20 digits behind the point) and over how long it was measured; and remember all."""
        found = (0, 0)
        for place, (link, at, sent, queue) in enumerate(told):
            old = self.before.get(place)
            rate = self.twin.network.links[link].rate_bps
            if old and old[0] == link and at > old[1]:
                waits = -(-min(queue, old[3]) * 8 * SECOND // rate)
                busy = -(-(sent - old[2]) * 8 * SECOND // rate)
                load = (waits << 20) // self.idle + (busy << 20) // (at - old[1])
                self.note("queued") if waits else None
                found = max(found, (load, at - old[1]), key=lambda each: each[0])
            if not old or old[0] != link or at > old[1]:
                self.before[place] = (link, at, sent, queue)
        return found


class SwiftWindow(Measuring):
    """Swift (SIGCOMM 2020): hold the round trip at a target."""

    kind = Swift

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
        """A gap."""
        self.cut(share(self.paper.max_mdf), "loss")

    def on_nack(self, connection: Connection, sent_ps: int) -> None:
        """A header."""
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


class NsccWindow(Measuring):
    """NSCC (Ultra Ethernet), packets instead of bytes."""

    kind = Nscc

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
        """The window shrinks by what is missing."""
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
        """As for one that is missing."""
        self.on_loss(connection, 1)


MEASURING: dict[str, type[Measuring]] = {
    "timely": TimelyRate,
    "swift": SwiftWindow,
    "hpcc": HpccRate,
    "nscc": NsccWindow,
}
