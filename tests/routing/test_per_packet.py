"""Switches that choose per packet: from what, how evenly, and that nothing changes where there is nothing to choose."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import netsim
from netsim.routing import ROUTINGS, PerPacket
from netsim.routing.equal_cost_links import NONE, equal_cost_links_of
from netsim.topology import FatTree
from tests.inputs import refused
from tests.reference.scenarios.networks import distances
from tests.topology.examples import EXAMPLES
from tests.traffic import flows

PER_PACKET = [name for name, kind in ROUTINGS.items() if issubclass(kind, PerPacket)]
SIZE = 4096 * 64  # bytes
REORDERS = "ignore:.* reorders packets:UserWarning"


@pytest.mark.parametrize("name", EXAMPLES)
def test_candidates_are_all_links_that_come_nearer(name: str) -> None:
    """From any switch any choice of candidates leads to the host, and none leads through another host."""
    network = EXAMPLES[name][0].build()
    hosts, found = len(network.hosts), equal_cost_links_of(network)
    rng = np.random.default_rng(1)
    far = [distances(network, host, outside=True) for host in range(hosts)]
    for switch in network.switches:
        for host in range(hosts):
            group = found.group_of[(switch.number - hosts) * hosts + host]
            if group == NONE:
                assert switch.tier == "nvswitch"
                continue
            node, steps = switch.number, 0
            while node >= hosts:
                group = found.group_of[(node - hosts) * hosts + host]
                links = found.links[found.first[group] : found.first[group + 1]]
                assert all(network.links[link].source == node for link in links)
                assert all(a < b for a, b in pairwise(links))
                node, steps = network.links[int(rng.choice(links))].target, steps + 1
            assert node == host
            assert steps == far[host][switch.number]


def test_a_switch_has_as_many_groups_as_it_has_different_ways() -> None:
    network = FatTree(k=8).build()
    found = equal_cost_links_of(network)
    groups = found.group_of.reshape(len(network.switches), -1)
    assert [len(np.unique(row)) for row in groups[:32]] == [5] * 32  # a ToR: four hosts below, and up
    assert found.first[-1] == len(found.links) == sum(link.source >= 128 for link in network.links)


@pytest.mark.filterwarnings(REORDERS)
@pytest.mark.parametrize("kind", PER_PACKET)
@pytest.mark.parametrize("control", ["none", "window", "dctcp", "dcqcn"])
def test_where_there_is_one_way_all_routings_are_the_same(kind: str, control: str) -> None:
    """Drops, marks and queues to the byte: the switch that goes from event to event is the other one."""
    fabric = {
        "kind": "leaf_spine", "leaves": 2, "spines": 1, "hosts_per_leaf": 6, "buffer": "83200B",
        "ecn": {"kmin": "20KB", "kmax": "60KB", "pmax": 0.5},
    }  # fmt: skip
    pairs = [(s, (s + 6) % 12) for s in range(12)] + [(s, 0) for s in range(1, 6)]
    one, other = (
        netsim.simulate(flows(12, pairs, 300_000), fabric, transport=control, routing=routing)
        for routing in ("single", kind)
    )
    assert one.flows.equals(other.flows)
    assert one.links.equals(other.links)
    assert one.summary["drops"] > 0


def up_packets(routing: Any, **settings: Any) -> tuple[netsim.Result, Any]:
    """Eight hosts of a leaf send to those of another over eight spines: packets by link from the first leaf up."""
    fabric = {"kind": "leaf_spine", "leaves": 2, "spines": 8, "hosts_per_leaf": 8, "buffer": "unlimited"}
    step = flows(16, [(s, s + 8) for s in range(8)], SIZE)
    result = netsim.simulate(step, fabric, transport="none", routing=routing, **settings)
    links = result.links
    return result, links[(links["source"] == "leaf0") & links["target"].str.startswith("spine")]["packets"].to_numpy()


@pytest.mark.filterwarnings(REORDERS)
def test_sprayed_packets_take_all_links_alike() -> None:
    result, packets = up_packets("spray")
    even = packets.mean()
    assert packets.sum() == result.flows["packets"].sum()
    assert ((packets - even) ** 2 / even).sum() < 7 + 4 * np.sqrt(2 * 7)  # chi-square of 8 links


@pytest.mark.filterwarnings(REORDERS)
def test_in_turn_they_take_them_exactly_alike() -> None:
    _, packets = up_packets({"kind": "spray", "order": "round_robin"})
    assert packets.max() - packets.min() <= 1


@pytest.mark.filterwarnings(REORDERS)
def test_adaptive_queues_are_shorter_than_sprayed_ones() -> None:
    longest = {kind: up_packets(kind)[0].links["max_queue_bytes"].max() for kind in ("spray", "adaptive")}
    assert longest["adaptive"] < longest["spray"] / 2


@pytest.mark.filterwarnings(REORDERS)
def test_without_a_pause_a_flowlet_is_the_whole_flow() -> None:
    """Nothing is reordered, so nothing is retransmitted; paths collide as hashed ones do."""
    result, packets = up_packets("flowlet")
    assert result.summary["retransmitted_packets"] == 0
    assert set(packets % 64) == {0}
    assert packets.max() > 64


def test_reordering_under_go_back_n_is_warned_about() -> None:
    with pytest.warns(UserWarning, match="spray reorders packets, which go_back_n takes for losses"):
        up_packets("spray")


def test_another_seed_sprays_otherwise() -> None:
    with pytest.warns(UserWarning, match="reorders"):
        times = {up_packets("spray", seed=seed)[0].summary["completion_time_ps"] for seed in (1, 2, 3)}
    assert len(times) == 3


@pytest.mark.parametrize(
    ("routing", "said"),
    [
        ({"kind": "flowlet", "gap": "0us"}, "no gap at all"),
        ({"kind": "spray", "order": "sideways"}, "order"),
        ({"kind": "ecmp", "queue_pairs": 0}, "queue_pairs"),
        ({"kind": "adaptive", "gap": "1us"}, "gap"),
    ],
)
def test_mistakes_are_one_line(routing: dict[str, Any], said: str) -> None:
    assert said in str(refused(up_packets, routing))
