"""TIMELY's kernels against SIGCOMM 2015, algorithm 1, and CoNEXT 2016, section 4.3, by hand: rates in Gb/s."""

import pytest

from tests.transport.events import ROUND_TRIP, SEND, Sender

FIXED = 2e-4  # gradients and shares have 16 fractional bits

# alpha = 0.875, beta = 0.8, T_low = 50, T_high = 500, minRTT = 20, delta = 0.01 at 10 Gb/s.
# RTT, average of its changes, rate, and why. The gradient is the average over 20.
TRACE_2015 = [
    (60, 0, 10, "the first round trip has no change"),
    (70, 8.75, 6.5, "0.875 * 10; 10 (1 - 0.8 * 0.4375)"),
    (70, 1.09375, 6.215625, "0.125 * 8.75; 6.5 (1 - 0.8 * 0.0546875)"),
    (65, -4.23828125, 6.225625, "0.13671875 - 0.875 * 5; falling: + delta"),
    (40, -22.4047852, 6.235625, "below T_low: + delta"),
    (40, -2.8005981, 6.245625, "the third raise in a row"),
    (40, -0.3500748, 6.255625, "the fourth"),
    (40, -0.0437593, 6.265625, "the fifth"),
    (39, -0.8804699, 6.315625, "hyperactive increase: + 5 delta"),
    (60, 18.2649413, 1.7014442, "0.875 * 21 - 0.1100587; 6.315625 (1 - 0.8 * 0.9132471)"),
    (600, 474.7831177, 1.474585, "above T_high: 1.7014442 (1 - 0.8 (1 - 500/600)), whatever the gradient"),
    (480, -45.6521103, 1.484585, "59.3478897 - 105; falling: + delta, not hyperactive: the row was broken"),
]


def test_a_worked_trace_of_the_algorithm_of_2015() -> None:
    sender = Sender("timely", line=10, idle=20, patched=False, t_low="50us", t_high="500us")
    for number, (rtt, average, rate, why) in enumerate(TRACE_2015):
        sender.round_trip(100 * number, rtt)
        assert sender.state("drift") / 1e6 == pytest.approx(average, abs=1e-4), why
        assert sender.gbps == pytest.approx(rate, rel=FIXED), why


# Between the thresholds: weight w = 2 g + 1/2 within 0 and 1, error e = (RTT - 50) / 50, beta = 0.008:
# rate (1 - 0.008 w e) + delta (1 - w)
TRACE_PATCHED = [
    (60, 10, "the first"),
    (70, 9.968, "g = 0.4375: w = 1; e = 0.4: 10 (1 - 0.0032)"),
    (70, 9.9524686, "g = 0.0546875: w = 0.609375; e = 0.4: 9.968 (1 - 0.00195) + 0.01 * 0.390625"),
    (65, 9.9602182, "g = -0.2119141: w = 0.0761719; e = 0.3: 9.9524686 (1 - 0.0001828) + 0.01 * 0.9238281"),
    (55, 9.9702182, "0.125 * -4.2382813 - 8.75: g = -0.4639893: w = 0: + delta"),
    (45, 9.9802182, "below T_low: + delta"),
    (510, 9.8237442, "above T_high: 9.9802182 (1 - 0.8 * 10/510)"),
]


def test_a_worked_trace_of_the_patched_rule() -> None:
    sender = Sender("timely", line=10, idle=20, t_low="50us", t_high="500us")
    for number, (rtt, rate, why) in enumerate(TRACE_PATCHED):
        sender.round_trip(100 * number, rtt)
        assert sender.gbps == pytest.approx(rate, rel=1e-4), why
    gap = sender.hear(SEND, 1000, 1250)  # 10,000 bits at 9.8237442 Gb/s
    assert gap / 1000 == pytest.approx(1017.942, rel=1e-4)


def test_thresholds_and_steps_scale_with_round_trip_and_line() -> None:
    """25 and 2.5 idle round trips of 8 us: 200 and 20; delta is 0.1 at 100 Gb/s."""
    sender = Sender("timely", line=100, idle=8)
    for rtt in (15, 250):  # 250 > 200: 100 (1 - 0.8 * 50/250)
        sender.round_trip(0, rtt)
    assert sender.gbps == pytest.approx(84, rel=FIXED)
    sender.round_trip(0, 19.9)  # below 20
    assert sender.gbps == pytest.approx(84.1, rel=FIXED)


def test_one_update_a_round_trip_and_never_below_the_least() -> None:
    sender = Sender("timely", line=10, idle=20, patched=False, t_low="50us", t_high="500us", beta=1)
    sender.round_trip(0, 60)
    sender.row["next"] = 9
    sender.hear(ROUND_TRIP, 0, 1, 0, 70_000_000)  # round_end was 1: this ends it, and the next ends with packet 9
    rate = sender.gbps
    sender.hear(ROUND_TRIP, 0, 1, 0, 90_000_000)
    assert sender.gbps == rate < 10
    sender.row["acked"] = 9
    sender.hear(
        ROUND_TRIP, 0, 1, 0, 100_000_000
    )  # a change of 30 us: gradient above 1, cut to nothing but the least: 1/1000
    assert sender.gbps == 0.01
