"""Ecmp: spreads evenly, by the closed forms of balls in bins, and does not polarise."""

from math import sqrt

import numpy as np
import pytest
from numpy.typing import NDArray

from netsim.routing import Ecmp, Routes
from netsim.topology import FatTree, LeafSpine, Network


def used(network: Network, routes: Routes, tier: str) -> NDArray[np.int64]:
    """How many routes pass each switch of a tier."""
    passed = network.target[routes.links]
    numbers = [switch.number for switch in network.switches if switch.tier == tier]
    return np.bincount(passed, minlength=len(network.hosts) + len(network.switches))[numbers]


def chi_square(counts: NDArray[np.int64]) -> float:
    """Sum of (observed - even)^2 / even."""
    even = float(counts.mean())
    return float(((counts - even) ** 2 / even).sum())


def bound(bins: int) -> float:
    """Mean + 4 standard deviations of chi-square with bins - 1 degrees of freedom."""
    return (bins - 1) + 4 * sqrt(2 * (bins - 1))


def far_pairs(network: Network) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Connections from the first half of the hosts to the second."""
    half = len(network.hosts) // 2
    source, target = np.divmod(np.arange(half * half), half)
    return source, target + half


def test_aggregation_and_core_are_used_evenly() -> None:
    network = FatTree(k=8).build()
    source, target = far_pairs(network)
    routes = Ecmp().routes(network, source, target, np.zeros_like(source), 1)
    cores = used(network, routes, "core")
    assert cores.sum() == len(source)
    assert chi_square(cores) < bound(len(cores))
    ups = network.links[64 * 2 * 2 :]
    assert {link.kind for link in ups} == {"agg", "core"}
    per_link = np.bincount(routes.links, minlength=len(network.links))
    from_agg = [link.number for link in ups if link.kind == "core" and link.source < link.target and link.source < 176]
    assert chi_square(per_link[from_agg]) < bound(len(from_agg))


@pytest.mark.parametrize("column", ["channel", "seed"])
def test_channel_and_seed_change_the_route_and_spread_alike(column: str) -> None:
    network = FatTree(k=8).build()
    draws = np.arange(1600)
    one = np.zeros_like(draws)
    if column == "channel":
        routes = Ecmp().routes(network, one, one + 127, draws, 1)
        cores = used(network, routes, "core")
    else:
        each = [used(network, Ecmp().routes(network, [0], [127], [0], int(seed)), "core") for seed in draws]
        cores = np.sum(each, axis=0)
    assert cores.sum() == 1600
    assert chi_square(cores) < bound(16)


def test_tiers_do_not_polarise() -> None:
    """Connections that one ToR hashed to the same aggregation switch still spread over all of that one's cores."""
    network = FatTree(k=8).build()
    source = np.zeros(4000, np.int32)
    routes = Ecmp().routes(network, source, source + 127, np.arange(4000), 1)
    hops = routes.links.reshape(4000, 6)
    for first_up in np.unique(hops[:, 1]):
        cores = np.unique(hops[hops[:, 1] == first_up, 2], return_counts=True)[1]
        assert len(cores) == 4
        assert chi_square(cores) < bound(4)


@pytest.mark.parametrize(
    ("flows", "paths", "no_collision", "paths_used", "most"),
    [
        (2, 2, 0.5, 1.5, 1.5),
        (4, 4, 0.09375, 2.7344, 2.125),
        (8, 8, 0.002403, 5.2511, 2.5972),
        (32, 8, 0, 7.8885, 7.0478),
    ],
)
def test_collisions_are_those_of_a_uniform_hash(
    flows: int, paths: int, no_collision: float, paths_used: float, most: float
) -> None:
    """n! / ((n - m)! n^m), n (1 - (1 - 1/n)^m) and the mean of the largest load, over 2,000 draws by channel."""
    network = LeafSpine(leaves=2, spines=paths, hosts_per_leaf=flows).build()
    draws, flow = np.divmod(np.arange(2000 * flows), flows)
    routes = Ecmp().routes(network, flow, flow + flows, draws, 3)
    spine = network.target[routes.links.reshape(-1, 4)[:, 1]]
    loads = np.zeros((2000, paths))
    np.add.at(loads, (draws, spine - spine.min()), 1)
    assert (loads.max(axis=1) == 1).mean() == pytest.approx(no_collision, abs=0.035)
    assert (loads > 0).sum(axis=1).mean() == pytest.approx(paths_used, rel=0.02)
    assert loads.max(axis=1).mean() == pytest.approx(most, rel=0.02)


def test_a_million_connections_take_the_links_that_distance_asks_for() -> None:
    network = FatTree(k=16).build()
    source, target = np.divmod(np.arange(1024 * 1024), 1024)
    other = source != target
    routes = Ecmp().routes(network, source[other], target[other], np.zeros(other.sum()), 1)
    assert len(routes) == 1_047_552
    assert len(routes.links) == 1024 * (7 * 2 + 56 * 4 + 960 * 6)
