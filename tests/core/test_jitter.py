"""Jitter of NICs: it takes no rate, and equal senders share alike (that core and twin agree: test_against_twin.py)."""

from typing import Any

import numpy as np
import pytest

import netsim
from netsim.config import build_scenario
from netsim.config.scenario import Nic
from netsim.transport import CONTROLS, RECOVERIES
from netsim.transport.presets import PRESETS
from tests import random_cases
from tests.random_cases import jain
from tests.traffic import collective, flows


def tail_drop(senders: int, rate: str = "40Gb/s", buffer: str = "2MB", **fields: Any) -> dict[str, Any]:
    """Hosts on one switch that drops at the tail: no marks, no pauses."""
    shape = {"kind": "leaf_spine", "leaves": 1, "spines": 1, "hosts_per_leaf": senders + 2}
    rest = {"delay": "1us", "ecn": "off", "control_class": "shared", "pfc": "off"}
    return {**shape, **rest, "rate": rate, "buffer": buffer, **fields}


def incast(senders: int, size: int, fabric: dict[str, Any], jitter: float = 1, **transport: Any) -> netsim.Result:
    trace = flows(senders + 1, [(s, 0) for s in range(1, senders + 1)], size)
    settings = {"control": "none", "recovery": "go_back_n"} | transport
    return netsim.simulate(trace, fabric, transport=settings, nic={"jitter": jitter})


def spread(result: netsim.Result) -> float:
    """How much sooner the first flow ends than the last, as a share."""
    ends = result.flows["delivered_ps"]
    return float(1 - ends.min() / ends.max())


@pytest.mark.parametrize(
    ("senders", "size", "buffer", "recovery"),
    [
        (2, 20_000_000, "2MB", "go_back_n"),
        (3, 10_000_000, "200KB", "go_back_n"),
        (9, 2_000_000, "100KB", "go_back_n"),
        (2, 100_000_000, "2MB", "selective_repeat"),
        (5, 40_000_000, "200KB", "selective_repeat"),
        (16, 40_000_000, "1MB", "selective_repeat"),
    ],
)
def test_senders_in_step_are_not_locked_out_of_a_full_queue(
    senders: int, size: int, buffer: str, recovery: str
) -> None:
    """Equal flows end within 2 % of each other; without jitter they do not."""
    choice = {"recovery": recovery, "selective_repeat": {"window": 8192}}
    assert spread(incast(senders, size, tail_drop(senders, buffer=buffer), **choice)) < 0.02
    assert spread(incast(senders, size, tail_drop(senders, buffer=buffer), jitter=0, **choice)) > 0.05


@pytest.mark.slow
def test_the_case_of_two_senders_that_was_found() -> None:
    """500 MB each: one ended at 101,964 us, the other at 203,770."""
    assert spread(incast(2, 500_000_000, tail_drop(2))) < 0.02


@pytest.mark.parametrize("recovery", RECOVERIES)
@pytest.mark.parametrize("control", CONTROLS)
@pytest.mark.parametrize("fabric", [{"ecn": "off"}, {}, {"pfc": "on"}], ids=["tail drop", "marks", "pauses"])
def test_equal_flows_share_alike_under_every_control(control: str, recovery: str, fabric: dict[str, Any]) -> None:
    if control == "ndp" and recovery == "go_back_n":
        pytest.skip("pulls name packets")
    shape = {"kind": "leaf_spine", "leaves": 1, "spines": 1, "hosts_per_leaf": 8, "rate": "100Gb/s", "delay": "3us"}
    result = incast(5, 8_000_000, {**shape, "buffer": "400KB", **fabric}, control=control, recovery=recovery)
    assert jain(result) > 0.95


@pytest.mark.parametrize("number", range(10))
def test_equal_flows_share_alike_whatever_is_drawn(number: int) -> None:
    """More of them: python benchmarks/laws.py --incasts."""
    result = random_cases.incast(number).run()
    if result is None:
        pytest.skip("what was drawn does not go together")
    assert random_cases.equal_flows_share(result) == []


def test_jitter_takes_no_rate_and_does_not_add_up() -> None:
    """Alone, a message is late by less than its n-th packet's n/128 of a packet: never by 1 %, and a short one not."""
    packet_ps = 4160 * 200
    many = {"kind": "leaf_spine", "leaves": 1, "spines": 1, "hosts_per_leaf": 100, "rate": "40Gb/s"}
    for packets in (1, 2, 10, 128, 1000):
        trace = flows(100, [(s, s + 50) for s in range(50)], 4096 * packets)
        ends, exact = (
            netsim.simulate(trace, many, transport="none", nic={"jitter": jitter}).flows["delivered_ps"].to_numpy()
            for jitter in (1, 0)
        )
        most = packet_ps * min(packets - 1, 128) / 128
        late = ends - exact
        assert late.max() <= most < 0.01 * exact.min()
        if packets > 2:
            assert len(np.unique(late)) > 45
            assert late.max() > 0.5 * most


@pytest.mark.parametrize("jitter", [1, 6.5])
def test_flow_control_stays_lossless_however_late_packets_come(jitter: float) -> None:
    fabric = tail_drop(12, rate="100Gb/s", buffer="unlimited", pfc={"xoff": "20KB", "xon": "16KB"})
    result = incast(12, 2_000_000, fabric, jitter)
    assert result.summary["pauses"] > 100
    assert result.summary["drops"] == 0


def test_nvlink_has_no_nic() -> None:
    trace = collective("all_to_all", 8, 8 * 1_000_000)
    runs = [netsim.simulate(trace, "rail_optimized_16", transport="none", nic={"jitter": j}).flows for j in (0, 1)]
    assert runs[0].equals(runs[1])


def test_presets_of_hardware_have_jitter_and_exact_ones_have_none() -> None:
    trace = flows(2, [(0, 1)], 4096)
    chosen = {preset: build_scenario(trace, "fat_tree_k4_100g", transport={"preset": preset}) for preset in PRESETS}
    assert {preset: scenario.nic.jitter for preset, scenario in chosen.items()} == {
        preset: 0 if preset == "ideal" else 1 for preset in PRESETS
    }
    assert build_scenario(trace, "fat_tree_k4_100g", transport="none").nic == Nic()
    sets = build_scenario(trace, "fat_tree_k4_100g", ["nic.jitter=0.25"])
    assert sets.nic.jitter == 0.25
    assert "set otherwise: nic.jitter" in sets.describe()


def test_a_jitter_below_zero_is_refused() -> None:
    with pytest.raises(netsim.InputError, match=r"nic\.jitter"):
        netsim.simulate(flows(2, [(0, 1)], 1), "fat_tree_k4_100g", nic={"jitter": -1})
