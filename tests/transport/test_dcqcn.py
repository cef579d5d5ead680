"""DCQCN's kernels against SIGCOMM 2015, section 3, by hand: rates in Gb/s, times in us, the arithmetic beside."""

import pytest

from netsim.transport.controls.dcqcn import ONE
from netsim.transport.presets import PAPER_2015
from tests.transport.events import CNP, SEND, Sender

MTU = 1500
STEPS = 400  # changes of alpha, each rounded to 30 binary digits


def is_at(sender: Sender, now: float, rate: float, target: float, alpha: float) -> None:
    """Look at a time (a sending of nothing lets timers catch up): rate, target, alpha."""
    sender.hear(SEND, now, 0)
    assert sender.gbps == pytest.approx(rate, rel=1e-6)
    assert sender.state("goal") / 1e9 == pytest.approx(target, rel=1e-6)
    assert sender.state("alpha") / ONE == pytest.approx(alpha, rel=1e-8, abs=STEPS / ONE)


def test_a_worked_trace_with_the_papers_constants() -> None:
    """g = 1/256, K = T = 55 us, F = 5, B = 10 MB, R_AI = 0.04, R_HAI = 0.4, on a line of 40."""
    sender = Sender("dcqcn", line=40, **PAPER_2015)
    is_at(sender, 0, 40, 40, 1)  # it starts at line rate
    sender.hear(CNP, 0)  # R_T = R_C; R_C (1 - alpha / 2) = 40 * 0.5; alpha = 255/256 * 1 + 1/256
    is_at(sender, 54, 20, 40, 1)
    is_at(sender, 55, 30, 40, 0.99609375)  # fast recovery: (40 + 20) / 2; alpha = 255/256
    is_at(sender, 110, 35, 40, 0.99220276)  # (40 + 30) / 2; alpha = (255/256)^2
    sender.hear(CNP, 120)  # R_T = 35; 35 (1 - 0.99220276 / 2); alpha = 0.98832696 + 0.00390625; timers start anew
    is_at(sender, 174, 17.6364517, 35, 0.99223321)
    is_at(sender, 175, 26.3182259, 35, 0.98835730)  # (35 + 17.6364517) / 2; alpha * 255/256
    is_at(sender, 230, 30.6591129, 35, 0.98449653)
    is_at(sender, 340, 33.9147782, 35, 0.97682026)  # 32.8295565, then 33.9147782: four times fast recovery
    is_at(sender, 395, 34.4773891, 35.04, 0.97300456)  # T = 5 = F, additive: R_T + 0.04; (35.04 + 33.9147782) / 2
    is_at(sender, 450, 34.7786946, 35.08, 0.96920376)  # T = 6
    sender.hear(SEND, 451, 10_000_000)  # byte counter: BC = 1, additive: (35.12 + 34.7786946) / 2
    is_at(sender, 451, 34.9493473, 35.12, 0.96920376)
    for _ in range(4):  # BC = 5: min(T, BC) = 5 is not above F
        sender.hear(SEND, 452, 10_000_000)  # 35.0546736, 35.1273368, 35.1836684, 35.2318342
    is_at(sender, 452, 35.2318342, 35.28, 0.96920376)
    sender.hear(SEND, 453, 10_000_000)  # BC = 6, T = 6: hyper increase: R_T = 35.28 + 0.4; (35.68 + 35.2318342) / 2
    is_at(sender, 453, 35.4559171, 35.68, 0.96920376)
    gap = sender.hear(SEND, 454, MTU)  # 1500 * 8 / 35.4559171 Gb/s
    assert gap == 338_449  # ps, rounded up


def test_a_worked_trace_with_the_constants_of_nics() -> None:
    """g = 5/1024 each us, T = 300 us, F = 1, R_AI = 0.02 and R_HAI = 0.2 at 100; cuts in a row keep the target."""
    sender = Sender("dcqcn", line=100)
    sender.hear(CNP, 0)
    is_at(sender, 0, 50, 100, 1)
    is_at(sender, 3, 50, 100, 0.98542298)  # (1019/1024)^3
    sender.hear(CNP, 4)  # alpha = (1019/1024)^4 = 0.98061134; 50 (1 - 0.98061134 / 2); no raise since: R_T stays 100
    is_at(sender, 4, 25.4847164, 100, 0.98070582)  # 0.98061134 * 1019/1024 + 5/1024
    is_at(sender, 303, 25.4847164, 100, 0.98070582 * (1019 / 1024) ** 299)
    is_at(sender, 304, 62.7423582, 100, 0.98070582 * (1019 / 1024) ** 300)  # T = 1 = F; R_T is capped at the line
    alpha = 0.98070582 * (1019 / 1024) ** 301  # 0.22470
    sender.hear(CNP, 305)  # it was raised since the last cut: R_T = 62.7423582
    is_at(sender, 305, 62.7423582 * (1 - alpha / 2), 62.7423582, alpha * 1019 / 1024 + 5 / 1024)


def test_a_packet_that_waits_sees_what_the_timer_raises() -> None:
    """At 20 of 40 a packet of 1.1 Mbit needs 55 us; one of 1.7 Mbit another 20 us at 30 after the timer rang."""
    sender = Sender("dcqcn", line=40, **PAPER_2015)
    sender.hear(CNP, 0)
    assert sender.hear(SEND, 0, 1_100_000 // 8) == 55_000_000
    assert sender.hear(SEND, 0, 1_700_000 // 8) == 75_000_000
    assert sender.hear(SEND, 0, 5_000_000 // 8) == 173_666_667
    # 1.1 of 5 Mbit by 55 us, 1.65 at 30 by 110, 1.925 at 35 by 165; 0.325 are left for 37.5 Gb/s: 8.666667 us


def test_the_rate_ends_at_the_lowest_one_and_recovers_to_the_line() -> None:
    sender = Sender("dcqcn", line=100, min_rate="1Gb/s")
    for cut in range(12):
        sender.hear(CNP, cut)
    assert sender.gbps == 1
    sender.hear(SEND, 12 + 300 * 40, 0)
    assert (sender.gbps, sender.state("cut")) == (100, 0)
    assert sender.hear(SEND, 12 + 300 * 40, MTU) == 0  # line rate is not paced
