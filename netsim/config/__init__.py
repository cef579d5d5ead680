"""From files to typed objects: topologies, traces and scenarios, with every mistake named by file, line and mend."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from netsim.config import builtin_inputs
from netsim.config.document import Document, Keys, assignment, check_values, merged, read_document, read_text
from netsim.config.preset_defaults import SUGGESTED, routing_kind
from netsim.config.scenario import Scenario
from netsim.config.topology_file import read_topology
from netsim.config.transports import CONTROL_ALONE, transport_key, with_control
from netsim.config.validation_errors import Model, dotted, validated
from netsim.errors import InputError, nearest
from netsim.routing import ROUTINGS, Routing
from netsim.topology import TOPOLOGIES, Topology
from netsim.traces import Trace, read
from netsim.traces.input_files import is_pattern
from netsim.traces.other_files import refuse_other
from netsim.transport.presets import PRESETS, Preset

Source = str | Path
TraceSource = Source | Trace | Sequence[Source]
TopologySource = Source | Topology | Mapping[str, Any]

__all__ = [
    "CONTROL_ALONE",
    "Document",
    "Keys",
    "build_scenario",
    "load_scenario",
    "load_topology",
    "load_trace",
    "read_document",
    "validated",
    "vary_scenario",
]

SHORT = {"routing": "kind", "placement": "kind"}  # routing = "spray" means kind = "spray"
DEEPEST_BASE = 8  # files that build on files that build on files


def load_topology(source: TopologySource, sets: Sequence[str] = ()) -> Topology:
    """Make a topology from a TOML or .topo (htsim) file, a shipped name, or a mapping with `kind` or `base`.

    A `base` names the topology that the other keys change. `sets` are settings such as "buffer=unlimited" or
    "tiers.tor.rate=400Gb/s", applied last. Raises InputError.
    """
    if isinstance(source, Topology) and not sets:
        return source
    return _topology(_with_sets(_topology_document(source, Path()), sets), prefix=())


def load_trace(source: TraceSource, *, fill_missing_ranks: bool = False, partial: bool = False) -> Trace:
    """Read a trace from a file, a shipped name, or the several log files of one job's ranks. Raises InputError.

    With `fill_missing_ranks`, ranks whose logs are missing do the same as the others by symmetry; with `partial` only
    what the others report is in the trace, enough for a profile of it.
    """
    return _trace(source, Path(), where="", fill_missing_ranks=fill_missing_ranks, partial=partial)


def load_scenario(path: Source, sets: Sequence[str] = (), topology: TopologySource | None = None) -> Scenario:
    """Read a scenario file, or the run.json of a saved result; paths inside it are relative to its own folder.

    `topology` replaces the file's; `sets` are settings such as "transport.control=none", applied last.
    """
    path = Path(path)
    document = _saved_document(path) if path.suffix == ".json" else _scenario_document(path)
    if topology is not None:
        document = document.without("topology")
    document = _opened(document, path.parent)
    if topology is not None:
        document = _opened(merged(document, Document({"topology": topology})), Path())
    return _scenario(_with_sets(document, sets), path.parent)


def build_scenario(trace: TraceSource, topology: TopologySource, sets: Sequence[str] = (), **settings: Any) -> Scenario:
    """Make a scenario from a trace, a topology and settings by name: transport="none", seed=7. Raises InputError."""
    given = Document({"trace": trace, "topology": topology, **settings})
    return _scenario(_with_sets(_opened(given, Path()), sets), Path())


def vary_scenario(
    base: Document, changes: Sequence[Document], folder: Path, traces: dict[str, Trace] | None = None
) -> Scenario:
    """Make the scenario of a document with settings laid over it, each a document of one key; paths are of `folder`.

    A topology that is a whole table replaces the one below. `traces` remembers what was read. Raises InputError.
    """
    document, known = _opened(base, folder), {} if traces is None else traces
    for change in changes:
        topology = change.values.get("topology")
        if isinstance(topology, Mapping) and not {"base", "kind"}.isdisjoint(topology):
            document = document.without("topology")
        document = _changed(document, change, folder)
    named = str(document.values.get("trace"))
    if named in known:
        document = Document(document.values | {"trace": known[named]}, document.places, document.name)
    scenario = _scenario(document, folder)
    known[named] = scenario.trace
    return scenario


# --- from sources to one document ---------------------------------------------------------------------------------


def _with_sets(document: Document, sets: Sequence[str]) -> Document:
    for text in sets:
        if text.startswith(CONTROL_ALONE):
            document = with_control(document, text.removeprefix(CONTROL_ALONE))
            continue
        change = assignment(text)
        topology = change.values.get("topology")
        if isinstance(topology, Mapping) and "base" in topology:
            raise InputError("a base is not changed alone", where=f"--set {text}", hint="write --set topology=NAME")
        document = _changed(document, change, Path())
    return document


def _changed(document: Document, change: Document, folder: Path) -> Document:
    """Lay one setting over a document that is written out; paths of the setting are relative to `folder`."""
    key, value = next(iter(change.values.items()))
    given = document.values.get(key)
    if isinstance(given, BaseModel) and isinstance(value, Mapping):
        document = _replaced(document, key, Document(_plain(given)))
    if key == "transport" and isinstance(value, Mapping) and str(value.get("preset")) in PRESETS:
        document = _without_choices_of(PRESETS[value["preset"]], document)
    return _opened(merged(document, change), folder)


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


def _opened(document: Document, folder: Path) -> Document:
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
    opened = _topology_document(topology, folder, where=document.place(("topology", "base")))
    if isinstance(topology, Mapping):
        opened = merged(opened, document.inside("topology").without("base"))
    return _replaced(document, "topology", opened)


def _replaced(document: Document, key: str, inner: Document) -> Document:
    at = {keys: place for keys, place in document.places.items() if keys == (key,)}
    rest, below = document.without(key), inner.under(key)
    return Document(rest.values | below.values, rest.places | below.places | at, document.name)


def _plain(model: BaseModel) -> dict[str, Any]:
    """A part that was given as an object, as the table of a file."""
    plain: dict[str, Any] = model.model_dump(mode="json", exclude_none=True)
    return plain


def _topology_document(source: object, folder: Path, where: str = "", depth: int = 0) -> Document:
    """All keys of a topology, those of its base included."""
    if depth > DEEPEST_BASE:
        raise InputError("each base names another base", where=where, hint="let one file state its kind")
    if isinstance(source, str | Path):
        path = _found("topologies", source, folder, where)
        document, folder = read_topology(path), path.parent
        own_name = {} if "name" in document.values else {"name": path.stem}
    elif isinstance(source, Topology):
        return Document(_plain(source))
    elif isinstance(source, Mapping):
        document, own_name = Document(dict(source), name=where), {}
    else:
        raise InputError(f"{source!r} is no topology", where=where, hint="give a name, a file or a table")
    if "base" in document.values:
        base = _topology_document(document.values["base"], folder, document.place(("base",)), depth + 1)
        document = merged(base, document.without("base"))
    return merged(document, Document(own_name))


def _scenario_document(path: Path) -> Document:
    """A scenario file; one that names no trace, but is of another kind that is known, is refused as that."""
    document = read_document(path)
    if "grid" in document.values or ("trace" not in document.values and "topology" not in document.values):
        refuse_other(read_text(path).encode(), path, meant="scenario")
    return document


def _saved_document(path: Path) -> Document:
    text = read_text(path)
    try:
        values = json.loads(text, parse_constant=int)["scenario"]  # NaN is a ValueError
        check_values(values)
        if not isinstance(values, dict):
            raise TypeError
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError("is not a saved run", where=str(path), hint="give the run.json of a result's folder") from None
    return Document(values, name=str(path))


def _found(kind: str, name: Source, folder: Path, where: str) -> Path:
    """A file by its path (from `folder`), else a shipped one by its bare name."""
    path = folder / name
    if path.is_file() or (kind == "traces" and (path.is_dir() or is_pattern(path))):
        return path
    try:
        if len(Path(name).parts) == 1 and not path.is_dir():
            return builtin_inputs.path(kind, str(name))
    except InputError as error:
        meant, other = ("topology", "trace") if kind == "topologies" else ("trace", "topology")
        if str(name) in builtin_inputs.names("traces" if kind == "topologies" else "topologies"):
            hint = f"netsim run {name} --on TOPOLOGY" if other == "trace" else f"netsim run TRACE --on {name}"
            raise InputError(f"{str(name)!r} is a shipped {other}, not a {meant}", where=where, hint=hint) from None
        what = f"no file and no shipped {meant} is called {str(name)!r}"
        raise InputError(what, where=where, hint=error.hint) from None
    if (path / "run.json").is_file():
        what = f"{str(path)!r} is the folder of a saved run, not a topology"
        raise InputError(what, where=where, hint=f"run it again: netsim run {path / 'run.json'}")
    raise InputError(f"there is no file {str(path)!r}", where=where, hint="check the path")


# --- from documents to objects ------------------------------------------------------------------------------------


def _scenario(document: Document, folder: Path) -> Scenario:
    _refuse_unknown(Scenario, document)
    values: dict[str, Any] = dict(document.values)
    for key, example in {"trace": 'trace = "perm16"', "topology": 'topology = "fat_tree_k4_100g"'}.items():
        if key not in values:
            raise InputError(f"no {key}", where=document.name, hint=f"add {example}")
    if isinstance(values["topology"], Mapping):
        values["topology"] = _topology(document.inside("topology"), prefix=("topology",))
    if isinstance(values.get("routing"), Mapping):
        values["routing"] = _routing(document.inside("routing"), routing_kind(values.get("transport", {})))
    where = document.place(("trace",))
    values["trace"] = _trace(values["trace"], Path() if where.startswith("--set") else folder, where)
    return validated(Scenario, Document(values, document.places, document.name))


def _refuse_unknown(model: type[BaseModel], document: Document) -> None:
    for key in document.values:
        if key not in model.model_fields:
            where = document.place((key,))
            raise InputError(f"unknown key {key!r}", where=where, hint=nearest(key, model.model_fields))


def _trace(source: object, folder: Path, where: str, **missing: bool) -> Trace:
    if isinstance(source, Trace):
        return source
    sources = [source] if isinstance(source, str | Path) else source
    if not isinstance(sources, Sequence) or not sources or not all(isinstance(each, str | Path) for each in sources):
        raise InputError(f"{source!r} is no trace", where=where, hint="give a name, a file or a list of files")
    files = [_found("traces", each, folder, where) for each in sources]
    return read(files, **missing)


def _topology(document: Document, prefix: Keys) -> Topology:
    topology: Topology = validated(_kind(document, TOPOLOGIES, "", prefix), document, prefix)
    topology.model_fields_set.difference_update(name for name in SUGGESTED if _is_shipped(document.places.get((name,))))
    return topology


def _is_shipped(place: str | None) -> bool:
    """Whether a key was written in one of the shipped files: what stands there is a suggestion to presets."""
    file = Path((place or "").partition(", line ")[0])
    return (
        file.stem in builtin_inputs.names("topologies")
        and file.resolve() == builtin_inputs.path("topologies", file.stem).resolve()
    )


def _routing(document: Document, default: str) -> Routing:
    routing: Routing = validated(_kind(document, ROUTINGS, default, ("routing",)), document, ("routing",))
    return routing


def _kind(document: Document, known: Mapping[str, type[Model]], default: str, prefix: Keys) -> type[Model]:
    kind = document.values.get("kind", default)
    if kind == "":
        raise InputError("no kind", where=document.name, hint=f'add kind = "{next(iter(known))}", or a base')
    if not isinstance(kind, str) or kind not in known:
        raise InputError(
            f"{dotted((*prefix, 'kind'))} = {repr(kind)[:60]} is unknown",
            where=document.place(("kind",)),
            hint=nearest(str(kind), known),
        )
    return known[kind]
