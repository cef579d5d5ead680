"""DCTCP's kernels against the paper's equations, and against the same integers in plain Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsim.core.state.dtypes import CONNECTION
from netsim.core.state.settings import SETTINGS
from netsim.kernel import entry
from netsim.transport import CODES, dispatch
from netsim.transport.fixed_point import ONE, WIDEST

Step = tuple[int, int, bool, bool]  # packets acknowledged, packets then sent, marked, is a time-out


@entry
def hear(connections, settings_table, acked, ahead, marked, timeouts, seen):  # type: ignore[no-untyped-def]
    """Let the control of connection 0 hear one ACK (or time-out) after the other; seen[i]: (window, alpha)."""
    sender = connections[0]
    dispatch.start(sender, settings_table[0].controls, 0, 1, 1, 1)
    for i in range(acked.size):
        advanced = acked[i] > sender.acked
        sender.acked = max(sender.acked, acked[i])
        sender.next = ahead[i]
        if timeouts[i]:
            dispatch.on_timeout(sender, settings_table[0].controls, 1, 0)
        else:
            dispatch.on_ack(sender, settings_table[0].controls, advanced, marked[i], 0)
        seen[i, 0] = sender.cwnd
        seen[i, 1] = sender.dctcp.alpha


@dataclass
class Paper:
    """SIGCOMM 2010, equations (1) and (2), in floating point; a round ends when what was sent before it is acked."""

    window: float
    gain: float
    alpha: float = 0.0
    acks: int = 0
    marks: int = 0
    round_end: int = 0

    def hear(self, advanced: bool, acked: int, ahead: int, marked: bool) -> None:
        self.acks += 1
        self.marks += marked
        if advanced and acked >= self.round_end:
            self.alpha = (1 - self.gain) * self.alpha + self.gain * self.marks / self.acks
            self.window = max(1.0, self.window * (1 - self.alpha / 2) if self.marks else self.window + 1)
            self.acks, self.marks, self.round_end = 0, 0, ahead

    def time_out(self, acked: int) -> None:
        self.window = max(1.0, self.window / 2)
        self.round_end = acked


def kernel(control: str, window: int, gain: float, steps: list[Step]) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """(window, alpha) after each step, in fixed point; and (acked, next) at each."""
    progress, acked, ahead = [], 0, 0
    for acks, sends, _, _ in steps:
        ahead = max(ahead, acked + acks)
        acked = acked + acks
        ahead += sends
        progress.append((acked, ahead))
    connections, table = np.zeros(1, CONNECTION), np.zeros(1, SETTINGS)
    connections["cwnd"], connections["control"] = window * ONE, CODES[control]
    table["controls"]["dctcp"]["gain"] = round(gain * 65536)
    seen: Any = np.zeros((len(steps), 2), "i8")
    columns = [np.array(column, "i8") for column in zip(*progress, strict=True)]
    flags = [np.array([step[i] for step in steps], "i8") for i in (2, 3)]
    hear(connections, table, *columns, *flags, seen)
    return seen, progress


each_step = st.tuples(st.integers(0, 3), st.integers(0, 4), st.booleans(), st.sampled_from([False] * 12 + [True]))


@settings(deadline=None, max_examples=60)
@given(st.lists(each_step, min_size=1, max_size=120), st.integers(1, 300), st.sampled_from([1 / 16, 1 / 4, 1.0]))
def test_windows_follow_the_paper_to_the_last_fixed_point_digits(steps: list[Step], window: int, gain: float) -> None:
    seen, progress = kernel("dctcp", window, gain, steps)
    paper, before = Paper(window, gain), 0
    for (acked, ahead), (*_, marked, timeout), (cwnd, alpha) in zip(progress, steps, seen.tolist(), strict=True):
        if timeout:
            paper.time_out(acked)
        else:
            paper.hear(acked > before, acked, ahead, marked)
        before = acked
        assert abs(alpha / ONE - paper.alpha) < 40 / ONE / gain
        assert cwnd / ONE == pytest.approx(paper.window, rel=0.02, abs=0.02)


def test_one_marked_packet_in_ten_for_ever_brings_alpha_to_a_tenth_and_the_window_down() -> None:
    steps: list[Step] = [(1, 50 if n == 0 else 1, n % 10 == 0, False) for n in range(6_000)]  # rounds of 50
    seen, _ = kernel("dctcp", 10, 1 / 16, steps)
    assert seen[-1, 1] / ONE == pytest.approx(0.1, abs=0.01)
    assert seen[-1, 0] == ONE


def test_a_round_without_marks_adds_one_packet_and_a_marked_one_cuts_by_half_of_alpha() -> None:
    steps: list[Step] = [(1, 4, False, False), *[(1, 1, False, False)] * 4, *[(1, 1, True, False)] * 4]
    seen, _ = kernel("dctcp", 7, 1.0, steps)
    assert [int(cwnd) // ONE for cwnd in seen[:6, 0]] == [8, 8, 8, 8, 9, 9]
    assert seen[8, 1] == ONE  # all four of a round with a gain of one
    assert seen[8, 0] == 9 * ONE // 2


def test_windows_stay_between_one_packet_and_the_widest() -> None:
    down, _ = kernel("dctcp", 2, 1.0, [(1, 0, True, False)] * 20 + [(0, 0, False, True)] * 3)
    assert down[:, 0].min() == ONE == down[-1, 0]
    up, _ = kernel("dctcp", WIDEST // ONE, 1 / 16, [(1, 0, False, False)] * 3)
    assert up[:, 0].tolist() == [WIDEST] * 3


@pytest.mark.parametrize(("control", "window"), [("window", 13), ("none", WIDEST // ONE)])
def test_the_other_controls_never_move(control: str, window: int) -> None:
    seen, _ = kernel(control, 13, 1 / 16, [(1, 1, True, False), (0, 0, False, True), (2, 1, False, False)])
    assert seen[:, 0].tolist() == [window * ONE] * 3
