"""Scenario: everything that one run depends on, in one frozen object that can be printed, compared and saved."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, InstanceOf, field_validator, model_validator

from netsim.collectives import ALGORITHMS, check_name, msccl
from netsim.config.builtin_inputs import names, path
from netsim.config.preset_defaults import filled_in, with_preset
from netsim.config.traffic_classes import Classes
from netsim.errors import InputError, nearest, refuse_unknown
from netsim.routing import Ecmp, Routing
from netsim.topology import Topology
from netsim.traces import Trace
from netsim.transport.settings import Transport
from netsim.units import Size, format_size, size_text

LARGEST_PACKET = 1 << 19  # bytes; payload and header, in bits and times ps in a second, stay within 63 binary digits
MOST_CHANNELS = 1 << 10  # NCCL stops at 64
LARGEST_JITTER = 16
LARGEST_SEED = (1 << 63) - 1  # the core holds it as int64

PacketSize = Annotated[Size, Field(gt=0, le=LARGEST_PACKET)]


class Packet(BaseModel):
    """Sizes on the wire, in bytes: a data packet is `payload` (the last one of a message less) + `header`.

    `scale_up_payload` is the payload of connections that stay inside one NVLink domain, which has no network packets:
    pieces of the default size there change times by less than 2 % from those of 4 KiB, and by up to 8 % where many
    channels share a link under windows of few packets (hpcc, dctcp). Larger packets and pieces save time; what they
    change is measured on a part of the run (see simulation/packet_size.py) and said where it is more than that.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    payload: PacketSize = 4096  # the largest InfiniBand and RoCE MTU
    header: Annotated[Size, Field(ge=0, le=LARGEST_PACKET)] = 64
    ack: PacketSize = 64  # the smallest Ethernet frame
    scale_up_payload: PacketSize = 8192


class Nic(BaseModel):
    """What host NICs do beside the transport.

    jitter: how late a data packet may reach the first switch, in units of its own time to send: drawn between 0 and
    this for each, without a loss of rate or order; of the first 128 of a message the n-th has n/128 of it, so that no
    operation alone takes 1 % longer. 1 is what it takes that equal senders do not stay in step (Floyd and
    Jacobson, "On Traffic Phase Effects in Packet-Switched Gateways", 1992), and at 100 to 400 Gb/s as much as the time
    that real NICs need for a packet varies (Neugebauer et al., "Understanding PCIe performance for end host
    networking", SIGCOMM 2018). Presets that model hardware have it; 0, without a preset, is exact.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    jitter: Annotated[float, Field(ge=0, le=LARGEST_JITTER)] = 0.0


class Placement(BaseModel):
    """Which host each rank runs on: `packed` (rank r on host r), `random` (by the seed), `list` (`order`, by rank)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["packed", "random", "list"] = "packed"
    order: tuple[Annotated[int, Field(ge=0)], ...] = ()

    @model_validator(mode="after")
    def _order_of_a_list(self) -> Self:
        if (self.kind == "list") != bool(self.order):
            raise InputError("order goes with kind = 'list', and only with it", hint="write both or neither")
        if len(set(self.order)) < len(self.order):
            twice = next(host for host in self.order if self.order.count(host) > 1)
            raise InputError(f"order names host {twice} twice", hint="each rank needs a host of its own")
        return self

    def hosts(self, ranks: int, hosts: int, seed: int) -> tuple[int, ...]:
        """The host of each of `ranks` ranks on a network of `hosts` hosts; InputError if they do not fit."""
        if ranks > hosts:
            what = f"the trace has {ranks:,} ranks and the network {hosts:,} hosts"
            raise InputError(what, hint="take a larger topology")
        if self.kind == "packed":
            return tuple(range(ranks))
        if self.kind == "random":
            return tuple(sorted(range(hosts), key=lambda host: (_draw(seed, host), host))[:ranks])
        if len(self.order) < ranks or max(self.order) >= hosts:
            what = f"placement.order gives {len(self.order):,} hosts up to {max(self.order):,}"
            raise InputError(what, hint=f"{ranks:,} ranks need {ranks:,} hosts numbered 0 to {hosts - 1:,}")
        return self.order[:ranks]


def _draw(seed: int, host: int) -> bytes:
    """A random text that depends on the seed and the host alone, the same on every machine."""
    return hashlib.blake2b(f"placement {seed} {host}".encode(), digest_size=8).digest()


