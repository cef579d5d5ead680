"""The longest round trip of an idle network: uet-htsim's, by hand, and against a walk over every shortest way."""

from collections.abc import Callable

import pytest

from netsim.routing.longest import longest_round_trip_ps
from netsim.topology import FatTree, LeafSpine, Override
from netsim.topology.network import Network
from tests.reference.scenarios.networks import leaves, line, longest_round_trip, loop, rails, star

NETWORKS: dict[str, Callable[[], Network]] = {
    "star": lambda: star(5, delays_ns=(1000, 300, 70)),
    "pair": lambda: star(2, delays_ns=(0, 9000)),
    "line": lambda: line(5, gigabits=(100, 40, 600)),
    "leaves": lambda: leaves(3, 2, 3, delays_ns=(500, 4000)),
    "loop": lambda: loop(7),
    "rails": lambda: rails(3, 2),
    "fat_tree": lambda: FatTree(k=4).build(),
    "slow_spines": lambda: LeafSpine(leaves=3, spines=2, hosts_per_leaf=2, spine=Override(rate="25Gb/s")).build(),
}


def test_of_a_fat_tree_it_is_uet_htsims() -> None:
    """k-ary, three tiers, 1 us, 100 Gb/s: 12 us and six times a packet and an ACK: 14.02272 us."""
    for k in (4, 8):
        assert longest_round_trip_ps(FatTree(k=k).build(), 4150, 64) == 14_022_720


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("sizes", [(4150, 64), (9001, 83)])
def test_it_is_that_of_a_walk_over_every_shortest_way(name: str, sizes: tuple[int, int]) -> None:
    network = NETWORKS[name]()
    assert longest_round_trip_ps(network, *sizes) == longest_round_trip(network, *sizes) > 0


def test_one_host_alone_has_none() -> None:
    assert longest_round_trip_ps(star(1), 4150, 64) == 0
