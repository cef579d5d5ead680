"""RailOptimized: servers of GPUs joined by NVLink, and one rail switch for the GPUs of equal place in their servers."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from netsim.errors import InputError
from netsim.queues.disciplines.red import NO_ECN, Marking
from netsim.topology.blueprint import Loss, Override, Topology
from netsim.topology.limits import Counts
from netsim.topology.network import SCALE_UP, Network
from netsim.units import UNLIMITED, Duration, Rate, Size, format_rate, parse_rate, parse_time


class NvLink(Override):
    """The cables between the GPUs and the nvswitch of a server, by default NVLink 4 as in an H100 server.

    It gives a GPU 450 GB/s each way; 300 ns per cable, because two of them and an end point take some hundreds of ns.
    NVLink is flow-controlled by credits and retransmits link by link: unlimited queues that mark nothing and wires that
    lose nothing, whatever the topology's `loss`, stand for that.
    """

    rate: Rate | None = parse_rate("3.6Tb/s")
    delay: Duration | None = parse_time("300ns")
    buffer: Size | None = Field(default=UNLIMITED, gt=0)
    ecn: Marking | None = NO_ECN
    loss: Loss | None = 0.0


class RailOptimized(Topology):
    """GPU g of every server has one NIC to rail switch g, and one NVLink port to its server's nvswitch.

    Host number = server * gpus_per_server + GPU. Each rail is one (logical) switch with a port down per server, and
    one cable to each spine; there are as many spines as the oversubscription asks for: servers * NIC rate over
    (oversubscription * spine rate). `nvlink`, `nic` and `spine` override the settings of those cables; the NICs of an
    H100 server have 400 Gb/s.
    """

    kind: Literal["rail_optimized"] = "rail_optimized"
    servers: int = Field(ge=1)
    gpus_per_server: int = Field(default=8, ge=1)
    oversubscription: int = Field(default=1, ge=1, description="capacity down over capacity up at a rail switch")
    nvlink: NvLink = NvLink()
    nic: Override = Override()
    spine: Override = Override()

    @model_validator(mode="after")
    def _whole_spines(self) -> RailOptimized:
        down = self.servers * self.port(self.nic)["rate_bps"]
        if down % (self.oversubscription * self.port(self.spine)["rate_bps"]):
            raise InputError(
                f"{format_rate(down)} down at an oversubscription of {self.oversubscription} asks for no whole number "
                f"of spine cables at {format_rate(self.port(self.spine)['rate_bps'])}",
                hint="take an oversubscription or a spine rate that divides evenly",
            )
        return self

    @property
    def spines(self) -> int:
        """How many spines there are, each joined to every rail switch once."""
        down = self.servers * self.port(self.nic)["rate_bps"]
        return down // (self.oversubscription * self.port(self.spine)["rate_bps"])

    @property
    def counts(self) -> Counts:
        """Hosts, switches and cables: a host has one to its nvswitch and one to its rail."""
        hosts, rails = self.servers * self.gpus_per_server, self.gpus_per_server
        return Counts(hosts, self.servers + rails + self.spines, 2 * hosts + rails * self.spines)

    def build(self) -> Network:
        """Make the network: GPUs server by server, then nvswitches, rail switches, spines."""
        builder = self.builder()
        hosts = [
            builder.host(f"gpu{server * self.gpus_per_server + rail}", server, rail)
            for server in range(self.servers)
            for rail in range(self.gpus_per_server)
        ]
        nvswitch = [builder.switch(f"nvswitch{s}", "nvswitch") for s in range(self.servers)]
        rails = [builder.switch(f"rail{r}", "rail") for r in range(self.gpus_per_server)]
        spine = [builder.switch(f"spine{s}", "spine") for s in range(self.spines)]
        inside, nic, spine_port = self.port(self.nvlink), self.port(self.nic), self.port(self.spine)
        for number, host in enumerate(hosts):
            server, rail = divmod(number, self.gpus_per_server)
            builder.connect(host, nvswitch[server], kind=SCALE_UP, **inside)
            builder.connect(host, rails[rail], kind="rail", **nic)
        for below in rails:
            for above in spine:
                builder.connect(below, above, kind="spine", **spine_port)
        return builder.build()