class Scenario(BaseModel):
    """A trace on a topology under chosen transport, routing, algorithms and placement, with a seed.

    `algorithms` maps an operation to the name of its algorithm (others take their default); `channels` and `chunk`
    (bytes) override what the algorithms choose by themselves. Equal scenarios give equal results to the last byte.
    The transport's preset fills in what is not set of routing and topology.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", ignored_types=(cached_property,))

    trace: InstanceOf[Trace]
    topology: InstanceOf[Topology]
    packet: Packet = Packet()
    nic: Nic = Nic()
    transport: Transport = Transport()
    routing: InstanceOf[Routing] = Field(default_factory=Ecmp)
    algorithms: dict[str, str] = Field(default_factory=dict)
    channels: Annotated[int, Field(ge=1, le=MOST_CHANNELS)] | None = None
    chunk: Annotated[Size, Field(gt=0)] | None = None
    placement: Placement = Placement()
    classes: Classes = Classes()
    seed: Annotated[int, Field(ge=0, le=LARGEST_SEED)] = 1

    @model_validator(mode="before")
    @classmethod
    def _filled_in(cls, given: Any) -> Any:
        return with_preset(given) if isinstance(given, dict) else given

    @field_validator("algorithms")
    @classmethod
    def _known_algorithms(cls, chosen: dict[str, str]) -> dict[str, str]:
        for op, name in chosen.items():
            refuse_unknown("no operation", [op], ALGORITHMS)
            if name not in ALGORITHMS[op] and not msccl.is_file(name):
                raise InputError(f"{op} has no algorithm {name!r}", hint=nearest(name, ALGORITHMS[op]))
            check_name(op, name)
        return chosen

    @model_validator(mode="after")
    def _known_groups(self) -> Self:
        refuse_unknown("classes.by_group: no group", self.classes.by_group, self.trace.groups)
        return self

    def changed(self, **fields: Any) -> Scenario:
        """The same scenario with other fields. Raises InputError for what makes no sense."""
        return Scenario(**{name: getattr(self, name) for name in Scenario.model_fields} | fields)

    def as_tables(self, trace: str) -> dict[str, Any]:
        """The scenario as the nested tables of a scenario file, with `trace` for the name of the trace's file."""
        plain = {name: getattr(self, name) for name in type(self).model_fields if name != "trace"}
        tables = {name: _table(value) if isinstance(value, BaseModel) else value for name, value in plain.items()}
        if self.chunk is not None:
            tables["chunk"] = size_text(self.chunk)
        return {"trace": trace, **{name: value for name, value in tables.items() if value not in (None, {})}}

    def to_toml(self, trace: str = "") -> str:
        """The scenario as a file that `load_scenario` reads back; `trace` is the file's path, by default its source."""
        return _toml(self.as_tables(trace or _source(self.trace)))

    @cached_property
    def _digest(self) -> str:
        tables = self.as_tables(trace=self.trace.digest())
        off = {name for name, value in tables["topology"].items() if value is False}
        for name in {"name", *off}:  # what a fabric is called changes nothing, nor that it says of what it has not,
            tables["topology"].pop(name, None)
        tables["transport"].pop("preset", None)  # nor where a setting came from
        files = {name: msccl.digest(name) for name in sorted(self._algorithm_files())}
        if files:  # what is in a file counts, not where it lies
            chosen = {op: files.get(name, name) for op, name in self.algorithms.items()}
            tables |= {"algorithms": chosen, "algorithm_files": sorted(files.values())}
        content = json.dumps(tables, sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()

    def _algorithm_files(self) -> set[str]:
        named = {each.algorithm for each in self.trace.operations if each.algorithm} | set(self.algorithms.values())
        return {name for name in named if msccl.is_file(name)}

    def digest(self) -> str:
        """SHA-256 of all content (hex): two scenarios with the same digest give the same result."""
        return self._digest

    def __hash__(self) -> int:
        return int(self.digest()[:15], 16)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self.digest() == other.digest()

    def __str__(self) -> str:
        choices = f"{self.transport.control} + {self.transport.recovery}, {self.routing.kind}, {self.placement.kind}"
        return f"{self.trace.name} on {self.topology.title}, {choices}, seed {self.seed}"

    def describe(self) -> str:
        """Say in a few lines what the run consists of."""
        algorithms = ", ".join(f"{op} = {name}" for op, name in self.algorithms.items()) or "each operation's default"
        packet = f"{format_size(self.packet.payload)} payload + {self.packet.header} B header, ACK {self.packet.ack} B"
        lines = {
            "trace": f"{self.trace.name}: {self.trace.ranks:,} ranks, {len(self.trace.operations):,} operations",
            "topology": self.topology.title,
            "transport": f"{self.transport.control}, {self.transport.recovery}",
            "preset": filled_in(self.transport, self.routing, self.topology, self.nic),
            "routing": f"{self.routing.kind}, ranks {self.placement.kind}",
            "algorithms": algorithms,
            "packet": packet,
            "seed": str(self.seed),
        }
        return "\n".join(f"{name:<10}  {text}" for name, text in lines.items() if text)


def _source(trace: Trace) -> str:
    """Where a trace can be read again: a built-in one by its name, on every machine."""
    is_shipped = trace.name in names("traces") and trace.source == str(path("traces", trace.name))
    return trace.name if is_shipped or not trace.source else trace.source


def _table(part: BaseModel) -> dict[str, Any]:
    """A part as a table of a file: units written out, nothing that is not set."""
    tables: dict[str, Any] = part.model_dump(mode="json", exclude_none=True)
    return {name: value for name, value in tables.items() if value not in ({}, [])}


def _toml(values: Mapping[str, Any], table: tuple[str, ...] = ()) -> str:
    """Write nested tables of texts, numbers, truths and lists as TOML; a None is left out."""
    plain = {key: value for key, value in values.items() if value is not None and not isinstance(value, Mapping)}
    lines = [f"{_key(key)} = {_written(value)}" for key, value in plain.items()]
    text = "".join(f"{line}\n" for line in lines)
    if table and (plain or not values):
        text = f"[{'.'.join(map(_key, table))}]\n{text}"
    inner = [_toml(value, (*table, key)) for key, value in values.items() if isinstance(value, Mapping)]
    return "\n".join(part for part in [text, *inner] if part)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _written(key)


def _written(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_written, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
