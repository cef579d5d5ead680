"""FatTree: a folded Clos of equal k-port switches in two or three tiers."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, ValidationInfo, field_validator

from netsim.errors import InputError
from netsim.topology.blueprint import Override, Topology
from netsim.topology.builder import NetworkBuilder
from netsim.topology.limits import Counts
from netsim.topology.network import Network


class FatTree(Topology):
    """A k-ary fat tree (Al-Fares et al., SIGCOMM 2008): k^3/4 hosts in three tiers, k^2/2 in two.

    Host h is on ToR h // (k/2) and ToR t in pod t // (k/2). Aggregation switch j of a pod is joined to every ToR of
    its pod and to the cores j + A * l, where A is the number of aggregation switches per pod: k/2, and the numbering
    of htsim. With an oversubscription of o a ToR has k/2 ports down and k/(2 o) up. In two tiers every ToR is joined
    to every core. `tor`, `agg` and `core` override the settings of the cables just below the switches of that tier.
    """

    kind: Literal["fat_tree"] = "fat_tree"
    k: int = Field(description="ports per switch, even")
    tiers: Literal[2, 3] = 3
    oversubscription: int = Field(default=1, ge=1, description="capacity down over capacity up at the ToR")
    tor: Override = Override()
    agg: Override = Override()
    core: Override = Override()

    @field_validator("k")
    @classmethod
    def _even(cls, k: int) -> int:
        if k < 2 or k % 2:
            raise InputError(f"{k} ports are not half down and half up", hint="take an even k, at least 2")
        return k

    @field_validator("oversubscription")
    @classmethod
    def _whole_ports(cls, oversubscription: int, info: ValidationInfo) -> int:
        ports = info.data.get("k", 0) // 2
        if ports % oversubscription:
            raise InputError(
                f"an oversubscription of {oversubscription} leaves no whole number of the {ports} ports up",
                hint=f"take a divisor of {ports}",
            )
        return oversubscription

    @field_validator("agg")
    @classmethod
    def _has_agg(cls, agg: Override, info: ValidationInfo) -> Override:
        if info.data.get("tiers") == 2 and agg != Override():
            raise InputError("there is no agg tier where tiers = 2", hint="leave agg out, or take tiers = 3")
        return agg

    @property
    def down(self) -> int:
        """Ports of a ToR that look down: its hosts."""
        return self.k // 2

    @property
    def up(self) -> int:
        """Ports of a ToR that look up."""
        return self.down // self.oversubscription

    @property
    def counts(self) -> Counts:
        """Hosts, switches and cables; each tier of cables above the ToRs has the ToRs' ports up, by pod in both."""
        if self.tiers == 2:
            return Counts(self.k * self.down, self.k + self.up, self.k * (self.down + self.up))
        tors, aggs, cores = self.k * self.down, self.k * self.up, self.up * self.down
        return Counts(tors * self.down, tors + aggs + cores, tors * self.down + tors * self.up + aggs * self.down)

    def build(self) -> Network:
        """Make the network: hosts, ToRs, aggregation switches, cores, each numbered pod by pod."""
        builder = self.builder()
        tors = self.k * self.down if self.tiers == 3 else self.k
        hosts = [builder.host(f"host{h}") for h in range(tors * self.down)]
        tor = [builder.switch(f"tor{t}", "tor") for t in range(tors)]
        port = self.port(self.tor)
        for h, host in enumerate(hosts):
            builder.connect(host, tor[h // self.down], kind="tor", **port)
        if self.tiers == 3:
            self._three_tiers(builder, tor)
        else:
            self._two_tiers(builder, tor)
        return builder.build()

    def _two_tiers(self, builder: NetworkBuilder, tor: list[int]) -> None:
        core = [builder.switch(f"core{c}", "core") for c in range(self.up)]
        port = self.port(self.core)
        for below in tor:
            for above in core:
                builder.connect(below, above, kind="core", **port)

    def _three_tiers(self, builder: NetworkBuilder, tor: list[int]) -> None:
        per_pod = self.up
        agg = [builder.switch(f"agg{a}", "agg") for a in range(self.k * per_pod)]
        core = [builder.switch(f"core{c}", "core") for c in range(per_pod * self.down)]
        agg_port, core_port = self.port(self.agg), self.port(self.core)
        for t, below in enumerate(tor):
            pod = t // self.down
            for above in agg[pod * per_pod : (pod + 1) * per_pod]:
                builder.connect(below, above, kind="agg", **agg_port)
        for a, below in enumerate(agg):
            for above in core[a % per_pod :: per_pod]:
                builder.connect(below, above, kind="core", **core_port)
