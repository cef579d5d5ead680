"""A topology's file: TOML, or a `.topo` file of htsim; anything else is named as what it is."""

from pathlib import Path

from netsim.config.document import Document, parse, read_text
from netsim.errors import InputError
from netsim.topology.htsim_topo import read_topo, recognises
from netsim.traces import recognised
from netsim.traces.lines import head
from netsim.traces.other_files import refuse_other


def read_topology(path: Path) -> Document:
    """Read the keys of a topology. Raises InputError."""
    try:
        text = read_text(path)
        if path.suffix != ".topo" and not recognises(text):
            document = parse(text, str(path))
            if not {"kind", "base"} & document.values.keys():
                refuse_other(text.encode(), path, meant="topology")
            return document
        values, lines = read_topo(text, str(path))
    except InputError:
        if path.is_file():
            _refuse_other(path)
        raise
    return Document(values, {keys: f"{path}, line {line}" for keys, line in lines.items()}, str(path))


def _refuse_other(path: Path) -> None:
    """Raise InputError for a file of a kind that is known, and is no topology."""
    start = head(path)
    refuse_other(start, path, meant="topology")
    name = recognised(start)
    if name is not None and path.suffix != ".topo":
        hint = f"give it as one: netsim run {path} --on TOPOLOGY"
        raise InputError(f"is a trace ({name}), not a topology", where=str(path), hint=hint)
