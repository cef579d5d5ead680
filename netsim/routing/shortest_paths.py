"""Shortest paths: over the links that one kind of traffic may use, the distance from every node to every host."""

from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from netsim.errors import InputError
from netsim.topology.network import SCALE_UP, Network

Ints = NDArray[np.int32]
UNREACHED = np.iinfo(np.int16).max
MOST_DISTANCES = 400_000_000  # 1.6 GB in both planes: 16,384 GPUs in servers of eight have 302 million
_CELLS = 1 << 25  # links times hosts handled together: bounds the memory of the search


class ShortestPaths:
    """Some links of a network, sorted by the node they leave.

    `links` i4[M], `target` i4[M] and `first` i8[N+1]: node u's links out are `links[first[u]:first[u + 1]]`, in order
    of number. `hops` i2[N, H]: links on the shortest way from a node to a host over switches only, or UNREACHED.
    """

    def __init__(self, network: Network, links: NDArray[np.intp]) -> None:
        self.hosts = len(network.hosts)
        nodes = self.hosts + len(network.switches)
        source = network.source[links]
        order = np.argsort(source, kind="stable")
        self.links = links[order].astype(np.int32)
        self.target = network.target[self.links]
        self.first = np.searchsorted(source[order], np.arange(nodes + 1))
        sources = np.repeat(np.arange(nodes, dtype=np.int32), np.diff(self.first))
        last = self.target < self.hosts
        attached = self._attached(sources[last], self.target[last])
        sets, set_of = np.unique(attached, axis=0, return_inverse=True)
        self.hops = self._measured(sources[~last], self.target[~last], sets)[:, set_of.reshape(-1)]
        direct = last & (sources < self.hosts)
        self.hops[sources[direct], self.target[direct]] = 1
        np.fill_diagonal(self.hops, 0)

    def _attached(self, sources: Ints, targets: Ints) -> Ints:
        """The switches that a host is reached from, in order, i4[H, most]; hosts with the same are equally far."""
        outside = sources >= self.hosts
        order = np.lexsort((sources[outside], targets[outside]))
        sources, targets = sources[outside][order], targets[outside][order]
        count = np.bincount(targets, minlength=self.hosts)
        switches = np.full((self.hosts, max(1, count.max(initial=1))), -1, np.int32)
        switches[targets, np.arange(len(targets)) - (np.cumsum(count) - count)[targets]] = sources
        return switches

    def _measured(self, sources: Ints, targets: Ints, sets: Ints) -> NDArray[np.int16]:
        """Hops from every node to a host that each set of switches leads to, i2[N, sets]; hosts do not forward."""
        hops = np.full((len(self.first) - 1, len(sets)), UNREACHED, np.int16)
        number, place = np.nonzero(sets >= 0)
        hops[sets[number, place], number] = 1
        nodes, firsts = np.unique(sources, return_index=True)
        columns = max(1, _CELLS // max(1, len(targets)))
        for start in range(0, len(sets) if len(nodes) else 0, columns):
            _search(hops[:, start : start + columns], nodes, targets, firsts)
        return hops

    def joins(self, source: Ints, target: Ints) -> NDArray[np.bool_]:
        """Whether each source reaches its target here (a host reaches itself), bool[n]."""
        joined: NDArray[np.bool_] = self.hops[source, target] < UNREACHED
        return joined

    def longest(self, source: Ints, target: Ints) -> int:
        """Links on the longest of the shortest ways from each source to its target."""
        return int(self.hops[source, target].max(initial=0))

    def equal_cost_links(self, node: Ints, target: Ints) -> tuple[NDArray[np.int64], Ints, Ints, NDArray[np.intp]]:
        """The links out of each node that lie on a shortest way to its target.

        Equal pairs (node, target) share their candidates: those of element i are first[pair[i]]:first[pair[i] + 1],
        in order of number. Gives first, the links, the nodes they lead to, and pair i8[n].
        """
        keys, pair = _distinct(node.astype(np.int64) * self.hosts + target, len(self.hops) * self.hosts)
        node, target = (part.astype(np.int32) for part in np.divmod(keys, self.hosts))
        degree = self.first[node + 1] - self.first[node]
        row = np.repeat(np.arange(len(keys)), degree)
        slot = np.arange(len(row)) + (self.first[node] - np.cumsum(degree) + degree)[row]
        onward, goal = self.target[slot], target[row]
        nearer = self.hops[onward, goal] == self.hops[node, target][row] - 1
        good = nearer & ((onward >= self.hosts) | (onward == goal))
        first = np.concatenate([[0], np.bincount(row[good], minlength=len(keys))]).cumsum()
        return first, self.links[slot[good]], onward[good], pair


def _search(hops: NDArray[np.int16], nodes: Ints, targets: Ints, firsts: NDArray[np.intp]) -> None:
    """Breadth first, backwards along links that are grouped by the node they leave, from where hops is 1."""
    for distance in range(2, UNREACHED):
        near = np.packbits(hops == distance - 1, axis=1)  # eight columns at once
        new = np.bitwise_or.reduceat(near[targets], firsts, axis=0)
        new = np.unpackbits(new, axis=1, count=hops.shape[1]).view(np.bool_) & (hops[nodes] == UNREACHED)
        if not new.any():
            return
        hops[nodes] = np.where(new, np.int16(distance), hops[nodes])


def _distinct(keys: NDArray[np.int64], end: int) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """The different keys (0 .. end - 1) in order, and which of them each is. Marking them all beats sorting many."""
    if end > 8 * len(keys):
        return np.unique(keys, return_inverse=True)
    there = np.zeros(end, np.bool_)
    there[keys] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[keys]


class AllShortestPaths:
    """The two planes of a network: `up` inside servers (NVLink), `out` between them (everything else)."""

    def __init__(self, network: Network) -> None:
        inside = np.array([kind == SCALE_UP for kind in network.kinds], bool)
        self.up = ShortestPaths(network, np.flatnonzero(inside))
        self.out = ShortestPaths(network, np.flatnonzero(~inside))


def check_distances(network: Network) -> None:
    """Refuse a network whose tables of distances would fill the memory, before anything moves in it."""
    hosts, nodes = len(network.hosts), len(network.hosts) + len(network.switches)
    if hosts * nodes > MOST_DISTANCES:
        what = f"{nodes:,} hosts and switches, each with its distance to {hosts:,} hosts, make {hosts * nodes:,}"
        hint = f"routing takes {MOST_DISTANCES:,} at most: leave out hosts that the trace does not use"
        raise InputError(what, where=network.name, hint=hint)


_KNOWN: WeakKeyDictionary[Network, AllShortestPaths] = WeakKeyDictionary()


def shortest_paths_of(network: Network) -> AllShortestPaths:
    """The planes of a network, measured once and remembered as long as the network lives."""
    if network not in _KNOWN:
        check_distances(network)
        _KNOWN[network] = AllShortestPaths(network)
    return _KNOWN[network]
