"""Network: numbered hosts, switches and directed links, as objects to read and as numpy columns to compute with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from netsim.kernel.settings import KernelSettings
from netsim.queues.disciplines.shared_buffer import SharedBuffer
from netsim.queues.disciplines.trim import Trim
from netsim.topology.bisection import bisection_bps
from netsim.topology.pfc import Pfc

if TYPE_CHECKING:
    import networkx as nx

SCALE_UP = "nvlink"  # the kind of the links that stay inside one server


@dataclass(frozen=True, slots=True)
class Host:
    """An end point (a GPU and its ports): `server` is its NVLink domain, `rail` its place inside that server."""

    number: int
    name: str
    server: int
    rail: int


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch of some tier: "tor", "agg", "core", "leaf", "spine", "rail" or "nvswitch"; numbered after all hosts."""

    number: int
    name: str
    tier: str


class Link(NamedTuple):
    """One direction of a cable: an egress queue at `source`, then a wire; the other direction is link `number ^ 1`."""

    number: int
    source: int
    target: int
    kind: str
    rate_bps: int
    delay_ps: int
    buffer_bytes: int
    ecn_kmin_bytes: int
    ecn_kmax_bytes: int
    ecn_pmax: float
    loss: float = 0.0  # probability that a packet is lost on the wire


Number = TypeVar("Number", bound=np.generic)


def _column(table: str, field: str, dtype: type[Number]) -> cached_property[NDArray[Number]]:
    """One field of a network's links or hosts as a column that everybody may share, since nobody can write to it."""

    def read(network: Network) -> NDArray[Number]:
        column = np.fromiter(map(attrgetter(field), getattr(network, table)), dtype)
        column.setflags(write=False)
        return column

    return cached_property(read)


@dataclass(frozen=True, eq=False)
class Network:
    """What a topology builds. Nodes are numbered hosts first (0..H-1), then switches; links come in pairs l, l ^ 1."""

    name: str
    hosts: tuple[Host, ...]
    switches: tuple[Switch, ...]
    links: tuple[Link, ...]
    control_class: str = "strict"
    pfc: Pfc | None = None
    trim: Trim | None = None
    shared_buffer: SharedBuffer | None = None
    queue: Mapping[str, KernelSettings] = field(default_factory=dict)

    @property
    def disciplines(self) -> dict[str, KernelSettings]:
        """The queue disciplines of its switches that have settings, by name."""
        own = {"trim": self.trim, "shared_buffer": self.shared_buffer}
        return {name: settings for name, settings in own.items() if settings} | dict(self.queue)

    # per link
    source = _column("links", "source", np.int32)  # the node it leaves
    target = _column("links", "target", np.int32)  # the node it enters
    rate_bps = _column("links", "rate_bps", np.int64)
    delay_ps = _column("links", "delay_ps", np.int64)  # of propagation
    buffer_bytes = _column("links", "buffer_bytes", np.int64)  # room of its egress queue; UNLIMITED at hosts
    kmin = _column("links", "ecn_kmin_bytes", np.int64)  # a queue marks nothing up to it; UNLIMITED: there is no ECN
    kmax = _column("links", "ecn_kmax_bytes", np.int64)  # a queue marks everything above it
    pmax = _column("links", "ecn_pmax", np.float64)  # probability of a mark just below kmax
    loss = _column("links", "loss", np.float64)  # probability that its wire loses a packet
    # per host
    server_of = _column("hosts", "server", np.int32)
    rail_of = _column("hosts", "rail", np.int32)

    @cached_property
    def kinds(self) -> list[str]:
        """The kind of each link: the tier of the switch at its upper end, or "nvlink"."""
        return [link.kind for link in self.links]

    @cached_property
    def has_servers(self) -> bool:
        """Whether some server holds more than one host."""
        return len(set(self.server_of.tolist())) < len(self.hosts)

    def are_in_one_server(self, source: NDArray[np.int32], target: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Which pairs of hosts NVLink joins, bool[n]."""
        inside: NDArray[np.bool_] = (self.server_of[source] == self.server_of[target]) & (SCALE_UP in self.kinds)
        return inside

    def node_name(self, node: int) -> str:
        """The name of a host or switch."""
        return self._node(node).name

    def link_name(self, link: int) -> str:
        """A link as people read it: "tor0->agg1"."""
        return f"{self.node_name(self.links[link].source)}->{self.node_name(self.links[link].target)}"

    def tier_of(self, node: int) -> str:
        """The tier of a node: "host" or that of the switch."""
        each = self._node(node)
        return each.tier if isinstance(each, Switch) else "host"

    def _node(self, node: int) -> Host | Switch:
        return self.hosts[node] if node < len(self.hosts) else self.switches[node - len(self.hosts)]

    @property
    def graph(self) -> nx.MultiDiGraph[str]:
        """A fresh networkx graph: nodes by name, with their attributes; edges keyed by link number."""
        import networkx as nx  # takes 0.2 s to load, and a simulation needs none of it

        graph: nx.MultiDiGraph[str] = nx.MultiDiGraph(name=self.name)
        for host in self.hosts:
            graph.add_node(host.name, number=host.number, tier="host", server=host.server, rail=host.rail)
        for switch in self.switches:
            graph.add_node(switch.name, number=switch.number, tier=switch.tier)
        for link in self.links:
            ends = self.node_name(link.source), self.node_name(link.target)
            graph.add_edge(*ends, key=link.number, kind=link.kind, rate_bps=link.rate_bps, delay_ps=link.delay_ps)
        return graph

    def bisection_bps(self) -> int:
        """What the lower-numbered half of the hosts can send to the other half at once, in bit/s (a maximum flow)."""
        links = ((link.source, link.target, link.rate_bps) for link in self.links)
        return bisection_bps([host.number for host in self.hosts], links)

    def counts(self) -> dict[str, int]:
        """How many of everything there is; links are counted per direction: hosts, switches, "switches.tor", ..."""
        tiers = Counter(switch.tier for switch in self.switches)
        kinds = Counter(self.kinds)
        found = {"hosts": len(self.hosts)}
        if self.has_servers:
            found["servers"] = len(set(self.server_of.tolist()))
        found["switches"] = len(self.switches)
        found |= {f"switches.{tier}": number for tier, number in tiers.items()}
        found["links"] = len(self.links)
        return found | {f"links.{kind}": number for kind, number in kinds.items()}

    def __repr__(self) -> str:
        return (
            f"Network({self.name!r}, {len(self.hosts)} hosts, {len(self.switches)} switches, {len(self.links)} links)"
        )
