"""Windows follow the path that is used: the longest of all ways that packets take, and what these hold together."""

from typing import Any

import pytest

import netsim
from netsim.result import Result
from netsim.traces import Trace
from netsim.transport import CONTROLS
from tests.odd_links import OddLinks
from tests.traffic import flows

LONG = {"kind": "leaf_spine", "leaves": 2, "spines": 1, "hosts_per_leaf": 1, "rate": "400Gb/s", "delay": "1us"}
LONG["spine"] = {"delay": "100us"}
WIDE = {"kind": "leaf_spine", "leaves": 2, "spines": 16, "hosts_per_leaf": 2, "rate": "400Gb/s", "delay": "1us"}
WIDE["spine"] = {"rate": "100Gb/s"}
RESERVE = {"hpcc": 1.06, "ndp": 1.03, "window": 1.03}  # eta 95 %; pulls at 99 %; a window without a packet to spare


def microseconds(result: Result) -> float:
    return float(result.summary["completion_time_ps"]) / 1e6


def one_flow(size: int, ranks: int) -> Trace:
    return flows(ranks, [(0, ranks // 2)], size)


def repeating(control: str, trace: Trace, fabric: Any, *, selective: Any = None, **settings: Any) -> Result:
    """Under selective repeat, with its settings."""
    transport = {"control": control, "recovery": "selective_repeat", "selective_repeat": selective or {}}
    return netsim.simulate(trace, fabric, transport=transport, **settings)


def serialised_us(size: int, gbps: int) -> float:
    """Packets of 4 KiB, each with its header of 64 bytes."""
    return (size + -(-size // 4096) * 64) * 8 / gbps / 1e3


@pytest.mark.parametrize("name", ["uec", "ideal", "dctcp", "roce"])
def test_a_window_holds_what_a_long_path_does(name: str) -> None:
    """100 MB over 400 Gb/s, 202 us away: whatever the preset, the line and once the way, store and forward."""
    taken = microseconds(netsim.simulate(one_flow(100_000_000, 2), LONG, transport=name))
    assert taken == pytest.approx(serialised_us(100_000_000, 400) + 202 + 3 * 4160 * 8 / 400e3, rel=1e-3)


@pytest.mark.parametrize("control", CONTROLS)
def test_every_control_fills_a_long_path(control: str) -> None:
    taken = microseconds(netsim.simulate(one_flow(100_000_000, 2), LONG, transport={"control": control}))
    assert taken == pytest.approx(2233.5, rel=RESERVE.get(control, 1.005) - 1)


@pytest.mark.parametrize("routing", ["spray", "adaptive", "reps"])
@pytest.mark.parametrize("control", CONTROLS)
def test_a_sprayed_window_holds_what_all_paths_do(control: str, routing: str) -> None:
    """One flow at 400 Gb/s over 16 paths of 100 Gb/s: 406 us on the line, and the way of 4 us."""
    taken = microseconds(repeating(control, one_flow(20_000_000, 4), WIDE, routing=routing))
    assert taken == pytest.approx(serialised_us(20_000_000, 400) + 4.5, rel=RESERVE.get(control, 1.005) - 1)


# of four spines one has links of a quarter of the others' rate, and of a longer delay
ONE_SLOW = OddLinks(
    **{**WIDE, "spines": 4, "ecn": "off"},
    leaf={"buffer": "unlimited"},
    odd={"spine2": {"rate_bps": 25 * 10**9, "delay_ps": 3 * 10**6}},
)


@pytest.mark.parametrize("control", ["window", "dctcp", "hpcc", "nscc", "swift", "ndp"])
def test_no_seed_doubles_the_time_by_the_hashed_path(control: str) -> None:
    """One of four paths is slow; which one the hash would have taken does not matter where packets are spread."""
    runs = [repeating(control, one_flow(10_000_000, 4), ONE_SLOW, routing="adaptive", seed=n) for n in range(1, 13)]
    times = list(map(microseconds, runs))
    assert max(times) < 1.5 * min(times)  # Swift cuts early or late
    assert min(times) > serialised_us(10_000_000, 325)


# two spines, the second 50 us further away from either leaf
UNLIKE = OddLinks(
    **{**LONG, "spines": 2, "spine": {}, "ecn": "off"},
    odd={"spine1": {"delay_ps": 51 * 10**6}},
)


@pytest.mark.parametrize("routing", ["spray", "adaptive"])
@pytest.mark.parametrize("control", ["none", "window", "dctcp", "swift", "ndp"])
def test_a_packet_on_a_longer_way_is_not_taken_for_lost(control: str, routing: str) -> None:
    """As much is sent in those 100 us as a quarter of what the path holds, and as much again."""
    result = repeating(control, one_flow(20_000_000, 2), UNLIKE, routing=routing)
    assert result.flows["retransmitted"].sum() == 0
    assert microseconds(result) == pytest.approx(serialised_us(20_000_000, 400) + 104.3, rel=0.01)


def test_packets_that_were_overtaken_are_not_said_to_be_lost() -> None:
    result = repeating("none", one_flow(20_000_000, 2), UNLIKE, selective={"reordering": 3}, routing="spray")
    assert result.links["drops"].sum() == 0
    assert result.reason.kind == "loss recovery"
    assert "of packets that nobody lost: they were overtaken" in result.reason.text


@pytest.mark.parametrize("control", ["window", "ndp"])
def test_a_flowlet_has_the_window_of_one_path(control: str) -> None:
    """One of 16 paths at a time, of 100 Gb/s: 408 us of a quarter of the line; a window for all would overflow it."""
    fabric = WIDE | {"spine": {"rate": "100Gb/s", "buffer": "150KB"}, "ecn": "off"}
    result = repeating(control, one_flow(20_000_000, 4), fabric, routing="flowlet")
    assert result.links["drops"].sum() == 0
    assert microseconds(result) == pytest.approx(serialised_us(20_000_000, 100) + 4.5, rel=0.01)
    assert result.reason.kind == "slower link"
    used = result.links.loc[result.links["kind"] == "spine", "bytes"].idxmax()
    assert result.reason.link == "{}->{}".format(*result.links.loc[used, ["source", "target"]])


def test_selective_repeat_looks_as_far_as_needed_or_says_that_it_does_not() -> None:
    free, bound = (repeating("none", one_flow(10_000_000, 2), LONG, selective=each) for each in ({}, {"window": 1000}))
    assert "held_by_recovery" not in free.summary
    assert bound.summary["held_by_recovery"] > 1000
    round_trip = 404 + (4 * 4160 + 4 * 64) * 8 / 400e3
    assert microseconds(bound) == pytest.approx(2 * round_trip + 202 + 442 * 4160 * 8 / 400e3, rel=0.01)
    assert "selective_repeat.window" in bound.summary_text()
    assert "selective_repeat.window" not in free.summary_text()
