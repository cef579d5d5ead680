"""Topology: the blueprint of a network, typed and frozen, as its TOML file states it; `build()` gives the Network."""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, Any, Literal, TypedDict

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from netsim.errors import InputError
from netsim.queues.disciplines.red import Ecn, Marking
from netsim.queues.disciplines.shared_buffer import Shared
from netsim.queues.disciplines.trim import Trimming
from netsim.queues.table import Queues
from netsim.topology.builder import NetworkBuilder
from netsim.topology.limits import Counts, check_counts
from netsim.topology.network import Network
from netsim.topology.pfc import FlowControl
from netsim.units import Duration, Rate, Size, parse_rate, parse_time

Loss = Annotated[float, Field(ge=0.0, lt=1.0, description="probability that a packet is lost on a wire")]
FULL_PACKET = 4160  # 4096 bytes of payload and a 64-byte header, the default packet


class BlueprintPort(TypedDict):
    """What `NetworkBuilder.connect` wants to know of one cable."""

    rate_bps: int
    delay_ps: int
    buffer_bytes: int
    ecn: Ecn
    loss: float


class Override(BaseModel):
    """Settings of the cables of one tier; what is left out is as the topology says for all."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rate: Rate | None = None
    delay: Duration | None = None
    buffer: Size | None = Field(default=None, gt=0)
    ecn: Marking | None = None
    loss: Loss | None = None


class Topology(BaseModel):
    """The fields every topology has; the defaults are htsim's 100 Gb/s, 1 us links and 100 full packets of buffer."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str = ""
    name: str = ""
    rate: Rate = parse_rate("100Gb/s")
    delay: Duration = parse_time("1us")
    buffer: Size = Field(default=100 * FULL_PACKET, gt=0, description="bytes per switch port, or unlimited")
    ecn: Marking = Ecn()
    control_class: Literal["strict", "shared"] = "strict"
    pfc: FlowControl = None
    trim: Trimming = Field(default=None, description="a data packet without room is cut to its header, not dropped")
    shared_buffer: Shared = Field(default=None, description="size and alpha: one buffer for all ports of a switch")
    queue: Queues = Field(default=Queues(), description="further queue disciplines of switch ports, by name")
    loss: Loss = 0.0

    @model_serializer(mode="wrap")
    def _off_is_said(self, tables: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """What was switched off is written down as off: else a preset fills it in where it is read again."""
        off = {name for name in ("pfc", "trim") if name in self.model_fields_set and getattr(self, name) is None}
        text: dict[str, Any] = tables(self)
        if not text["queue"]:
            del text["queue"]
        return text | dict.fromkeys(off, False)

    @model_validator(mode="after")
    def _headers_have_a_class(self) -> Topology:
        if self.trim and self.control_class != "strict":
            what = "trim = true where control and data share a class: a header would wait behind the data"
            raise InputError(what, hint='set control_class = "strict"')
        return self

    @model_validator(mode="after")
    def _headroom_fits(self) -> Topology:
        if self.pfc and self.pfc.headroom is not None and self.pfc.headroom > self.buffer:
            what = f"pfc.headroom ({self.pfc.headroom} B) is larger than the buffer of a port ({self.buffer} B)"
            raise InputError(what, hint="make the buffer larger or the headroom smaller")
        return self

    @model_validator(mode="after")
    def _not_too_large(self) -> Topology:
        if self.counts is not None:
            check_counts(self.counts)
        return self

    @property
    def counts(self) -> Counts | None:
        """How many hosts, switches and cables `build` will make, in closed form; None leaves it to the builder."""
        return None

    @abstractmethod
    def build(self) -> Network:
        """Make the network this blueprint describes."""

    def builder(self) -> NetworkBuilder:
        """An empty network with its switches' settings."""
        shared = self.shared_buffer
        return NetworkBuilder(
            self.title, self.control_class, self.pfc, trim=self.trim, shared_buffer=shared, queue=self.queue.chosen
        )

    @property
    def title(self) -> str:
        """The name given, else the kind."""
        return self.name or self.kind

    def port(self, own: Override) -> BlueprintPort:
        """The settings of one tier's cables: the common ones, changed where the override says so."""
        rate_bps = self.rate if own.rate is None else own.rate
        ecn = self.ecn if own.ecn is None else own.ecn
        return {
            "rate_bps": rate_bps,
            "delay_ps": self.delay if own.delay is None else own.delay,
            "buffer_bytes": self.buffer if own.buffer is None else own.buffer,
            "ecn": ecn.of_link(rate_bps),
            "loss": self.loss if own.loss is None else own.loss,
        }
