"""The inputs that come with netsim: a bare name such as "fat_tree_k4_100g" finds its file, also after `pip install`."""

from pathlib import Path

from netsim.errors import InputError, nearest

SUFFIXES = {"topologies": (".toml",), "traces": (".jsonl", ".jsonl.gz")}


def folder(kind: str) -> Path:
    """The folder of the built-in "topologies" or "traces": inside the package in a wheel, beside it in a checkout."""
    package = Path(__file__).parents[1]
    inside = package / "_shipped" / kind
    return inside if inside.is_dir() else package.parent / kind


def names(kind: str) -> list[str]:
    """The names of all built-in "topologies" or "traces", sorted."""
    return sorted(_files(kind))


def path(kind: str, name: str) -> Path:
    """Find a built-in file by its bare name (its suffix may be there too); an unknown name raises InputError."""
    files = _files(kind)
    found = files.get(_bare(kind, name))
    if found is None:
        raise InputError(f"no built-in {kind} are called {name!r}", hint=nearest(name, files))
    return found


def _files(kind: str) -> dict[str, Path]:
    return {_bare(kind, file.name): file for suffix in SUFFIXES[kind] for file in folder(kind).glob(f"*{suffix}")}


def _bare(kind: str, name: str) -> str:
    for suffix in SUFFIXES[kind]:
        name = name.removesuffix(suffix)
    return name
