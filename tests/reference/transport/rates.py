"""The twin's controls that set a rate by round trips (TIMELY) or links (HPCC), in Python's own whole numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.reference.state.records import FOREVER, ONE, Connection, Packet, Route
from tests.reference.transport.control import SECOND, Rate, share

if TYPE_CHECKING:
    from tests.reference.twin import Twin


class TimelyRate(Rate, name="timely"):
    """TIMELY (SIGCOMM 2015), between the thresholds by the rule of CoNEXT 2016 unless told otherwise."""

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


class HpccRate(Rate, name="hpcc"):
    """HPCC (SIGCOMM 2019) as its authors' ns-3 model: a rate, and the window that it fills in an idle round trip."""

    def __init__(self, twin: Twin, route: Route, window: int | str) -> None:
        super().__init__(twin, route, window)
        self.settled, self.stage, self.goal, self.load = self.line, 0, 0, 1 << 20
        self.widest = self.window
        self.at_line = self.line // 10**6 * self.idle // (8 * 10**6) * ONE // self.full
        self.before: dict[int, tuple[int, int, int, int]] = {}

    def on_round_trip(self, connection: Connection, gained: int, ack: Packet) -> None:
        """Find the fullest link, average its load, set rate and window."""
        load, span = self.fullest(ack.telemetry)
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
        if gained and connection.acked > self.goal:
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
