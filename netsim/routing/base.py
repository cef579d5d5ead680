"""Routing: which links the packets of each connection take; `routes` is common to all, `choose` is what differs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import BaseModel, ConfigDict

from netsim.errors import InputError
from netsim.routing.shortest_paths import AllShortestPaths, Ints, ShortestPaths, shortest_paths_of
from netsim.topology.network import Network

BLOCK = 1 << 19  # connections routed together: bounds the memory


@dataclass(frozen=True, slots=True)
class Routes:
    """Routes in one long column: connection i takes `links[first[i]:first[i + 1]]`, from its source to its target."""

    first: NDArray[np.int64]
    links: Ints

    def __len__(self) -> int:
        return len(self.first) - 1

    def of(self, connection: int) -> tuple[int, ...]:
        """The route of one connection as a tuple of link numbers."""
        return tuple(self.links[self.first[connection] : self.first[connection + 1]].tolist())


@dataclass(frozen=True, slots=True)
class ConnectionBatch:
    """What is to be routed: the hosts `source` and `target` and the `channel`, each i4[n]."""

    source: Ints
    target: Ints
    channel: Ints

    def __len__(self) -> int:
        return len(self.source)

    def some(self, which: slice | NDArray[np.intp]) -> ConnectionBatch:
        """A selection of the connections."""
        return ConnectionBatch(self.source[which], self.target[which], self.channel[which])

    def blocks(self) -> Iterator[ConnectionBatch]:
        """The connections in pieces of bounded size."""
        return (self.some(slice(start, start + BLOCK)) for start in range(0, len(self), BLOCK))


class Routing(BaseModel):
    """Routes on shortest paths: NVLink inside a server, the network between servers.

    With `pxn`, a connection to another rail of another server first takes NVLink to the GPU on the target's rail
    wherever that makes the way through the network shorter ("receive locally, send remotely", NCCL 2.12): a rail
    switch then joins both ends, and the spine is not used.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str = ""
    pxn: bool = True

    @property
    def queue_pairs_per_connection(self) -> int:
        """Over how many queue pairs, each with a route of its own, a connection spreads what it sends."""
        return 1

    @property
    def splits_messages(self) -> bool:
        """Whether each message is split over all queue pairs; else whole messages take them in turn."""
        return False

    @property
    def is_fixed(self) -> bool:
        """Whether all packets from a source to a target on a channel take the route that `routes` gives."""
        return self.queue_pairs_per_connection == 1

    @abstractmethod
    def choose(
        self, seed: int, node: Ints, connections: ConnectionBatch, count: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Which of `count` equally short links each connection takes at `node`: 0 .. count - 1, i8[n]."""

    def routes(self, network: Network, source: ArrayLike, target: ArrayLike, channel: ArrayLike, seed: int) -> Routes:
        """Route connections between hosts (columns of n); a pair that nothing joins raises InputError naming both."""
        wanted = ConnectionBatch(*(np.asarray(column, np.int32) for column in (source, target, channel)))
        _check_hosts(network, wanted)
        tables = [self._table(network, block, seed) for block in wanted.blocks()]
        lengths = [np.count_nonzero(table >= 0, axis=1) for table in tables]
        first = np.concatenate([[0], *lengths]).cumsum().astype(np.int64)
        return Routes(first, np.concatenate([np.zeros(0, np.int32), *(table[table >= 0] for table in tables)]))

    def _table(self, network: Network, block: ConnectionBatch, seed: int) -> Ints:
        """The routes of a block as i4[n, longest], with -1 where a route has no link."""
        planes = shortest_paths_of(network)
        stop = _leave_server_at(network, planes, block, self.pxn)
        joined = planes.out.joins(stop, block.target)
        if not joined.all():
            lost = int(np.argmin(joined))
            ends = network.node_name(int(block.source[lost])), network.node_name(int(block.target[lost]))
            raise InputError(f"nothing joins {ends[0]} and {ends[1]}", where=network.name, hint="add the missing links")
        inside = self._walk(planes.up, block.source, stop, block, seed)
        return np.concatenate([inside, self._walk(planes.out, stop, block.target, block, seed)], axis=1)

    def _walk(self, paths: ShortestPaths, start: Ints, goal: Ints, block: ConnectionBatch, seed: int) -> Ints:
        """Go from `start` to `goal` hop by hop, all connections at once; i4[n, longest]."""
        at = start.copy()
        table = np.full((len(at), paths.longest(start, goal)), -1, np.int32)
        for hop in range(table.shape[1]):
            moving = np.flatnonzero(at != goal)
            first, links, onward, pair = paths.equal_cost_links(at[moving], goal[moving])
            count = (first[1:] - first[:-1])[pair]
            chosen = first[pair] + self.choose(seed, at[moving], block.some(moving), count)
            table[moving, hop] = links[chosen]
            at[moving] = onward[chosen]
        return table


def _leave_server_at(network: Network, planes: AllShortestPaths, block: ConnectionBatch, pxn: bool) -> Ints:
    """The host up to which NVLink is used: the target in the same server, a PXN relay, or the source itself."""
    source, target, server = block.source, block.target, network.server_of
    same = (server[source] == server[target]) & planes.up.joins(source, target)
    stop = np.where(same, target, source)
    if not (pxn and network.has_servers):
        return stop
    relay = _host_at(network)[server[source], network.rail_of[target]]
    able = (relay >= 0) & planes.up.joins(source, relay)
    shorter = planes.out.hops[relay, target] < planes.out.hops[source, target]
    return np.where(~same & able & shorter, relay, stop)


def _host_at(network: Network) -> Ints:
    """The host at [server, rail], or -1."""
    table = np.full((network.server_of.max() + 1, network.rail_of.max() + 1), -1, np.int32)
    table[network.server_of, network.rail_of] = np.arange(len(network.hosts))
    return table


def _check_hosts(network: Network, wanted: ConnectionBatch) -> None:
    hosts = len(network.hosts)
    for ends in (wanted.source, wanted.target):
        if len(ends) and (ends.min() < 0 or ends.max() >= hosts):
            wrong = int(ends.min()) if ends.min() < 0 else int(ends.max())
            raise InputError(f"there is no host {wrong}", where=network.name, hint=f"hosts are 0..{hosts - 1}")
    itself = wanted.source == wanted.target
    if itself.any():
        name = network.node_name(int(wanted.source[np.argmax(itself)]))
        raise InputError(f"{name} cannot send to itself", where=network.name, hint="leave such a connection out")
