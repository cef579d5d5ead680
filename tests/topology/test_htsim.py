"""HtsimTree and the `.topo` files that state it: htsim's numbering, what differs up and down, and mistakes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from netsim.config import build_scenario, load_topology
from netsim.routing import ROUTINGS
from netsim.topology import FatTree, HtsimTree, Network
from netsim.traces import Trace
from tests.inputs import refusal, saved
from tests.topology.cables import ups

G = 10**9


def block(number: int, down: int, *more: str) -> str:
    lines = [f"Tier {number}", "Downlink_speed_Gbps 100", f"Radix_Down {down}", "Downlink_Latency_ns 1000", *more]
    return "\n".join(lines) + "\n"


HEAD = "Nodes 16\nTiers 3\nPodsize 4\n"
TREE = HEAD + block(0, 2, "Radix_Up 2") + block(1, 2, "Radix_Up 2") + block(2, 4)
FLAT = "Nodes 8\nTiers 2\nPodsize 8\n" + block(0, 4, "Radix_Up 2", "Oversubscribed 2") + block(1, 2)


def load(folder: Path, text: str, name: str = "small.topo") -> HtsimTree:
    topology = load_topology(saved(folder / name, text))
    assert isinstance(topology, HtsimTree)
    return topology


def tier(down: int, up: int = 0, **more: Any) -> dict[str, Any]:
    return {"radix_down": down, "radix_up": up, **more}


def tree(**changed: Any) -> HtsimTree:
    return HtsimTree(**{"nodes": 16, "podsize": 4, "tor": tier(2, 2), "agg": tier(2, 2), "core": tier(4), **changed})


def link(network: Network, name: str) -> Any:
    return next(each for each in network.links if network.link_name(each.number) == name)


def test_a_full_tree_is_the_fat_tree_to_the_last_link(tmp_path: Path) -> None:
    network, same = load(tmp_path, TREE).build(), FatTree(k=4).build()
    assert (network.name, network.hosts, network.switches) == ("small", same.hosts, same.switches)
    assert network.links == same.links


def test_thinned_above_the_aggregation_tier() -> None:
    """Of A aggregation switches per pod, switch j is joined to the cores j + A * l."""
    network = tree(agg=tier(2, 1, oversubscribed=2)).build()
    assert network.counts() | {"switches.agg": 8, "switches.core": 2, "links.core": 16} == network.counts()
    assert [ups(network, f"agg{a}") for a in range(4)] == [["core0"], ["core1"], ["core0"], ["core1"]]
    assert network.bisection_bps() == 4 * 100 * G


def test_thinned_above_the_tors(tmp_path: Path) -> None:
    network = load(tmp_path, FLAT).build()
    assert [ups(network, f"tor{t}") for t in range(2)] == [["agg0", "agg1"]] * 2
    assert ups(network, "host3") == ["tor0"]
    assert ups(network, "host4") == ["tor1"]


def test_speeds_and_latencies_are_those_of_the_tier_above_the_cable(tmp_path: Path) -> None:
    text = TREE.replace("Radix_Up 2", "Radix_Up 2\nOversubscribed 1", 1)
    fast = text.replace("Downlink_speed_Gbps 100", "Downlink_speed_Gbps 400")
    network = load(tmp_path, fast.replace("Downlink_Latency_ns 1000", "Downlink_Latency_ns 700", 1)).build()
    assert (link(network, "host0->tor0").rate_bps, link(network, "host0->tor0").delay_ps) == (400 * G, 700_000)
    assert (link(network, "agg0->core0").rate_bps, link(network, "agg0->core0").delay_ps) == (400 * G, 1_000_000)


def test_queues_differ_up_and_down() -> None:
    queues = {"queue_up": 1000, "queue_down": 2000}
    network = tree(tor=tier(2, 2, **queues), agg=tier(2, 2, queue_down=3000), core=tier(4, queue_down=4000)).build()
    expected = {
        "tor0->agg0": 1000, "tor0->host0": 2000, "agg0->tor0": 3000, "agg0->core0": 416_000, "core0->agg0": 4000,
        "host0->tor0": 1 << 60,
    }  # fmt: skip
    assert {name: link(network, name).buffer_bytes for name in expected} == expected


def test_a_switchs_latency_is_on_the_way_into_it() -> None:
    network = tree(tor=tier(2, 2, switch_latency="300ns"), core=tier(4, switch_latency="50ns")).build()
    ways = {"host0->tor0": 1300, "agg0->tor0": 1300, "tor0->host0": 1000, "agg0->core0": 1050, "core0->agg0": 1000}
    assert {name: link(network, name).delay_ps for name in ways} == {way: ns * 1000 for way, ns in ways.items()}


def test_a_bundle_is_cables_side_by_side_and_all_are_used() -> None:
    """Four cables up from a ToR in bundles of two go to two switches."""
    network = HtsimTree(nodes=8, podsize=8, tor=tier(4, 4), agg=tier(4, 0, bundle=2)).build()
    assert ups(network, "tor0") == ["agg0", "agg0", "agg1", "agg1"]
    many = np.arange(200, dtype=np.int32)
    routes = ROUTINGS["ecmp"]().routes(network, many * 0, many * 0 + 7, many, seed=1)
    first_up = [routes.of(i)[1] for i in range(200)]
    assert len(set(first_up)) == 4


def test_the_content_tells_a_topo_file(tmp_path: Path) -> None:
    assert load(tmp_path, "# anything\n\n" + TREE.upper(), "small.txt").nodes == 16


def test_it_can_be_a_base_and_be_set(tmp_path: Path) -> None:
    load(tmp_path, TREE)
    (tmp_path / "mine.toml").write_text('base = "small.topo"\nbuffer = "1MB"\n[tor]\nqueue_up = "5KB"\n')
    topology = load_topology(tmp_path / "mine.toml", sets=["core.switch_latency=1us"])
    assert isinstance(topology, HtsimTree)
    assert (topology.buffer, topology.tor.queue_up, topology.tor.radix_up) == (1_000_000, 5000, 2)
    assert topology.core is not None
    assert topology.core.switch_latency == 1_000_000


def test_a_scenario_writes_it_out_and_reads_it_back(tmp_path: Path) -> None:
    topology = load(tmp_path, FLAT)
    tables = build_scenario(Trace("t", 2, {}, ()), topology, transport="dctcp").as_tables("t")["topology"]
    assert load_topology(tables) == topology


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("Radix_Down 2", "Radix_Dwn 2", "small.topo, line 6: unknown key 'Radix_Dwn'; did you mean 'Radix_Down'?"),
        ("Podsize 4", "Podsize four", "line 3: Podsize needs one whole number, not 'four'"),
        ("Podsize 4", "Podsize", "line 3: Podsize needs one whole number, not ''"),
        ("Podsize 4", "Podsize 4\nBundle 1", "line 4: Bundle belongs to no tier"),
        ("Podsize 4", "Podsize 4\nNodes 16", "line 4: Nodes stands here again, after line 1"),
        ("Podsize 4\n", "", "small.topo: no Podsize"),
        ("Tiers 3", "Tiers 4", "line 2: Tiers 4; trees have 2 or 3"),
        ("Tiers 3", "Tiers 2", "line 14: tier 2 is described, but the header says Tiers 2"),
        ("Tier 2", "Tier 3", "line 14: there is no tier 3"),
        ("Tier 2", "Tier 1", "line 14: tier 1 is described twice"),
        ("Radix_Up 2\nTier 1", "Tier 1", "line 4: tier 0 has no Radix_Up"),
        ("Downlink_speed_Gbps 100", "Queue_Up 5", "line 4: tier 0 has no Downlink_speed_Gbps"),
        ("Radix_Up 2", "Radix_Up 2\nQueue_Down 0", "line 9: tor.queue_down = '0B' is not greater than 0"),
        ("Radix_Up 2", "Radix_Up 2\nBundle 0", "line 9: tor.bundle = 0 is not greater than or equal to 1"),
        ("Nodes 16", "Nodes 18", "nodes = 18 are no whole number of pods of 4"),
        ("Podsize 4", "Podsize 8", "agg.radix_down = 2, but there are 4 ToRs in its pod; set it to 4"),
        (
            "Radix_Up 2",
            "Radix_Up 2\nOversubscribed 2",
            "tor.oversubscribed = 2, but its ports and speeds make it 1 to 1",
        ),
        ("Radix_Up 2", "Radix_Up 1", "tor.oversubscribed = 1, but its ports and speeds make it 2 to 1"),
    ],
)
def test_a_mistake_names_its_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in TREE
    error = refusal(load, tmp_path, TREE.replace(old, new, 1))
    assert "small.topo" in error
    assert said in error


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"podsize": 5, "nodes": 20}, "podsize = 5 is no whole number of ToRs with 2 hosts"),
        ({"core": None, "agg": tier(2)}, "two tiers make one pod"),
        ({"tor": tier(2, 2, bundle=2)}, "a host has one cable"),
        ({"core": tier(5)}, "core.radix_down = 5, but there are 4 pods"),
        ({"core": tier(4, bundle=2)}, "core.radix_down = 4, but there are 4 pods times a bundle of 2; set it to 8"),
        ({"tor": tier(2, 3), "agg": tier(4, 2, bundle=2)}, "tor.radix_up = 3 makes no whole number of bundles of 2"),
        ({"tor": tier(2, 0)}, "tor.radix_up = 0"),
        ({"core": tier(4, 2)}, "the top tier looks up to nothing"),
    ],
)
def test_numbers_that_make_no_tree_are_refused(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        tree(**changed)
