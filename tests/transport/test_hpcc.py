"""HPCC's kernels against SIGCOMM 2019, algorithm 1, by hand: rates in Gb/s, windows in packets."""

from collections import namedtuple
from typing import Any

import numpy as np
import pytest

from netsim.core.host.telemetry import fullest_link
from netsim.core.state.dtypes import LINK, LINK_CLASS, MOST_HOPS, PACKET_METADATA
from netsim.core.state.dtypes import TELEMETRY as TOLD
from netsim.kernel import entry
from netsim.transport.fixed_point import LOAD_BITS
from tests.transport.events import SEND, TELEMETRY, US, Sender

T = 10  # us; 25 Gb/s times 10 us are 31,250 bytes: 25 packets of 1250

# u of the fullest link, tau in us, does a round end, then U, rate and why. eta = 0.95, maxStage = 2, W_AI / T = 0.01.
# U <- (1 - tau/T) U + tau/T u; with U >= eta or incStage >= maxStage R = Rc eta / U + 0.01, else R = Rc + 0.01;
# Rc <- R where a round ends.
TRACE = [
    (1.9, 5, False, 1.45, 16.3893103, "0.5 * 1 + 0.5 * 1.9; 25 * 0.95 / 1.45 + 0.01"),
    (1.2, 10, False, 1.2, 19.8016667, "of the same Rc: 25 * 0.95 / 1.2 + 0.01"),
    (1.2, 2, True, 1.2, 19.8016667, "the round ends: Rc = 19.8016667"),
    (1.7, 2, False, 1.3, 14.4804487, "0.8 * 1.2 + 0.2 * 1.7; 19.8016667 * 0.95 / 1.3 + 0.01"),
    (0.5, 10, False, 0.5, 19.8116667, "incStage 0: Rc + 0.01"),
    (0.5, 10, True, 0.5, 19.8116667, "Rc = 19.8116667, incStage 1"),
    (0.5, 10, True, 0.5, 19.8216667, "incStage 2"),
    (0.9, 10, False, 0.9, 20.9328704, "incStage = maxStage: 19.8216667 * 0.95 / 0.9 + 0.01, though U < eta"),
    (0.9, 10, True, 0.9, 20.9328704, "Rc = 20.9328704, incStage 0"),
    (0.94, 20, True, 0.94, 20.9428704, "tau counts for T at most; Rc + 0.01, incStage 1"),
    (0.95, 10, True, 0.95, 20.9528704, "U = eta: 20.9428704 * 1 + 0.01, incStage 0"),
    (0.4, 5, True, 0.675, 20.9628704, "0.5 * 0.95 + 0.5 * 0.4; Rc + 0.01"),
    (95, 10, True, 95, 0.2196287, "20.9628704 * 0.95 / 95 + 0.01"),
    (95, 10, True, 95, 0.025, "0.2196287 / 100 + 0.01 is below the least: a thousandth of the line"),
]


def tell(sender: Sender, load: float, span: float, *, ends: bool) -> None:
    """An ACK with what links said; a round ends with that of the first packet sent since it began, not one before."""
    sender.row["acked"] = sender.state("round_end") + ends
    sender.row["next"] += 10 * ends
    sender.hear(TELEMETRY, 0, 1, round(load * (1 << LOAD_BITS)), round(span * US))


def test_a_worked_trace_of_algorithm_1() -> None:
    sender = Sender("hpcc", line=25, idle=T, window=25, max_stage=2)
    sender.row["next"] = 10
    tell(sender, 0, 0, ends=False)  # nothing is known of the time before: the first round ends with packet 10
    assert (sender.gbps, sender.state("round_end"), sender.window) == (25, 10, 25)
    for load, span, ends, average, rate, why in TRACE:
        tell(sender, load, span, ends=ends)
        assert sender.state("load") / (1 << LOAD_BITS) == pytest.approx(average, rel=1e-5), why
        assert sender.gbps == pytest.approx(rate, rel=2e-5), why
        window = max(1, min(25, 25 * rate / 25 + 1 - 2**-16))  # W = R T; a packet goes if any part of it fits
        assert sender.window == pytest.approx(window, rel=1e-4), why


def test_packets_are_paced_at_w_over_t() -> None:
    sender = Sender("hpcc", line=25, idle=T, window=25)
    assert sender.hear(SEND, 0, 1250) == 0
    tell(sender, 1.9, 10, ends=False)  # 25 * 0.95 / 1.9 + 0.01 = 12.51 Gb/s: 10,000 bits in 799.36 ns
    assert sender.hear(SEND, 0, 1250) / 1000 == pytest.approx(799.3605, rel=1e-5)


def test_by_default_every_round_multiplies_and_steps_scale_with_the_line() -> None:
    """maxStage 0; W_AI / T is 0.04 at 100 Gb/s."""
    sender = Sender("hpcc", line=100, idle=T, window=100)
    tell(sender, 1.9, 10, ends=False)
    assert sender.gbps == pytest.approx(50.04, rel=1e-5)
    sender = Sender("hpcc", line=100, idle=T, window=100)
    tell(sender, 1.9, 10, ends=True)  # Rc = 50.04
    tell(sender, 0.76, 10, ends=True)
    assert sender.gbps == pytest.approx(62.59, rel=1e-5)  # 50.04 * 0.95 / 0.76 + 0.04


World = namedtuple("World", "packet_metadata telemetry last_telemetry link_classes links")


@entry
def hear_of_links(world, idle, found):  # type: ignore[no-untyped-def]
    """(load, span) of the fullest link, from what lies beside the packet at place 0."""
    found[0], found[1] = fullest_link(world, 0, 0, idle)


# link: at us, bytes sent before, bytes in its queue
BEFORE = {0: (1, 10_000, 5_000), 1: (1, 0, 62_500)}
AFTER = {0: (3, 30_000, 9_000), 1: (3.5, 60_000, 50_000), 2: (3, 10**6, 10**6)}
LATER = {0: (4, 42_500, 20_000), 1: (4.5, 60_000, 0), 2: (4, 10**6, 10**6)}


def test_the_load_of_the_fullest_link_by_hand() -> None:
    """MeasureInflight with T = 10 us: u = min(qlen, qlen before) / (B T) + txRate / B; links 1 and 2 have 400 Gb/s."""
    world = World(
        *(
            np.zeros(n, row)
            for n, row in ((1, PACKET_METADATA), (MOST_HOPS, TOLD), (MOST_HOPS, TOLD), (2, LINK_CLASS), (3, LINK))
        )
    )
    world.link_classes["ps"], world.link_classes["per_bytes"] = (80, 20), 1
    world.links["link_class"] = (0, 1, 1)

    def hear(said: dict[int, tuple[float, int, int]]) -> tuple[float, float]:
        for link, (at, sent, queue) in said.items():
            world.telemetry[link] = (link, 0, round(at * US), sent, queue)
        world.packet_metadata["hops"] = len(said)
        found: Any = np.zeros(2, "i8")
        hear_of_links(world, T * US, found)
        return float(found[0]) / (1 << LOAD_BITS), float(found[1]) / US

    assert hear(BEFORE) == (0, 0)  # nothing was heard of them before
    # link 0: 5,000 B of 125,000 and 80 of 100 Gb/s; link 1: 50,000 B of 500,000 and 192 of 400 Gb/s; link 2 is new
    assert hear(AFTER) == (pytest.approx(0.04 + 0.8, abs=1e-5), 2)
    # link 0: 9,000 B and 12,500 B in 1 us; link 1: the lesser queue is empty; link 2 is stuck with 1 MB
    assert hear(LATER) == (pytest.approx(2.0, abs=1e-5), 1)
