"""How a transport's preset reaches the rest of a scenario: it fills in what nobody has set of routing, topology, NICs.

It happens at one place, when a Scenario is made. What counts as set: every key that a user's file, table, object or
`--set` states. The congestion fields of a shipped topology count as suggestions (`netsim.config` strikes them off the
fields set), so that a preset goes before them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from netsim.errors import InputError
from netsim.routing import ROUTINGS, Routing
from netsim.topology import Topology
from netsim.topology.ecn import Ecn
from netsim.transport.presets import DEFAULT_PRESET, KMAX, PORT_BUFFER, PRESETS, Preset, preset_named_by
from netsim.transport.settings import Transport
from netsim.units import UNLIMITED, parse_size

Part = TypeVar("Part", bound=BaseModel)

SUGGESTED = ("buffer", "ecn", "pfc", "trim")  # fields of a shipped topology before which a preset goes
RESUME = 0.8  # of xoff, where ports share a buffer: 12 of 15 packets in htsim's RoCE model


def preset_of(transport: object) -> Preset | None:
    """The preset that a scenario's transport starts from, as far as it is known."""
    if isinstance(transport, Transport):
        name = transport.preset
    else:
        name = preset_named_by(dict(transport)) if isinstance(transport, Mapping) else DEFAULT_PRESET
    return PRESETS.get(str(name))


def with_preset(given: dict[str, Any]) -> dict[str, Any]:
    """The fields of a scenario with what its preset fills in of routing and topology."""
    preset = preset_of(given.get("transport"))
    topology, routing = given.get("topology"), given.get("routing")
    if preset is None or not isinstance(topology, Topology) or not isinstance(routing, Routing | None):
        return given  # a mistake, of which others tell
    return given | {
        "topology": _topology_under(topology, preset),
        "routing": _routing_under(routing, preset),
        "nic": _nic_under(given.get("nic", {}), preset),
    }


def routing_kind(transport: object) -> str:
    """The kind of routing where a scenario names none."""
    preset = preset_of(transport)
    return preset.routing["kind"] if preset else "ecmp"


def _topology_under(topology: Topology, preset: Preset) -> Topology:
    requests = {name: request for name, request in _wishes(topology, preset) if name not in topology.model_fields_set}
    return _changed(topology, requests) if requests else topology


def _routing_under(routing: Routing | None, preset: Preset) -> Routing:
    if routing is None:
        return ROUTINGS[preset.routing["kind"]](**preset.routing)
    if routing.kind != preset.routing["kind"]:
        return routing
    return _changed(
        routing, {key: request for key, request in preset.routing.items() if key not in routing.model_fields_set}
    )


def _nic_under(nic: Any, preset: Preset) -> Any:
    if isinstance(nic, BaseModel):
        nic = nic.model_dump(exclude_unset=True)
    return preset.nic | nic if isinstance(nic, dict) else nic


def _wishes(topology: Topology, preset: Preset) -> Iterator[tuple[str, Any]]:
    """What a preset wants of a topology; ports without a limit need no flow control."""
    ecn, room = preset.topology.get("ecn"), preset.topology.get("buffer")
    kmax = Ecn.model_validate(ecn).of_link(topology.rate).kmax if isinstance(ecn, dict) and room else 0
    is_set = "buffer" in topology.model_fields_set or not kmax
    buffer = topology.buffer if is_set else kmax if room == KMAX else parse_size(str(room))
    for name, request in preset.topology.items():
        if request == KMAX:
            yield name, kmax
        elif name == "ecn" and buffer < kmax:  # marks come before the pauses of a smaller buffer, too
            yield name, request | {key: parse_size(request[key]) * buffer // kmax for key in ("kmin", "kmax")}
        elif request != PORT_BUFFER:
            yield name, request
        elif topology.shared_buffer:  # its thresholds move, below those of a port
            yield name, {"xoff": buffer, "xon": round(buffer * RESUME)}
        elif buffer < UNLIMITED:
            yield name, {"xoff": "unlimited", "xon": "unlimited"}


def _changed(part: Part, changes: dict[str, Any]) -> Part:
    try:
        return type(part).model_validate(part.model_dump(mode="json", exclude_none=True) | changes)
    except ValidationError as error:
        cause = error.errors()[0].get("ctx", {}).get("error")
        what, hint = (cause.what, cause.hint) if isinstance(cause, InputError) else (error.errors()[0]["msg"], "")
        raise InputError(f"the transport's preset does not go with it: {what}", hint=hint) from None


def filled_in(transport: Transport, routing: Routing, topology: Topology, nic: BaseModel) -> str:
    """What a preset stands behind in a scenario, and what was set otherwise, in a line; "" without a preset."""
    preset = PRESETS.get(str(transport.preset))
    if preset is None:
        return ""
    parts = [("transport", transport, preset.transport), ("routing", routing, preset.routing)]
    parts += [("topology", topology, dict(_wishes(topology, preset))), ("nic", nic, preset.nic)]
    kept: list[str] = []
    other: list[str] = []
    for room, part, requests in parts:
        wished = _changed(part, requests) if room != "routing" or routing.kind == preset.routing["kind"] else part
        for name, request in requests.items():
            is_kept = getattr(wished, name, request) == getattr(part, name, None)
            (kept if is_kept else other).append(f"{room}.{name} = {_shown(request)}")
    text = f"{transport.preset}: {', '.join(kept)}"
    return text + (f"; set otherwise: {', '.join(each.partition(' =')[0] for each in other)}" if other else "")


def _shown(request: Any) -> str:
    if isinstance(request, dict):
        return "{ " + ", ".join(f"{key} = {value}" for key, value in request.items()) + " }"
    return str(request).lower() if isinstance(request, bool) else str(request)
