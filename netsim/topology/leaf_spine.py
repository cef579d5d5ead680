"""LeafSpine: two tiers, every leaf joined to every spine."""

from fractions import Fraction
from typing import Literal

from pydantic import Field

from netsim.topology.blueprint import Override, Topology
from netsim.topology.limits import Counts
from netsim.topology.network import Network


class LeafSpine(Topology):
    """Leaves with `hosts_per_leaf` hosts each and one cable to every spine; host h is on leaf h // hosts_per_leaf.

    `leaf` overrides the settings of the hosts' cables, `spine` those between leaves and spines. How far the leaves
    are oversubscribed follows from the numbers: see the property `oversubscription`.
    """

    kind: Literal["leaf_spine"] = "leaf_spine"
    leaves: int = Field(ge=1)
    spines: int = Field(ge=1)
    hosts_per_leaf: int = Field(ge=1)
    leaf: Override = Override()
    spine: Override = Override()

    @property
    def oversubscription(self) -> Fraction:
        """Capacity of a leaf's hosts over the capacity of its cables up: 4 means "4 to 1"."""
        down = self.hosts_per_leaf * self.port(self.leaf)["rate_bps"]
        return Fraction(down, self.spines * self.port(self.spine)["rate_bps"])

    @property
    def counts(self) -> Counts:
        """Hosts, switches and cables."""
        hosts = self.leaves * self.hosts_per_leaf
        return Counts(hosts, self.leaves + self.spines, hosts + self.leaves * self.spines)

    def build(self) -> Network:
        """Make the network: hosts, leaves, spines."""
        builder = self.builder()
        hosts = [builder.host(f"host{h}") for h in range(self.leaves * self.hosts_per_leaf)]
        leaf = [builder.switch(f"leaf{i}", "leaf") for i in range(self.leaves)]
        spine = [builder.switch(f"spine{i}", "spine") for i in range(self.spines)]
        leaf_port, spine_port = self.port(self.leaf), self.port(self.spine)
        for h, host in enumerate(hosts):
            builder.connect(host, leaf[h // self.hosts_per_leaf], kind="leaf", **leaf_port)
        for below in leaf:
            for above in spine:
                builder.connect(below, above, kind="spine", **spine_port)
        return builder.build()
