"""How much one half of the hosts can send to the other half at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import networkx as nx

LEFT, RIGHT = "left", "right"


def bisection_bps(hosts: Sequence[int], links: Iterable[tuple[int, int, int]]) -> int:
    """The maximum flow from the lower-numbered half of the hosts to the others, in bit/s, one direction.

    Halves by number follow how hosts are cabled (neighbours share a switch), so this is the cut that hurts in all
    topologies here; it is not a search over all halves, which nobody can do for large networks. `hosts` are numbers of
    nodes; a link is its source, its target and its rate in bit/s.
    """
    import networkx as nx

    if len(hosts) < 2:
        return 0
    return int(nx.maximum_flow_value(_halves(hosts, links), LEFT, RIGHT))


def _halves(hosts: Sequence[int], links: Iterable[tuple[int, int, int]]) -> nx.DiGraph[int | str]:
    """The network with parallel links added up, a source before the left half and a drain behind the right half."""
    import networkx as nx

    capacity: Counter[tuple[int, int]] = Counter()
    for source, target, rate_bps in links:
        capacity[source, target] += rate_bps
    graph: nx.DiGraph[int | str] = nx.DiGraph()
    graph.add_edges_from((source, target, {"capacity": rate}) for (source, target), rate in capacity.items())
    middle = len(hosts) // 2
    graph.add_edges_from((LEFT, host) for host in hosts[:middle])
    graph.add_edges_from((host, RIGHT) for host in hosts[middle:])
    return graph
