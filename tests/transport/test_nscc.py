"""NSCC's kernels against UEC 1.0, section 3.6.13, with uet-htsim's parameters, by hand: packets and us.

At 100 Gb/s and a round trip of 12 us over the longest path everything is at the scale for which the parameters are
given: the target is 12, alpha 4 per 12 us, fi 5, eta 0.15 a round trip, fast increase 0.25 a packet, the average takes
0.0125 of each.
"""

import pytest

from tests.transport.events import LOSS, NACK, TIMEOUT, US, Sender

MTU = 3750  # 0.3 us: 40 of them in 12 us
WIDE = 1 << 20  # packets: a limit that NSCC's own comes before
FIXED = 5e-4  # shares have 16 binary digits: 0.0125 is 819/65536

# now, packets, mark, rtt (0: a NACK of so many), packets under way, then window, average delay, and why.
TRACE = [
    (20, 10, 0, 0, 30, 50, 0.15, "NACK: 60 - 10; its sample is an idle round trip: 0.0125 * 12"),
    (21, 1, 0, 18, 0, 50.19, 0.223125, "delay 6: 4 * 6/12 = 2 gathered, more than 12 us since: + 2/50, + eta"),
    (22, 4, 0, 15, 0, 50.19, 0.2578359, "delay 3: 4 packets gather 4 * 4 * 9/12 = 12"),
    (23, 5, 0, 24, 0, 50.9271986, 0.404613, "at the target, no mark: 5 * 5 = 25; 9 packets: + (12 + 25)/50.19"),
    (24, 1, 1, 20, 0, 50.9271986, 0.4995553, "a mark below the target changes nothing"),
    (25, 1, 1, 30, 0, 50.9271986, 0.7183109, "a mark above it, the average (0.4995553 + 0.0125 * 17.5004447) below"),
    (26, 1, 1, 2000, 0, 29.3135296, 25.559332, "1 - 0.8 * 13.559332/25.559332 = 0.575596"),
    (30, 1, 1, 40, 0, 29.3135296, 25.5898403, "once a round trip"),
    (39, 1, 1, 40, 0, 16.9967, 25.6199673, "1 - 0.8 * 13.6199673/25.6199673 = 0.5747075; then + eta"),
    (45, 1, 0, 0, 20, 15.9967, 25.4497177, "NACK after 44 = 20 + 12 + 12: 15 arrived, not below 60/8; - 1"),
    (50, 3, 0, 14, 0, 15.9967, 25.1565962, "3 * 4 * 10/12 = 10 gathered, 11 us since"),
    (70, 2, 0, 0, 9, 3, 24.9921387, "NACK after 69, 3 arrived, below 7.5: quick adapt, what was gathered is void"),
    (71, 1, 1, 60, 0, 3, 25.279737, "a mark while 9 of those under way are to be ignored"),
    (72, 9, 0, 22, 0, 5.15, 25.0887403, "10 of 9 heard, delay 10: 9 * 4 * 2/12 = 6: + 6/3 + eta"),
]


def test_a_worked_trace() -> None:
    sender = Sender("nscc", line=100, idle=12, window=WIDE, wire_bytes=MTU)
    assert sender.window == 60  # 1.5 bandwidth-delay products
    for now, packets, mark, rtt, under_way, window, average, why in TRACE:
        if rtt:
            sender.round_trip(now, rtt, packets, mark, under_way)
        else:
            sender.hear(NACK, now, packets, 17 * US, under_way)
        assert sender.state("average") / 1e6 == pytest.approx(average, rel=FIXED), why
        assert sender.window == pytest.approx(window, rel=FIXED), why


def test_the_increase_is_fast_once_a_window_has_found_nearly_no_queue() -> None:
    sender = Sender("nscc", line=100, idle=12, window=6, wire_bytes=MTU)
    sender.hear(LOSS, 1, 3)
    assert sender.window == 3  # 6 - 3
    for gained in (1, 2):  # 3 without a queue are not more than the window: gathered, for a round trip
        sender.round_trip(100, 12, gained)
        assert sender.window == 3
    sender.round_trip(100, 12, 1)  # 4 are: + 0.25
    assert sender.window == 3.25
    sender.round_trip(100, 12, 2)  # and it stays so: + 2 * 0.25
    assert sender.window == 3.75
    sender.round_trip(100, 13, 1)  # not below 1 us: gathered again
    assert sender.window == 3.75
    sender.hear(TIMEOUT, 6)
    assert sender.window == 2.75
    sender.hear(TIMEOUT, 7)
    sender.hear(TIMEOUT, 8)
    assert sender.window == 1  # never less


def test_steps_scale_with_the_bandwidth_delay_product() -> None:
    """400 Gb/s and 6 us are twice the reference: alpha 8, fi 10, eta 0.3, all per 12 us; the target is 6."""
    sender = Sender("nscc", line=400, idle=6, window=WIDE, wire_bytes=MTU)
    sender.hear(LOSS, 1, 20)  # 120 - 20
    sender.round_trip(10, 9, 3)  # delay 3: 3 * 8 * 3/12 = 6: + 6/100 + 0.3
    assert sender.window == pytest.approx(100.36, rel=1e-5)
    sender.round_trip(12, 13, 9)  # delay 7: 9 * 10: + 90/100.36
    assert sender.window == pytest.approx(101.25677, rel=1e-5)


def test_a_connection_begins_with_the_networks_round_trip_and_learns_its_own() -> None:
    """Twelve us over the longest path, six over its own: the widest window follows its own, all else the network's."""
    sender = Sender("nscc", line=100, idle=6, network=12, window=WIDE, wire_bytes=MTU)
    assert sender.window == 60  # 1.5 * 12 us / 0.3 us
    sender.round_trip(10, 9, 1)  # shorter than 12: the base
    assert sender.window == 45
    sender.round_trip(11, 6, 1)
    assert sender.window == 30
    sender.round_trip(12, 17.9, 1, marked=1)  # a delay of 11.9 is below the target of 12
    assert sender.window == 30
    sender.round_trip(13, 9, 10)  # delay 3: 2 * 4 * 12/12, 10 * 4 * 9/12; no 12 us since 1: (8 + 30) / 30
    assert sender.window == 30  # the widest
    sender.hear(NACK, 14, 1, 5 * US, 20)  # a header's round trip counts too: 25 at most; its sample is 12
    assert sender.window == pytest.approx(25)
    assert sender.state("average") / US == pytest.approx(0.0125 * (11.9 + 3 + 12), rel=0.02)
    sender.round_trip(29, 6, 1)  # after 10 + 9 + 12: no quick adapt yet
    assert sender.window == pytest.approx(25)


def test_quick_adapt_takes_for_little_what_is_below_an_eighth_of_its_own_widest_window() -> None:
    """A neighbour's eighth is small: 2.5 packets in its 4 + 12 us, where one across the network must bring 7.5."""
    for rtt, arrived, window in ((4, 3, 19), (4, 2, 2), (12, 7, 7), (12, 8, 59)):
        sender = Sender("nscc", line=100, idle=rtt, network=12, window=WIDE, wire_bytes=MTU)
        sender.round_trip(20, rtt, 0, marked=1)
        sender.round_trip(21, rtt + 1, arrived, marked=1)
        sender.hear(NACK, 50, 1, rtt * US, 9)
        assert sender.window == pytest.approx(window)
