"""Settings in layers: every document is laid over those below it, key by key, and all in one order.

From the lowest: the defaults of the models; what a built-in topology says (as far as presets go: a suggestion); the
transport's preset; the topology that `base` names; the file, or the arguments of a call; the settings of a study's
point; each `--set`, the last one on top. A preset that a setting names goes before what a file says of the same things.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel

from netsim.config.document import Document, assignment, merged
from netsim.config.sources import find
from netsim.config.topology_file import read_topology
from netsim.config.transports import CONTROL_ALONE, transport_key, with_control
from netsim.errors import InputError
from netsim.topology import Topology
from netsim.transport.presets import PRESETS, Preset

SHORT = {"routing": "kind", "placement": "kind"}  # routing = "spray" means kind = "spray"
DEEPEST_BASE = 8  # files that build on files that build on files


def with_sets(document: Document, sets: Sequence[str]) -> Document:
    """Lay settings as of `--set` over a document, each over those before it."""
    for text in sets:
        if text.startswith(CONTROL_ALONE):
            document = with_control(document, text.removeprefix(CONTROL_ALONE))
            continue
        change = assignment(text)
        topology = change.values.get("topology")
        if isinstance(topology, Mapping) and "base" in topology:
            raise InputError("a base is not changed alone", where=f"--set {text}", hint="write --set topology=NAME")
        document = changed(document, change, Path())
    return document


def changed(document: Document, change: Document, folder: Path) -> Document:
    """Lay one setting over a document that is written out; paths of the setting are relative to `folder`."""
    key, value = next(iter(change.values.items()))
    given = document.values.get(key)
    if isinstance(given, BaseModel) and isinstance(value, Mapping):
        document = _replaced(document, key, _plain(given))
    if key == "transport" and isinstance(value, Mapping) and str(value.get("preset")) in PRESETS:
        document = _without_choices_of(PRESETS[value["preset"]], document)
    return opened(merged(document, change), folder)


def _without_choices_of(preset: Preset, document: Document) -> Document:
    """Make room for a preset that is named later: what a file says of the same things goes.

    A saved run states everything, so there flow control and trimming, which come from presets too, go as well.
    """
    rooms: dict[str, Iterable[str]] = {"transport": preset.transport}
    if Path(document.name).suffix == ".json":
        rooms["topology"] = ("pfc", "trim")
    for room, keys in rooms.items():
        if isinstance(document.values.get(room), Mapping):
            inner = document.inside(room)
            for key in keys:
                inner = inner.without(key)
            document = _replaced(document, room, inner)
    routing = document.values.get("routing")
    is_other = isinstance(routing, Mapping) and routing.get("kind", "") != preset.routing["kind"]
    return document.without("routing") if is_other else document


def opened(document: Document, folder: Path) -> Document:
    """Write out what is short: transport = "none", routing = "spray", and a topology's name or base."""
    transport = document.values.get("transport")
    fields = dict(SHORT)
    if isinstance(transport, str):
        fields["transport"] = transport_key(transport, document.place(("transport",)))
    for key, field in fields.items():
        if isinstance(document.values.get(key), str):
            document = _replaced(document, key, Document({field: document.values[key]}))
    topology = document.values.get("topology")
    if topology is None or isinstance(topology, Topology) or (isinstance(topology, Mapping) and "base" not in topology):
        return document
    whole = topology_document(topology, folder, where=document.place(("topology", "base")))
    if isinstance(topology, Mapping):
        whole = merged(whole, document.inside("topology").without("base"))
    return _replaced(document, "topology", whole)


def _replaced(document: Document, key: str, inner: Document) -> Document:
    at = {keys: place for keys, place in document.places.items() if keys == (key,)}
    rest, below = document.without(key), inner.under(key)
    return Document(rest.values | below.values, rest.places | below.places | at, document.name)


def _plain(model: BaseModel) -> Document:
    """A part that was given as an object, as a table; what nobody set in it stands at no place."""
    values = model.model_dump(mode="json", exclude_none=True)
    return Document(values, {(name,): "" for name in values.keys() - model.model_fields_set})


def topology_document(source: object, folder: Path, where: str = "", depth: int = 0) -> Document:
    """All keys of a topology, those of its base included."""
    if depth > DEEPEST_BASE:
        raise InputError("each base names another base", where=where, hint="let one file state its kind")
    if isinstance(source, str | Path):
        path = find("topologies", source, folder, where)
        document, folder = read_topology(path), path.parent
        own_name = {} if "name" in document.values else {"name": path.stem}
    elif isinstance(source, Topology):
        return _plain(source)
    elif isinstance(source, Mapping):
        document, own_name = Document(dict(source), name=where), {}
    else:
        raise InputError(f"{source!r} is no topology", where=where, hint="give a name, a file or a table")
    if "base" in document.values:
        base = topology_document(document.values["base"], folder, document.place(("base",)), depth + 1)
        document = merged(base, document.without("base"))
    return merged(document, Document(own_name))
