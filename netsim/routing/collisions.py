"""How badly hashing spreads flows over equal paths: exactly, by counting; and as Ecmp really does it."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
from numpy.typing import NDArray

from netsim.routing.ecmp import Ecmp
from netsim.topology.leaf_spine import LeafSpine


def expected_largest(flows: int, paths: int) -> float:
    """The mean of the largest number of flows on one path when each takes one of `paths` at random.

    8 flows on 8 paths: 2.597. Of all paths^flows ways to place them, flows! [x^flows] (sum_(j <= k) x^j / j!)^paths put
    at most k on any path; the mean is the sum over k of the chance of more.
    """
    return float(sum(1 - Fraction(_ways(flows, paths, most), paths**flows) for most in range(flows)))


def _ways(flows: int, paths: int, most: int) -> int:
    """In how many ways `flows` different flows fit on `paths` paths with at most `most` on each."""
    ways = [1] + [0] * flows  # by flows placed so far
    for _ in range(paths):
        ways = [sum(comb(n, j) * ways[n - j] for j in range(min(n, most) + 1)) for n in range(flows + 1)]
    return ways[flows]


def expected_slowdown(flows: int, paths: int, queue_pairs: int = 1) -> float:
    """How much longer a step takes than on even paths, if all its equal flows must end and the fullest path is last.

    8 flows on 8 paths with 1, 2, 4, 8 queue pairs each: 2.60, 2.10, 1.76, 1.53.
    """
    return expected_largest(flows * queue_pairs, paths) * paths / (flows * queue_pairs)


def slowdowns(flows: int, paths: int, queue_pairs: int = 1, *, draws: int = 2000, seed: int = 1) -> NDArray[np.float64]:
    """The same as Ecmp's hash gives it, f8[draws]: flows from one leaf to another over `paths` spines, other channels.

    Compare its mean with `expected_slowdown`; the statistical error is its deviation over the root of `draws`.
    """
    network = LeafSpine(leaves=2, spines=paths, hosts_per_leaf=flows).build()
    draw, pair = np.divmod(np.arange(draws * flows * queue_pairs), flows * queue_pairs)
    flow, number = np.divmod(pair, queue_pairs)
    routes = Ecmp().routes(network, flow, flow + flows, draw * queue_pairs + number, seed)
    spine = network.target[routes.links.reshape(-1, 4)[:, 1]]
    loads = np.zeros((draws, paths), np.int64)
    np.add.at(loads, (draw, spine - spine.min()), 1)
    largest: NDArray[np.float64] = loads.max(axis=1) * (paths / (flows * queue_pairs))
    return largest
