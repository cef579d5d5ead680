"""Collisions of hashed flows: the closed form, Ecmp's hash against it, and a fabric as slow as its hash says."""

from math import sqrt

import numpy as np
import pytest

from netsim.routing.collisions import expected_largest, expected_slowdown, slowdowns
from netsim.routing.ecmp import Ecmp
from netsim.topology.fat_tree import FatTree
from netsim.topology.network import Network
from tests.routing.test_per_packet import SIZE, up_packets

LARGEST = {(2, 2): 1.5, (4, 4): 2.125, (8, 8): 2.5972, (16, 8): 4.2014, (32, 8): 7.0478, (64, 8): 12.2353}
QUEUE_PAIRS = {1: 2.60, 2: 2.10, 4: 1.76, 8: 1.53}  # slowdown of 8 flows on 8 paths


@pytest.mark.parametrize(("balls", "paths"), LARGEST)
def test_the_mean_of_the_largest_load(balls: int, paths: int) -> None:
    assert expected_largest(balls, paths) == pytest.approx(LARGEST[balls, paths], abs=5e-5)


@pytest.mark.parametrize("pairs", QUEUE_PAIRS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_hash_is_as_good_as_chance(pairs: int, seed: int) -> None:
    """More queue pairs even out what hashing does: within four times the statistical error of 3000 draws."""
    drawn = slowdowns(8, 8, pairs, draws=3000, seed=seed)
    error = drawn.std() / sqrt(len(drawn))
    assert expected_slowdown(8, 8, pairs) == pytest.approx(QUEUE_PAIRS[pairs], abs=0.005)
    assert abs(drawn.mean() - expected_slowdown(8, 8, pairs)) < 4 * error < 0.06


FULL_PACKET = 4160 * 80  # ps at 100 Gb/s


@pytest.mark.parametrize("pairs", QUEUE_PAIRS)
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_a_step_takes_as_long_as_its_fullest_path(pairs: int, seed: int) -> None:
    """Eight hosts of a leaf send to those of another over eight spines: the fullest path sends without a pause."""
    result, _ = up_packets({"kind": "ecmp", "queue_pairs": pairs, "spread": "split"}, seed=seed)
    network = result.scenario.topology.build()
    source, pair = np.divmod(np.arange(8 * pairs), pairs)
    routes = Ecmp().routes(network, source, source + 8, pair, seed)
    fullest = int(np.bincount(routes.links.reshape(-1, 4)[:, 1]).max())
    least = fullest * (64 // pairs) * FULL_PACKET
    took = result.collectives["time_ps"][0] - 4 * 10**6  # four links
    assert least <= took <= least + (fullest + 4) * FULL_PACKET
    assert len(result.flows) == 8
    assert (result.flows["bytes"] == SIZE).all()
    assert result.flows["packets"].sum() == 8 * 64


class Polarised(Ecmp):
    """One hash for all switches, as without salts."""

    def choose(self, seed, node, connections, count):  # type: ignore[no-untyped-def]
        """What node 0 would choose."""
        return super().choose(seed, node * 0, connections, count)


def cores_used(network: Network, routing: Ecmp) -> int:
    """How many links from aggregation switches up to cores carry some of many connections across the fabric."""
    source = np.arange(64).repeat(40)
    routes = routing.routes(network, source, source + 64, np.tile(np.arange(40), 64), 1)
    return len(np.unique(routes.links.reshape(-1, 6)[:, 2]))


def test_with_the_same_salt_in_all_tiers_only_a_fraction_of_the_upper_links_is_used() -> None:
    """k = 8: each ToR has 4 links up, and so has each aggregation switch: 16 per pod, of which 4 are left."""
    network = FatTree(k=8).build()
    assert cores_used(network, Ecmp()) == 4 * 16
    assert cores_used(network, Polarised()) == 4 * 4
