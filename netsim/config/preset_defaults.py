"""How a transport's preset reaches the rest of a scenario: it fills in what nobody has set of routing, topology, NICs.

What counts as set: every key that a user's file, table, object or `--set` states. What a built-in topology says is a
suggestion, before which a preset goes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from netsim.errors import InputError
from netsim.queues.disciplines.red import Ecn
from netsim.queues.disciplines.shared_buffer import Shared
from netsim.routing import ROUTINGS, Routing
from netsim.topology import Topology
from netsim.transport.presets import DEFAULT_PRESET, KMAX, PORT_BUFFER, PRESETS, Preset, preset_named_by
from netsim.transport.settings import Transport
from netsim.units import UNLIMITED, Rate, Size, parse_size

Part = TypeVar("Part", bound=BaseModel)

RESUME = 0.8  # of xoff, where ports share a buffer: 12 of 15 packets in htsim's RoCE model


def preset_of(transport: object) -> Preset | None:
    """The preset that a scenario's transport starts from, as far as it is known."""
    if isinstance(transport, Transport):
        name = transport.preset
    else:
        name = preset_named_by(dict(transport)) if isinstance(transport, Mapping) else DEFAULT_PRESET
    return PRESETS.get(str(name))


def with_preset(given: dict[str, Any]) -> dict[str, Any]:
    """The fields of a scenario with what its preset fills in of the objects among them."""
    preset = preset_of(given.get("transport"))
    topology, routing, nic = given.get("topology"), given.get("routing"), given.get("nic", {})
    if preset is None or not isinstance(topology, Topology) or not isinstance(routing, Routing | None):
        return given  # a mistake, of which others tell
    nic = nic.model_dump(exclude_unset=True) if isinstance(nic, BaseModel) else nic
    return given | {
        "topology": _filled_object(topology, preset),
        "routing": _filled_object(routing or ROUTINGS[preset.routing["kind"]](), preset),
        "nic": preset.nic | nic if isinstance(nic, dict) else nic,
    }


def filled(
    model: type[BaseModel], table: dict[str, Any], weak: Collection[str], preset: Preset | None
) -> dict[str, Any]:
    """The table of a topology or a routing over what a preset says of it; only the `weak` keys go below that."""
    if preset is None:
        return table
    requests = preset.routing if issubclass(model, Routing) else _topology_requests(model, table, weak, preset)
    if "kind" in requests and table.get("kind", requests["kind"]) != requests["kind"]:
        return table  # another routing
    return table | {name: request for name, request in requests.items() if name not in table or name in weak}


def _filled_object(part: Part, preset: Preset) -> Part:
    plain = part.model_dump(mode="json", exclude_none=True)
    values = filled(type(part), plain, plain.keys() - part.model_fields_set, preset)
    return part if values == plain else _remade(part, values)


def _topology_requests(
    model: type[BaseModel], table: dict[str, Any], weak: Collection[str], preset: Preset
) -> dict[str, Any]:
    """What a preset wants of the topology of a table; nothing of one that has mistakes, of which others tell."""
    rate, buffer = (table.get(name, model.model_fields[name].default) for name in ("rate", "buffer"))
    is_set = "buffer" in table and "buffer" not in weak
    try:
        return dict(_wishes(PORTS.validate_python((rate, buffer, table.get("shared_buffer"), is_set)), preset))
    except ValidationError:
        return {}


class Ports(NamedTuple):
    """What of a topology decides what a preset wants of it."""

    rate: Rate
    buffer: Size
    shared_buffer: Shared
    sets_buffer: bool  # a user's own, which no preset changes


PORTS = TypeAdapter(Ports)


def _wishes(ports: Ports, preset: Preset) -> Iterator[tuple[str, Any]]:
    """What a preset wants of a topology; ports without a limit need no flow control."""
    ecn, room = preset.topology.get("ecn"), preset.topology.get("buffer")
    kmax = Ecn.model_validate(ecn).of_link(ports.rate).kmax if isinstance(ecn, dict) and room else 0
    is_set = ports.sets_buffer or not kmax
    buffer = ports.buffer if is_set else kmax if room == KMAX else parse_size(str(room))
    for name, request in preset.topology.items():
        if request == KMAX:
            yield name, kmax
        elif name == "ecn" and buffer < kmax:  # marks come before the pauses of a smaller buffer, too
            yield name, request | {key: parse_size(request[key]) * buffer // kmax for key in ("kmin", "kmax")}
        elif request != PORT_BUFFER:
            yield name, request
        elif ports.shared_buffer:  # its thresholds move, below those of a port
            yield name, {"xoff": buffer, "xon": round(buffer * RESUME)}
        elif buffer < UNLIMITED:
            yield name, {"xoff": "unlimited", "xon": "unlimited"}


def _remade(part: Part, values: dict[str, Any]) -> Part:
    try:
        return type(part).model_validate(values)
    except ValidationError as error:
        cause = error.errors()[0].get("ctx", {}).get("error")
        what, hint = (cause.what, cause.hint) if isinstance(cause, InputError) else (error.errors()[0]["msg"], "")
        raise does_not_go(what, hint) from None


def does_not_go(what: str, hint: str) -> InputError:
    """The error for a preset and settings that contradict each other."""
    return InputError(f"the transport's preset does not go with it: {what}", hint=hint)


def filled_in(transport: Transport, routing: Routing, topology: Topology, nic: BaseModel) -> str:
    """What a preset stands behind in a scenario, and what was set otherwise, in a line; "" without a preset."""
    preset = PRESETS.get(str(transport.preset))
    if preset is None:
        return ""
    ports = Ports(topology.rate, topology.buffer, topology.shared_buffer, "buffer" in topology.model_fields_set)
    parts = [("transport", transport, preset.transport), ("routing", routing, preset.routing)]
    parts += [("topology", topology, dict(_wishes(ports, preset))), ("nic", nic, preset.nic)]
    kept: list[str] = []
    other: list[str] = []
    for room, part, requests in parts:
        plain = part.model_dump(mode="json", exclude_none=True)
        is_other = room == "routing" and routing.kind != preset.routing["kind"]
        wished = part if is_other else _remade(part, plain | requests)
        for name, request in requests.items():
            is_kept = getattr(wished, name, request) == getattr(part, name, None)
            (kept if is_kept else other).append(f"{room}.{name} = {_shown(request)}")
    text = f"{transport.preset}: {', '.join(kept)}"
    return text + (f"; set otherwise: {', '.join(each.partition(' =')[0] for each in other)}" if other else "")


def _shown(request: Any) -> str:
    if isinstance(request, dict):
        return "{ " + ", ".join(f"{key} = {value}" for key, value in request.items()) + " }"
    return str(request).lower() if isinstance(request, bool) else str(request)
