"""From one document, in which all layers are, to typed objects: each part is validated once, its preset included."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from netsim.config import builtin_inputs
from netsim.config.document import Document, Keys
from netsim.config.preset_defaults import does_not_go, filled, preset_of
from netsim.config.scenario import Scenario
from netsim.config.sources import find
from netsim.config.validation_errors import Model, dotted, validated
from netsim.errors import InputError, nearest
from netsim.routing import ROUTINGS
from netsim.topology import TOPOLOGIES, Topology
from netsim.traces import Trace, read
from netsim.transport.presets import Preset


def scenario_of(document: Document, folder: Path) -> Scenario:
    """The scenario that a document states; paths in it are relative to `folder`. Raises InputError."""
    document.refuse_unknown(Scenario.model_fields)
    values: dict[str, Any] = dict(document.values)
    for key, example in {"trace": 'trace = "perm16"', "topology": 'topology = "fat_tree_k4_100g"'}.items():
        if key not in values:
            raise InputError(f"no {key}", where=document.name, hint=f"add {example}")
    preset = preset_of(values.get("transport", {}))
    if isinstance(values["topology"], Mapping):
        values["topology"] = topology_of(document.inside("topology"), ("topology",), preset)
    if isinstance(values.get("routing"), Mapping):
        routing, default = document.inside("routing"), preset.routing["kind"] if preset else "ecmp"
        model = _kind(routing, ROUTINGS, default, ("routing",))
        values["routing"] = _part(model, routing, ("routing",), preset)
    where = document.place(("trace",))
    values["trace"] = trace_of(values["trace"], Path() if where.startswith("--set") else folder, where)
    return validated(Scenario, Document(values, document.places, document.name))


def trace_of(source: object, folder: Path, where: str, **missing: bool) -> Trace:
    """A trace that is given, or read from the files and built-in names that a source means."""
    if isinstance(source, Trace):
        return source
    sources = [source] if isinstance(source, str | Path) else source
    if not isinstance(sources, Sequence) or not sources or not all(isinstance(each, str | Path) for each in sources):
        raise InputError(f"{source!r} is no trace", where=where, hint="give a name, a file or a list of files")
    files = [find("traces", each, folder, where) for each in sources]
    return read(files, **missing)


def topology_of(document: Document, prefix: Keys = (), preset: Preset | None = None) -> Topology:
    """The topology that a document states, filled in by a preset."""
    return _part(_kind(document, TOPOLOGIES, "", prefix), document, prefix, preset)


def _part(model: type[Model], document: Document, prefix: Keys, preset: Preset | None) -> Model:
    """A part with what its preset fills in. What only suggests a value does not count as set in it."""
    weak = _suggested(document)
    values = filled(model, document.values, weak, preset)
    try:
        part = validated(model, Document(values, document.places, document.name), prefix)
    except InputError as error:
        if values != document.values:
            validated(model, document, prefix)  # a mistake that is the user's own is told as that
            raise does_not_go(error.what, error.hint) from None
        raise
    part.model_fields_set.difference_update(name for name in weak if values[name] == document.values[name])
    return part


def _suggested(document: Document) -> set[str]:
    """The keys before which a preset goes: those written in a built-in file, and what nobody set in an object."""
    files = {str(keys[0]): at.partition(", line ")[0] for keys, at in document.places.items() if len(keys) == 1}
    weak = {file for file in set(files.values()) if not file or _is_shipped(Path(file))}
    return {key for key, file in files.items() if file in weak}


def _is_shipped(file: Path) -> bool:
    kind = "topologies"
    return file.stem in builtin_inputs.names(kind) and file.resolve() == builtin_inputs.path(kind, file.stem).resolve()


def _kind(document: Document, known: Mapping[str, type[Model]], default: str, prefix: Keys) -> type[Model]:
    kind = document.values.get("kind", default)
    if kind == "":
        raise InputError("no kind", where=document.name, hint=f'add kind = "{next(iter(known))}", or a base')
    if not isinstance(kind, str) or kind not in known:
        what = f"{dotted((*prefix, 'kind'))} = {repr(kind)[:60]} is unknown"
        raise InputError(what, where=document.place(("kind",)), hint=nearest(str(kind), known))
    return known[kind]
