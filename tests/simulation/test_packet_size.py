"""Packets of another size than usual: what they change is told, in numbers that are right."""

import re
import warnings
from typing import Any

import pytest

import netsim
from netsim import simulation
from netsim.config import build_scenario
from netsim.config.limits import NO_LIMITS
from netsim.simulation import packet_size
from netsim.simulation.fabric import Fabric
from netsim.traces import Trace
from tests.traffic import collective, flows

INCAST = flows(16, [(rank, 0) for rank in range(1, 9)], 4 << 20)
TOLD = re.compile(r"makes this ([\d.]+)% (longer|shorter) .*: ([\d,.]+) us, not ([\d,.]+) us")


def run(trace: Trace, transport: str, fabric: str = "fat_tree_k4_400g", **packet: Any) -> tuple[float, str]:
    """Microseconds, and what was said of the packets' size."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = netsim.simulate(trace, fabric, transport=transport, packet=packet)
    return result.summary["completion_time_ps"] / 1e6, "".join(str(each.message) for each in caught)


@pytest.mark.parametrize("payload", ["1KiB", "2KiB", "8KiB", "16KiB", "64KiB"])
@pytest.mark.parametrize("transport", ["hpcc", "dctcp", "roce", "uec"])
def test_an_incast_takes_as_long_or_it_is_told_how_much_longer(transport: str, payload: str) -> None:
    usual, nothing = run(INCAST, transport)
    taken, told = run(INCAST, transport, payload=payload)
    assert nothing == ""
    if not told:
        assert taken == pytest.approx(usual, rel=0.02)
        return
    found = TOLD.search(told)
    assert found, told
    off, direction, here, there = found.groups()
    assert abs(taken / usual - 1) * 100 == pytest.approx(float(off), abs=0.06)
    assert (direction == "longer") == (taken > usual)
    assert float(here.replace(",", "")) == pytest.approx(taken, abs=0.01)
    assert float(there.replace(",", "")) == pytest.approx(usual, abs=0.01)


def test_of_designs_that_are_compared_it_is_said_which() -> None:
    assert run(INCAST, "hpcc", payload="64KiB")[1].endswith("us (hpcc, ecmp on fat_tree_k4_400g)")


@pytest.mark.parametrize("transport", ["roce", "dctcp"])
def test_what_a_part_of_a_run_suggests_is_near_what_all_of_it_shows(
    transport: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ring of 128 MiB, of which a tenth is run with both sizes of packets."""
    trace = collective("all_reduce", 16, 128 << 20)
    usual, _ = run(trace, transport)
    monkeypatch.setattr(packet_size, "FEWEST_HOPS", 0)
    taken, told = run(trace, transport, payload="64KiB")
    found = TOLD.search(told)
    assert "of both suggest" in told
    assert found
    assert float(found.group(4).replace(",", "")) == pytest.approx(usual, rel=0.01)
    assert taken != pytest.approx(usual, rel=0.02)


def test_to_know_it_costs_no_more_than_the_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """In packet hops: half for a part with usual packets, and less for the same part with larger ones."""
    monkeypatch.setattr(packet_size, "FEWEST_HOPS", 0)
    scenario = build_scenario(collective("all_reduce", 16, 128 << 20), "fat_tree_k4_400g", ["packet.payload=64KiB"])
    outcome, _ = simulation.run(scenario, None, NO_LIMITS, None)
    fabrics: list[Fabric] = []

    def counted(*given: Any) -> Any:
        return simulation.run(*given[:-1], lambda fabric: (fabrics.append(fabric), given[-1](fabric)))

    assert "both suggest" in packet_size.change_by_packet_size(counted, scenario, outcome, NO_LIMITS)
    assert len(fabrics) == 2
    assert sum(each.packet_hops for each in fabrics) < outcome.totals["packet_hops"]


@pytest.mark.parametrize("size", [4096, 8192, 16_384, 65_536, 1 << 20])
def test_pieces_inside_a_server_change_nothing_by_default(size: int) -> None:
    """Against pieces as small as network packets, one transfer of each size over NVLink: within 2 %."""
    trace = flows(2, [(0, 1)], size)
    default, told = run(trace, "roce", "rail_optimized_16")
    small, _ = run(trace, "roce", "rail_optimized_16", scale_up_payload=4096)
    assert told == ""
    assert default == pytest.approx(small, rel=0.02)


def test_large_pieces_inside_a_server_are_told_where_they_matter() -> None:
    taken, told = run(flows(2, [(0, 1)], 1 << 20), "roce", "rail_optimized_16", scale_up_payload="256KiB")
    assert "packet.scale_up_payload = 256 KiB makes this" in told
    assert taken > 3
