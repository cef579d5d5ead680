"""Swift against SIGCOMM 2020: its target delay as the paper draws it, and algorithm 1 by hand."""

from typing import Any

import numpy as np
import pytest

from netsim.kernel import entry
from netsim.transport.controls import swift
from netsim.transport.fixed_point import ONE
from tests.transport.events import LOSS, SEND, TIMEOUT, Sender


@entry
def find_target(senders, table, window, switches, found):  # type: ignore[no-untyped-def]
    """The target of connection 0 in ps for a window and so many switches."""
    found[0] = swift.target_delay(senders[0].swift.base_ps, window, switches, table[0].controls.swift)


def target_us(sender: Sender, window: float, switches: int) -> float:
    found = np.zeros(1, "i8")
    find_target(sender.row, sender.table, round(window * ONE), switches, found)
    return float(found[0]) / 1e6


def test_on_a_long_route_the_target_holds_its_round_trip_and_the_window_what_it_holds() -> None:
    far: dict[str, Any] = {"line": 100, "idle": 400, "window": 5000}
    for sender, switches, target, widest in (
        (Sender("swift", **far), 3, 400 + 3 * 3.053, 10_000),
        (Sender("swift", line=100, window=50), 3, 20 + 3 * 3.053, 1024),
        (Sender("swift", **far, base_target="7us", max_cwnd=9), 0, 7, 9),
    ):
        assert target_us(sender, 100, switches) == pytest.approx(target)
        assert sender.state("most") == widest * ONE


@pytest.mark.parametrize("switches", [0, 1, 5])
@pytest.mark.parametrize("window", [0.01, 0.1, 0.5, 1, 7.3, 50, 100, 1e6])
def test_target_grows_with_switches_and_as_windows_get_small(window: float, switches: int) -> None:
    """SIGCOMM 2020, section 3.5: base + hops h + max(0, min(alpha / sqrt(fcwnd) - beta, fs_range))."""
    few, many = 0.1**-0.5, 100**-0.5
    alpha = 100 / (few - many)
    scaling = max(0, min(alpha * window**-0.5 - alpha * many, 100))
    sender = Sender("swift", line=100)
    assert target_us(sender, window, switches) == pytest.approx(20 + 3.053 * switches + scaling, rel=1e-3)


def test_ends_of_flow_scaling_are_those_the_settings_name() -> None:
    ends = {"base_target": "10us", "hop_scale": "0s", "fs_range": "30us", "fs_min_cwnd": 0.2, "fs_max_cwnd": 40}
    sender = Sender("swift", line=100, **ends)
    assert target_us(sender, 0.2, 3) == pytest.approx(40, rel=1e-3)
    assert target_us(sender, 40, 3) == pytest.approx(10, rel=1e-3)


# Windows in packets, times in us. Two switches of 1 us, base 20; alpha = 19 / (1/0.5 - 1/10) = 10, beta = 1:
# target = 22 + 10 / sqrt(w) - 1, within 22 and 41. Below it w + acked / w (w >= 1) or w + acked; else, once a round
# trip, w max(1 - 0.8 (rtt - target) / rtt, 0.5).
HAND = {"hop_scale": "1us", "fs_range": "19us", "fs_min_cwnd": 0.25, "fs_max_cwnd": 100}
ALGORITHM_1 = [  # now, rtt, packets acknowledged, window, and why
    (0, 20, 1, 25.04, "target 23: + 1/25"),
    (1, 22.9, 5, 25.2396805, "target 22.9984: + 5/25.04"),
    (100, 46, 1, 15.1396134, "target 22.9904652: 25.2396805 (1 - 0.8 * 23.0095348/46)"),
    (110, 46, 1, 15.1396134, "a second cut within 46 us: not yet"),
    (300, 200, 1, 7.5698067, "target 23.5700622, 1 - 0.8 * 176.43/200 = 0.294: half at most"),
    (304, 24.6, 2, 7.8340139, "target 24.6345956: + 2/7.5698067"),
    (400, 24.7, 1, 7.8017360, "target 24.5727879: 7.8340139 (1 - 0.8 * 0.1272121/24.7)"),
]


def test_a_worked_trace_of_algorithm_1() -> None:
    sender = Sender("swift", line=100, idle=10, window=25, switches=2, **HAND)
    for now, rtt, gained, window, why in ALGORITHM_1:
        sender.round_trip(now, rtt, gained)
        assert sender.window == pytest.approx(window, rel=3e-4), why


def test_losses_and_time_outs_in_a_row_by_hand() -> None:
    sender = Sender("swift", line=100, idle=10, window=16, switches=2, **HAND)
    sender.hear(LOSS, 100, 1)
    assert sender.window == 8  # 1 - max_mdf
    sender.hear(LOSS, 105, 1)
    assert sender.window == 8  # the round trip of 10 us is not over
    sender.hear(TIMEOUT, 120)
    assert sender.window == 4
    for now, window in ((140, 2), (160, 1), (180, 0.5)):
        sender.hear(TIMEOUT, now)
        assert sender.state("window") / ONE == window
    sender.hear(TIMEOUT, 181)  # the fifth in a row: min_cwnd, at once
    assert sender.state("window") == round(0.001 * ONE)
    assert sender.window == 1  # one packet may be on the way, paced:
    gap = sender.hear(SEND, 182, 1250)
    assert gap == 10 * 10**6 * ONE // 66  # rtt / w
    sender.round_trip(200, 12, 1)  # below one packet: + acked
    assert sender.window == pytest.approx(1.001, abs=1e-4)
    sender.hear(TIMEOUT, 300)  # the row was broken: a half
    assert sender.state("window") / ONE == pytest.approx(0.5005, abs=1e-4)
