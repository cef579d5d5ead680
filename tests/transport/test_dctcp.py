"""DCTCP's kernels against the paper's equations, and against the same integers in plain Python."""

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsim.transport.fixed_point import ONE, WIDEST
from tests.transport.events import ACK, TIMEOUT, Sender

Step = tuple[int, int, bool, bool]  # packets acknowledged, packets then sent, marked, is a time-out


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


def heard(control: str, window: int, gain: float, steps: list[Step]) -> list[tuple[int, int, int, int]]:
    """What is acked and what is next at each step; and the window and alpha after it, in fixed point."""
    sender, ahead, rows = Sender(control, 1, window=window, **({"gain": gain} if control == "dctcp" else {})), 0, []
    for acks, sends, marked, timeout in steps:
        acked = int(sender.row["acked"][0]) + acks
        ahead = max(ahead, acked) + sends
        sender.row["acked"], sender.row["next"] = acked, ahead
        if timeout:
            sender.hear(TIMEOUT, 0, 1)
        else:
            sender.hear(ACK, 0, int(acks > 0), int(marked))
        rows.append((acked, ahead, int(sender.row["cwnd"][0]), int(sender.row["dctcp"]["alpha"][0])))
    return rows


def windows(*given: Any) -> list[int]:
    return [cwnd for *_, cwnd, _ in heard(*given)]


each_step = st.tuples(st.integers(0, 3), st.integers(0, 4), st.booleans(), st.sampled_from([False] * 12 + [True]))


@settings(deadline=None, max_examples=60)
@given(st.lists(each_step, min_size=1, max_size=120), st.integers(1, 300), st.sampled_from([1 / 16, 1 / 4, 1.0]))
def test_windows_follow_the_paper_to_the_last_fixed_point_digits(steps: list[Step], window: int, gain: float) -> None:
    paper, before = Paper(window, gain), 0
    rows = heard("dctcp", window, gain, steps)
    for (acked, ahead, cwnd, alpha), (*_, marked, timeout) in zip(rows, steps, strict=True):
        if timeout:
            paper.time_out(acked)
        else:
            paper.hear(acked > before, acked, ahead, marked)
        before = acked
        assert abs(alpha / ONE - paper.alpha) < 40 / ONE / gain
        assert cwnd / ONE == pytest.approx(paper.window, rel=0.02, abs=0.02)


def test_one_marked_packet_in_ten_for_ever_brings_alpha_to_a_tenth_and_the_window_down() -> None:
    steps: list[Step] = [(1, 50 if n == 0 else 1, n % 10 == 0, False) for n in range(6_000)]  # rounds of 50
    *_, cwnd, alpha = heard("dctcp", 10, 1 / 16, steps)[-1]
    assert alpha / ONE == pytest.approx(0.1, abs=0.01)
    assert cwnd == ONE


def test_a_round_without_marks_adds_one_packet_and_a_marked_one_cuts_by_half_of_alpha() -> None:
    steps: list[Step] = [(1, 4, False, False), *[(1, 1, False, False)] * 4, *[(1, 1, True, False)] * 4]
    rows = heard("dctcp", 7, 1.0, steps)
    assert [cwnd // ONE for *_, cwnd, _ in rows[:6]] == [8, 8, 8, 8, 9, 9]
    assert rows[8][2:] == (9 * ONE // 2, ONE)  # all four of a round with a gain of one


def test_windows_stay_between_one_packet_and_the_widest() -> None:
    down = windows("dctcp", 2, 1.0, [(1, 0, True, False)] * 20 + [(0, 0, False, True)] * 3)
    assert min(down) == ONE == down[-1]
    assert windows("dctcp", WIDEST // ONE, 1 / 16, [(1, 0, False, False)] * 3) == [WIDEST] * 3


@pytest.mark.parametrize(("control", "window"), [("window", 13), ("none", WIDEST // ONE)])
def test_the_other_controls_never_move(control: str, window: int) -> None:
    steps = [(1, 1, True, False), (0, 0, False, True), (2, 1, False, False)]
    assert windows(control, 13, 1 / 16, steps) == [window * ONE] * 3
