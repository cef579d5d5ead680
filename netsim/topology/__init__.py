"""Topologies: one blueprint per file; `TOPOLOGIES` names them all, and `build()` of each gives a Network."""

from netsim.queues.disciplines.red import NO_ECN, Ecn
from netsim.topology.blueprint import Override, Topology
from netsim.topology.builder import NetworkBuilder
from netsim.topology.fat_tree import FatTree
from netsim.topology.htsim import HtsimTree
from netsim.topology.leaf_spine import LeafSpine
from netsim.topology.network import Host, Link, Network, Switch
from netsim.topology.rail_optimized import RailOptimized

TOPOLOGIES: dict[str, type[Topology]] = {
    "fat_tree": FatTree,
    "leaf_spine": LeafSpine,
    "rail_optimized": RailOptimized,
    "htsim": HtsimTree,
}

__all__ = [
    "TOPOLOGIES",
    "Topology",
    "FatTree",
    "LeafSpine",
    "RailOptimized",
    "HtsimTree",
    "Override",
    "Ecn",
    "NO_ECN",
    "Network",
    "NetworkBuilder",
    "Host",
    "Switch",
    "Link",
]
