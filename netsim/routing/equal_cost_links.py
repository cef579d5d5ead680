"""Candidates: for every switch and host, the equally short links that a switch may choose from per packet."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netsim.routing.shortest_paths import Ints, ShortestPaths, shortest_paths_of
from netsim.topology.network import Network

NONE = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Candidates:
    """Towards host h, switch s (counted from 0) may use links[first[g]:first[g + 1]], in order of number.

    g = group_of[s * hosts + h], NONE where no way leads there; hosts behind the same links share a group.
    """

    group_of: NDArray[np.uint32]
    first: NDArray[np.int64]
    links: Ints


def equal_cost_links_of(network: Network) -> Candidates:
    """The candidates in the network between servers."""
    paths = shortest_paths_of(network).out
    group_of: list[NDArray[np.uint32]] = []
    groups: list[Ints] = []
    for switch in network.switches:
        mine, found = _of(paths, switch.number)
        group_of.append(np.where(mine >= 0, mine + len(groups), NONE).astype(np.uint32))
        groups += found
    first = np.cumsum([0, *(len(group) for group in groups)]).astype(np.int64)
    empty_column, no_links = np.zeros(0, np.uint32), np.zeros(0, np.int32)
    return Candidates(np.concatenate([empty_column, *group_of]), first, np.concatenate([no_links, *groups]))


def _of(paths: ShortestPaths, node: int) -> tuple[NDArray[np.int64], list[Ints]]:
    """Which group each host has at one switch, i8[H] with -1 for none; and the links of each group."""
    mine = slice(int(paths.first[node]), int(paths.first[node + 1]))
    links, target = paths.links[mine], paths.target[mine]
    nearer = paths.hops[target] == paths.hops[node] - 1  # [links, hosts]
    good = nearer & ((target >= paths.hosts)[:, None] | (target[:, None] == np.arange(paths.hosts)))
    if not len(links):
        return np.full(paths.hosts, -1, np.int64), []
    packed = np.packbits(good, axis=0)
    _, where, group = np.unique(packed, axis=1, return_index=True, return_inverse=True)
    some = good[:, where].any(axis=0)
    number = np.where(some, np.cumsum(some) - 1, -1)
    return number[group.reshape(-1)], [links[good[:, host]] for host in where[some].tolist()]
