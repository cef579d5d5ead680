"""How much one half of the hosts can send to the other half at once."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from netsim.topology.network import Network

if TYPE_CHECKING:
    import networkx as nx

LEFT, RIGHT = "left", "right"


def bisection_bps(network: Network) -> int:
    """The maximum flow from the lower-numbered half of the hosts to the others, in bit/s, one direction.

    Halves by number follow how hosts are cabled (neighbours share a switch), so this is the cut that hurts in all
    topologies here; it is not a search over all halves, which nobody can do for large networks.
    """
    import networkx as nx

    if len(network.hosts) < 2:
        return 0
    return int(nx.maximum_flow_value(_halves(network), LEFT, RIGHT))


def _halves(network: Network) -> nx.DiGraph[int | str]:
    """The network with parallel links added up, a source before the left half and a drain behind the right half."""
    import networkx as nx

    capacity: Counter[tuple[int, int]] = Counter()
    for link in network.links:
        capacity[link.source, link.target] += link.rate_bps
    graph: nx.DiGraph[int | str] = nx.DiGraph()
    graph.add_edges_from((source, target, {"capacity": rate}) for (source, target), rate in capacity.items())
    middle = len(network.hosts) // 2
    graph.add_edges_from((LEFT, host.number) for host in network.hosts[:middle])
    graph.add_edges_from((host.number, RIGHT) for host in network.hosts[middle:])
    return graph
