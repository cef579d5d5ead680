"""HtsimTree: a fat tree in two or three tiers as htsim's `.topo` files state it, tier by tier."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from netsim.errors import InputError
from netsim.topology.blueprint import Override, Topology
from netsim.topology.builder import NetworkBuilder
from netsim.topology.limits import Counts
from netsim.topology.network import Link, Network
from netsim.units import Duration, Rate, Size

LARGEST = 1 << 17  # hosts, and ports of a switch; above the largest clusters that exist


class Tier(BaseModel):
    """The switches of one tier: their ports, the cables below them, their own latency and queues, in htsim's words."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    radix_down: int = Field(ge=1, le=LARGEST, description="ports that look down")
    radix_up: int = Field(default=0, ge=0, le=LARGEST, description="ports that look up; none in the top tier")
    bundle: int = Field(default=1, ge=1, le=LARGEST, description="cables side by side to each switch below")
    downlink_speed: Rate | None = None
    downlink_latency: Duration | None = None
    switch_latency: Duration = 0
    queue_down: Size | None = Field(default=None, gt=0)
    queue_up: Size | None = Field(default=None, gt=0)
    oversubscribed: int | None = Field(default=None, ge=1, description="capacity down over capacity up, to check")


class HtsimTree(Topology):
    """Host h is on ToR h // tor.radix_down and in pod h // podsize; two tiers (no `core`) make one pod.

    Aggregation switch j of a pod is joined to every ToR of its pod and, of A per pod, to the cores j + A * l, each
    time by a bundle of cables; how many switches there are follows from the ports (htsim, FatTreeTopology). A switch's
    latency is spent between arriving and queueing: it is added to the delay of the cables into that switch. Speeds,
    latencies and queues that a tier does not state are the common `rate`, `delay` and `buffer`.
    """

    kind: Literal["htsim"] = "htsim"
    nodes: int = Field(ge=1, le=LARGEST)
    podsize: int = Field(ge=1, le=LARGEST)
    tor: Tier
    agg: Tier
    core: Tier | None = None

    @property
    def pods(self) -> int:
        return self.nodes // self.podsize

    @property
    def aggs_per_pod(self) -> int:
        return self.tor.radix_up // self.agg.bundle

    @property
    def cores(self) -> int:
        return self.aggs_per_pod * (self.agg.radix_up // self.core.bundle) if self.core else 0

    @model_validator(mode="after")
    def _fits_together(self) -> HtsimTree:
        for what, hint in self._mistakes():
            raise InputError(what, hint=hint)
        return self

    def _mistakes(self) -> Iterator[tuple[str, str]]:
        """What keeps the numbers from making a tree, with the mend of each."""
        tors = self.podsize // self.tor.radix_down
        if self.nodes % self.podsize:
            yield f"nodes = {self.nodes} are no whole number of pods of {self.podsize}", "take a multiple of podsize"
        if self.podsize % self.tor.radix_down:
            what = f"podsize = {self.podsize} is no whole number of ToRs with {self.tor.radix_down} hosts"
            yield what, "take a multiple of the tor tier's radix_down"
        if self.core is None and self.pods != 1:
            yield "two tiers make one pod", f"set podsize to nodes = {self.nodes}, or describe a third tier"
        if self.tor.bundle != 1:
            yield "tor.bundle: a host has one cable", "set the lowest tier's bundle to 1"
        yield from self._wrong_radix("agg", self.agg, tors, "ToRs in its pod")
        yield from self._wrong_uplinks("tor", self.tor, self.agg)
        if self.core is not None:
            yield from self._wrong_radix("core", self.core, self.pods, "pods")
            yield from self._wrong_uplinks("agg", self.agg, self.core)
        top = self.agg if self.core is None else self.core
        if top.radix_up or top.queue_up:
            yield "the top tier looks up to nothing", "leave its radix_up and queue_up out"

    def _wrong_radix(self, name: str, tier: Tier, below: int, what: str) -> Iterator[tuple[str, str]]:
        if tier.radix_down != below * tier.bundle:
            needed = f"{below} {what}" + (f" times a bundle of {tier.bundle}" if tier.bundle > 1 else "")
            yield f"{name}.radix_down = {tier.radix_down}, but there are {needed}", f"set it to {below * tier.bundle}"

    def _wrong_uplinks(self, name: str, tier: Tier, above: Tier) -> Iterator[tuple[str, str]]:
        if not tier.radix_up or tier.radix_up % above.bundle:
            what = f"{name}.radix_up = {tier.radix_up} makes no whole number of bundles of {above.bundle}"
            yield what, f"set it to a multiple of {above.bundle}"
            return
        down = tier.radix_down * (tier.downlink_speed or self.rate)
        ratio = Fraction(down, tier.radix_up * (above.downlink_speed or self.rate))
        if tier.oversubscribed is not None and tier.oversubscribed != ratio:
            what = f"{name}.oversubscribed = {tier.oversubscribed}, but its ports and speeds make it {ratio} to 1"
            yield what, "change the one or the other"

    @property
    def counts(self) -> Counts:
        """Hosts, switches and cables."""
        tors, aggs = self.nodes // self.tor.radix_down, self.pods * self.aggs_per_pod
        up = self.nodes // self.podsize * (self.podsize // self.tor.radix_down) * self.aggs_per_pod * self.agg.bundle
        top = self.core.bundle * aggs * (self.agg.radix_up // self.core.bundle) if self.core else 0
        return Counts(self.nodes, tors + aggs + self.cores, self.nodes + up + top)

    def build(self) -> Network:
        """Make the network: hosts, ToRs, aggregation switches, cores, each numbered pod by pod."""
        builder = self.builder()
        tors_per_pod = self.podsize // self.tor.radix_down
        hosts = [builder.host(f"host{h}") for h in range(self.nodes)]
        tor = [builder.switch(f"tor{t}", "tor") for t in range(self.pods * tors_per_pod)]
        agg = [builder.switch(f"agg{a}", "agg") for a in range(self.pods * self.aggs_per_pod)]
        core = [builder.switch(f"core{c}", "core") for c in range(self.cores)]
        for h, host in enumerate(hosts):
            self._connect(builder, host, tor[h // self.tor.radix_down], "tor", self.tor)
        for t, below in enumerate(tor):
            first = t // tors_per_pod * self.aggs_per_pod
            for above in agg[first : first + self.aggs_per_pod]:
                self._connect(builder, below, above, "agg", self.agg)
        for a, below in enumerate(agg):
            for above in core[a % self.aggs_per_pod :: self.aggs_per_pod]:
                self._connect(builder, below, above, "core", self.core or self.agg)
        network = builder.build()
        return replace(network, links=tuple(self._directed(network, link) for link in network.links))

    def _connect(self, builder: NetworkBuilder, below: int, above: int, kind: str, tier: Tier) -> None:
        settings = Override(rate=tier.downlink_speed, delay=tier.downlink_latency)
        for _ in range(tier.bundle):
            builder.connect(below, above, kind=kind, **self.port(settings))

    def _directed(self, network: Network, link: Link) -> Link:
        """The link with what differs up and down: the queue at its tail and the latency of the switch at its head."""
        tiers = {"tor": self.tor, "agg": self.agg, "core": self.core}
        tail, head = tiers.get(network.tier_of(link.source)), tiers.get(network.tier_of(link.target))
        delay_ps = link.delay_ps + (head.switch_latency if head else 0)
        if tail is None:
            return link._replace(delay_ps=delay_ps)
        queue = tail.queue_up if link.source < link.target else tail.queue_down
        return link._replace(delay_ps=delay_ps, buffer_bytes=queue or link.buffer_bytes)
