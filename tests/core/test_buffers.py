"""A port's buffer means the same with flow control as without, and what cannot work is refused or doubted."""

from typing import Any

import pytest

import netsim
from netsim.config import build_scenario
from netsim.config.builtin_inputs import names
from netsim.simulation.doubts import doubts_of
from netsim.topology import FatTree, LeafSpine
from netsim.traces import Trace
from netsim.transport.presets import PRESETS
from tests.inputs import refusal
from tests.traffic import flows

INCAST = flows(16, [(rank, 0) for rank in range(1, 16)], 1 << 20)
NVLINK = flows(8, [(s, t) for s in range(8) for t in range(8) if s != t], 1 << 20)


@pytest.mark.parametrize("buffer", [400_000, 832_000, 1_664_000])
@pytest.mark.parametrize("transport", ["roce", "roce-no-cc", "hpcc"])
def test_no_queue_outgrows_its_buffer_and_nothing_is_lost(transport: str, buffer: int) -> None:
    """A ToR of k = 4 keeps free what three ports have on the way: 2 d R and three packets each."""
    fabric = {"base": "fat_tree_k4_400g", "buffer": buffer, "ecn": {"kmin": buffer // 5, "kmax": buffer * 4 // 5}}
    links = netsim.simulate(INCAST, fabric, transport=transport).links
    late = 3 * (2 * 25_000 + 3 * 4160)
    longest = int(links["max_queue_bytes"].max())
    assert longest <= buffer
    assert longest > buffer - late or transport != "roce-no-cc"
    assert links["drops"].sum() == 0


def test_where_ports_ask_for_more_than_half_of_the_buffer_queues_outgrow_it_by_the_rest_of_their_headroom() -> None:
    """15 other ports, each with 2 x 1 us x 100 Gb/s and three packets: 561,600 bytes besides half of 416,000."""
    pairs = [(leaf * 8 + host, 0) for leaf in range(4) for host in range(8) if leaf or host]
    fabric = {"base": "leaf_spine_32_1to1", "buffer": 416_000, "ecn": "off"}
    links = netsim.simulate(flows(32, pairs, 1 << 20), fabric, transport="roce-no-cc").links
    assert links["drops"].sum() == 0
    assert links["max_queue_bytes"].max() <= 208_000 + 15 * (25_000 + 3 * 4160)


@pytest.mark.parametrize("transport", ["roce", "roce-no-cc", "dctcp", "uec"])
@pytest.mark.parametrize("packet", [{}, {"payload": "64KiB"}, {"scale_up_payload": "64KiB"}])
@pytest.mark.filterwarnings("ignore:packet")
def test_nvlink_is_never_stopped_and_loses_nothing_whatever_the_network_is_set_to(transport: str, packet: Any) -> None:
    fabric = {"base": "rail_optimized_16", "pfc": {"xoff": "70KB", "xon": "10KB", "headroom": 0}, "buffer": "100KB"}
    fabric |= {"ecn": {"kmin": "20KB", "kmax": "80KB"}, "loss": 0.01}
    if transport in ("dctcp", "uec"):
        del fabric["pfc"]
    links = netsim.simulate(NVLINK, fabric, transport=transport, packet=packet).links
    inside = links[links["kind"] == "nvlink"]
    assert inside["packets"].sum() > 0
    for column in ("pauses_sent", "drops", "lost", "ecn_marks", "trims"):
        assert inside[column].sum() == 0


def tiny(**fields: Any) -> LeafSpine:
    return LeafSpine(leaves=2, spines=1, hosts_per_leaf=1, **fields)


SHARED = {"size": "1MB", "alpha": 1}


@pytest.mark.parametrize(
    ("fields", "packet", "what"),
    [
        ({"buffer": 4159}, {}, "buffer = 4159 B holds no packet of 4160 B"),
        ({"buffer": 5000}, {"ack": 6000}, "buffer = 5000 B holds no ACK of 6000 B"),
        ({"buffer": 5000, "control_class": "shared"}, {"ack": 6000}, "holds no ACK of 6000 B"),
        ({"buffer": 63, "shared_buffer": SHARED}, {}, "buffer = 63 B holds no ACK of 64 B"),
        ({"buffer": 5000, "pfc": {"xoff": 4000, "headroom": 0, "xon": 0}}, {}, "pfc.xoff + pfc.headroom = 4000 B"),
    ],
)
def test_a_port_that_something_cannot_pass_is_refused(fields: Any, packet: Any, what: str) -> None:
    fabric = tiny(**{"ecn": "off", **fields})
    assert what in refusal(netsim.simulate, flows(2, [(0, 1)], 9000), fabric, transport="dctcp", packet=packet)


@pytest.mark.parametrize(
    ("fields", "control", "what"),
    [
        ({"buffer": "60KB"}, "dctcp", "ecn.kmin = 83,200 B is above .* nothing is marked"),
        ({"buffer": "100KB"}, "dctcp", "ecn.kmax = 332,800 B is above .* never come to be certain"),
        ({"ecn": "off", "pfc": {"xoff": "1MB", "xon": "1KB"}}, "dctcp", "pfc.xoff = 1,000,000 B is above the buffer"),
        ({"ecn": "off", "buffer": "30KB"}, "ndp", "ndp sends a first window at line rate.* topology.trim"),
    ],
)
def test_thresholds_that_no_queue_reaches_and_pulls_without_headers_are_doubted(
    fields: Any, control: str, what: str
) -> None:
    with pytest.warns(UserWarning, match=what):
        netsim.simulate(flows(2, [(0, 1)], 9000), tiny(**fields), transport={"control": control})


@pytest.mark.parametrize("name", names("topologies"))
@pytest.mark.parametrize("preset", PRESETS)
def test_no_shipped_topology_is_doubted_under_any_preset(name: str, preset: str) -> None:
    scenario = build_scenario(flows(2, [(0, 1)], 9000), name, transport={"preset": preset})
    assert list(doubts_of(scenario, scenario.topology.build())) == []


def test_one_doubt_hides_no_other() -> None:
    fields = {"buffer": "50KB", "pfc": {"xoff": "60KB", "xon": "10KB"}}
    scenario = build_scenario(flows(2, [(0, 1)], 9000), tiny(**fields), transport={"control": "dctcp"})
    doubts = list(doubts_of(scenario, scenario.topology.build()))
    assert [each.partition(" =")[0] for each in doubts] == ["ecn.kmin", "pfc.xoff"]


def test_flow_control_changes_nothing_where_no_queue_grows() -> None:
    """The same run to the picosecond with and without it: a ring, whose flows never meet."""
    ring: Trace = flows(16, [(rank, (rank + 1) % 16) for rank in range(16)], 1 << 20)
    runs = [netsim.simulate(ring, FatTree(k=4, pfc=pfc), transport="none", routing="single") for pfc in ("off", "on")]
    assert runs[0].flows["delivered_ps"].tolist() == runs[1].flows["delivered_ps"].tolist()
