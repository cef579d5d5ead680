"""Which files are meant: a file, several, all of a folder, or those that a pattern such as `logs/rank*.log` fits."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from netsim.errors import InputError
from netsim.traces.lines import check_file

MAX_FILES = 1 << 17  # a file for each rank of the largest cluster
_WILD = re.compile(r"[*?\[]")


def is_pattern(name: str | Path) -> bool:
    """Tell whether a name stands for several files: it has a `*`, `?` or `[`, and no file is called so."""
    return _WILD.search(str(name)) is not None and not Path(name).exists()


def found(paths: str | Path | Sequence[str | Path]) -> list[Path]:
    """List the files that are meant, each once; those of a folder or pattern in the order people count in."""
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    if not given:
        raise InputError("no trace file is named", hint="name one or more files")
    listed: list[Path] = []
    for each in given:
        listed += _files(Path(each))
        if len(listed) > MAX_FILES:
            raise InputError(f"holds more than {MAX_FILES:,} files", where=str(each), hint="name fewer of them")
    seen: set[Path] = set()
    for path in listed:
        check_file(path)
        if path in seen:
            raise InputError("is named twice", where=str(path), hint="name each file once")
        seen.add(path)
    return listed


def only_file(paths: Sequence[Path], what: str, holds: str) -> Path:
    """The one file of a format that knows no second; `what` names the format, `holds` says what its file holds."""
    if len(paths) > 1:
        what = f"{what} is one file, not {len(paths)}"
        raise InputError(what, where=str(paths[1]), hint=f"give one file; it {holds}")
    return paths[0]


def trace_name(path: Path, *endings: str) -> str:
    """Name a trace after its file, without ".gz" and these endings: `perm16.jsonl.gz` is `perm16`."""
    name = path.name
    for ending in (".gz", *endings):
        name = name.removesuffix(ending)
    return name or path.name


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        if (path / "run.json").is_file():
            hint = f"see it with netsim report {path}, or run it again: netsim run {path / 'run.json'}"
            raise InputError("is the folder of a saved run, not a trace", where=str(path), hint=hint)
        inside = sorted(_visible(path.iterdir()), key=counted)
        if not inside:
            raise InputError("is a directory without files", where=str(path), hint="name the folder of the trace files")
        return inside
    if not is_pattern(path):
        return [path]
    parts = path.parts
    first = next(number for number, part in enumerate(parts) if _WILD.search(part))
    folder, pattern = Path(*parts[:first]), "/".join(parts[first:])
    fitting = sorted(_visible(folder.glob(pattern)), key=counted)
    if not fitting:
        raise InputError("no file fits this pattern", where=str(path), hint="check the folder, or name the files")
    return fitting


def _visible(paths: Iterator[Path]) -> list[Path]:
    """Files only; hidden ones are not meant."""
    listed = []
    for path in paths:
        if path.is_file() and not path.name.startswith("."):
            listed.append(path)
        if len(listed) > MAX_FILES:
            break
    return listed


def counted(path: Path) -> list[tuple[int, str]]:
    """Sort key: rank9 stands before rank10."""
    return [
        (int(part), "") if part.isdecimal() and part.isascii() else (-1, part)
        for part in re.findall(r"[0-9]{1,30}|[^0-9]+", str(path))
    ]
