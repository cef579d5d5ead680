"""Where settings and traces lie: scenario files, saved runs, and the files and built-in inputs that names mean."""

import json
from pathlib import Path

from netsim.config import builtin_inputs
from netsim.config.document import Document, check_values, read_document, read_text
from netsim.errors import InputError
from netsim.traces.input_files import is_pattern
from netsim.traces.other_files import refuse_other


def scenario_document(path: Path) -> Document:
    """A scenario file; one that names no trace, but is of another kind that is known, is refused as that."""
    document = read_document(path)
    if "grid" in document.values or ("trace" not in document.values and "topology" not in document.values):
        refuse_other(read_text(path).encode(), path, meant="scenario")
    return document


def saved_document(path: Path) -> Document:
    """The scenario in the run.json of a saved run."""
    text = read_text(path)
    try:
        values = json.loads(text, parse_constant=int)["scenario"]  # NaN is a ValueError
        check_values(values)
        if not isinstance(values, dict):
            raise TypeError
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError("is not a saved run", where=str(path), hint="give the run.json of a result's folder") from None
    return Document(values, name=str(path))


def find(kind: str, name: str | Path, folder: Path, where: str) -> Path:
    """A file by its path (from `folder`), else a built-in one by its bare name."""
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
            raise InputError(f"{str(name)!r} is a built-in {other}, not a {meant}", where=where, hint=hint) from None
        what = f"no file and no built-in {meant} is called {str(name)!r}"
        raise InputError(what, where=where, hint=error.hint) from None
    if (path / "run.json").is_file():
        what = f"{str(path)!r} is the folder of a saved run, not a topology"
        raise InputError(what, where=where, hint=f"run it again: netsim run {path / 'run.json'}")
    raise InputError(f"there is no file {str(path)!r}", where=where, hint="check the path")
