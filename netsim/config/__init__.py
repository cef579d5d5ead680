"""From files to typed objects: topologies, traces and scenarios, with every mistake named by file, line and mend.

Each function here gathers documents; `layers.py` lays them over each other, and `parts.py` validates what comes out.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from netsim.config.document import Document, Keys, merged, nested, read_document
from netsim.config.layers import changed, opened, topology_document, with_sets
from netsim.config.parts import scenario_of, topology_of, trace_of
from netsim.config.scenario import Scenario
from netsim.config.sources import saved_document, scenario_document
from netsim.config.transports import CONTROL_ALONE
from netsim.config.validation_errors import validated
from netsim.topology import Topology
from netsim.traces import Trace

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
    "nested",
    "read_document",
    "validated",
    "vary_scenario",
]


def load_topology(source: TopologySource, sets: Sequence[str] = ()) -> Topology:
    """Make a topology from a TOML or .topo (htsim) file, a built-in name, or a mapping with `kind` or `base`.

    A `base` names the topology that the other keys change. `sets` are settings such as "buffer=unlimited" or
    "tiers.tor.rate=400Gb/s", applied last. Raises InputError.
    """
    if isinstance(source, Topology) and not sets:
        return source
    return topology_of(with_sets(topology_document(source, Path()), sets))


def load_trace(source: TraceSource, *, fill_missing_ranks: bool = False, partial: bool = False) -> Trace:
    """Read a trace from a file, a built-in name, or the several log files of one job's ranks. Raises InputError.

    With `fill_missing_ranks`, ranks whose logs are missing do the same as the others by symmetry; with `partial` only
    what the others report is in the trace, enough for a profile of it.
    """
    return trace_of(source, Path(), where="", fill_missing_ranks=fill_missing_ranks, partial=partial)


def load_scenario(path: Source, sets: Sequence[str] = (), topology: TopologySource | None = None) -> Scenario:
    """Read a scenario file, or the run.json of a saved result; paths inside it are relative to its own folder.

    `topology` replaces the file's; `sets` are settings such as "transport.control=none", applied last.
    """
    path = Path(path)
    document = saved_document(path) if path.suffix == ".json" else scenario_document(path)
    if topology is not None:
        document = document.without("topology")
    document = opened(document, path.parent)
    if topology is not None:
        document = opened(merged(document, Document({"topology": topology})), Path())
    return scenario_of(with_sets(document, sets), path.parent)


def build_scenario(trace: TraceSource, topology: TopologySource, sets: Sequence[str] = (), **settings: Any) -> Scenario:
    """Make a scenario from a trace, a topology and settings by name: transport="none", seed=7. Raises InputError."""
    given = Document({"trace": trace, "topology": topology, **settings})
    return scenario_of(with_sets(opened(given, Path()), sets), Path())


def vary_scenario(
    base: Document, changes: Sequence[Document], folder: Path, traces: dict[str, Trace] | None = None
) -> Scenario:
    """Make the scenario of a document with settings laid over it, each a document of one key; paths are of `folder`.

    A topology that is a whole table replaces the one below. `traces` remembers what was read. Raises InputError.
    """
    document, known = opened(base, folder), {} if traces is None else traces
    for change in changes:
        topology = change.values.get("topology")
        if isinstance(topology, Mapping) and not {"base", "kind"}.isdisjoint(topology):
            document = document.without("topology")
        document = changed(document, change, folder)
    named = str(document.values.get("trace"))
    if named in known:
        document = Document(document.values | {"trace": known[named]}, document.places, document.name)
    scenario = scenario_of(document, folder)
    known[named] = scenario.trace
    return scenario
