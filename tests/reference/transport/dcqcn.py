"""DCQCN in the twin (Zhu et al., SIGCOMM 2015), with timers that ring when they are due."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Self

from netsim.transport.presets import PAPER_2015
from tests.reference.state.records import FOREVER, Route
from tests.reference.transport.control import Control, share

if TYPE_CHECKING:
    from tests.reference.twin import Twin

GIGABIT = 10**9
ALPHA_TIMER, INCREASE_TIMER = 3, 4  # SimPy priorities: before departures; alpha first when both ring at one instant
WHOLE = 1 << 30  # alpha = 1

PAPER = PAPER_2015 | {"min_rate": 10**8}  # so high that cuts in a row come down to it


class RateControl(Control, name="dcqcn"):
    """A rate that CNPs cut and that a timer and a byte counter raise again."""

    def __init__(self, twin: Twin, line_bps: int, window: int) -> None:
        super().__init__(window)
        self.twin, self.line, self.settings = twin, line_bps, twin.dcqcn
        self.rate = self.target = line_bps
        self.alpha = WHOLE
        self.bytes = self.by_time = self.by_bytes = 0
        self.cut = False
        self.phase = "cut"
        self.round = 0  # a timer that was set in an earlier one is void
        self.rang_ps, self.rings_ps = -1, FOREVER  # when a timer last rang, when the increase timer rings next

    @classmethod
    def make(cls, twin: Twin, route: Route, window: int | str) -> Self:
        """The control of a new connection; the window "bdp" is none at all."""
        return cls(twin, twin.network.links[route[0]].rate_bps, FOREVER if window == "bdp" else int(window))

    def on_cnp(self) -> None:
        """Cut the rate by half of alpha, raise alpha, and begin to recover."""
        self.twin.totals["cuts"] += 1
        self.twin.totals["cnp_ties"] += self.rang_ps == self.twin.now
        if self.settings.clamp_tgt_rate or self.by_time + self.by_bytes > 0:
            self.target = self.rate
        else:
            self.twin.totals["cuts_that_keep_the_target"] += self.cut
        self.rate = max(self.settings.min_rate, self.rate - ((self.rate * (self.alpha >> 10)) >> 21))
        self.twin.totals["cuts_to_the_least"] += self.rate == self.settings.min_rate
        self.alpha += ((WHOLE - self.alpha) * share(self.settings.g)) >> 16
        self.by_time = self.by_bytes = self.bytes = 0
        self.cut, self.phase = True, "cut"
        self.round += 1
        self.set_timer(ALPHA_TIMER, self.settings.alpha_timer, self.decay)
        self.set_timer(INCREASE_TIMER, self.settings.increase_timer, self.time_is_up)
        self.rings_ps = self.twin.now + self.settings.increase_timer

    def set_timer(self, priority: int, period_ps: int, action: Callable[[], None]) -> None:
        """Do something every `period_ps`, until the next cut or until the rate is whole."""
        now_round = self.round

        def ring() -> None:
            if self.round == now_round:
                self.rang_ps = self.twin.now
                action()
                self.twin.later(priority, period_ps, ring)

        self.twin.later(priority, period_ps, ring)

    def decay(self) -> None:
        """No CNP for a while: alpha shrinks by the share g."""
        self.alpha -= (self.alpha * share(self.settings.g)) >> 16

    def time_is_up(self) -> None:
        """The increase timer has rung."""
        self.by_time += 1
        self.rings_ps += self.settings.increase_timer
        self.twin.totals["raises_by_time"] += 1
        self.increase()

    def gap_ps(self, wire_bytes: int) -> int:
        """Count the bytes of a packet that leaves now; give the time from its start to the next one's."""
        self.twin.totals["sent_at_a_ring"] += self.rang_ps == self.twin.now
        if self.cut:
            self.bytes += wire_bytes
            for _ in range(self.bytes // self.settings.byte_counter):
                self.by_bytes += 1
                self.twin.totals["raises_by_bytes"] += 1
                self.increase()
            self.bytes %= self.settings.byte_counter
            self.twin.totals[f"sent_{self.phase}"] += self.target < self.line  # else it does not show
        return 0 if self.rate >= self.line else self.time_to_pass(wire_bytes)

    def time_to_pass(self, wire_bytes: int) -> int:
        """Time in which so many bytes pass at the rate, with the raises that are due before they have."""
        picobits, start, target, rate = wire_bytes * 8 * 10**12, self.twin.now, self.target, self.rate
        for ring in itertools.count():
            rings = self.rings_ps + ring * self.settings.increase_timer
            if rate >= self.line or picobits <= rate * (rings - start):
                break
            picobits, start = picobits - rate * (rings - start), rings
            _, target, rate = self.raised(target, rate, self.by_time + ring + 1)
            self.twin.totals["raised_while_waiting"] += 1
        return start - self.twin.now - (-picobits // rate)

    def raised(self, target: int, rate: int, by_time: int) -> tuple[str, int, int]:
        """Fast recovery, then additive increase, then hyper increase when time and bytes both agree."""
        first, last = sorted([by_time, self.by_bytes])
        phase = "fast" if last < self.settings.fast_recovery else "additive"
        phase = "hyper" if first > self.settings.fast_recovery else phase
        step = {"fast": 0, "additive": self.settings.ai, "hyper": self.settings.hai}[phase]
        target = min(self.line, target + step * self.line // (40 * GIGABIT))
        return phase, target, min(self.line, (target + rate + 1) // 2)

    def increase(self) -> None:
        """Raise the rate, by timer or byte counter."""
        self.phase, self.target, self.rate = self.raised(self.target, self.rate, self.by_time)
        self.twin.totals[f"{self.phase}_raises"] += 1
        if self.rate == self.target == self.line:
            self.twin.totals["whole_again"] += self.cut
            self.cut = False
            self.round += 1
