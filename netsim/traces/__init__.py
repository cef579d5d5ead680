"""What a job does, rank by rank: the nouns, and one reader for each format."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from netsim.errors import InputError
from netsim.traces import htsim_cm, native, nccl_log
from netsim.traces.lines import check_file, head
from netsim.traces.matrix import members
from netsim.traces.native_write import write_native
from netsim.traces.trace import OPERATIONS, Group, Operation, Trace, Turn


@dataclass(frozen=True, slots=True)
class Reader:
    """A trace format: how to recognise it by its first 64 KiB, and how to read files of it."""

    recognises: Callable[[str], bool]
    read: Callable[..., Trace]
    fills: bool = False  # knows the option fill_missing_ranks


_JSON = re.compile(r"\ufeff?\s*(?:\{|\[\s*\{)")  # its reader says what is wrong with it

READERS = {
    "native": Reader(native.recognises, native.read),
    "htsim_cm": Reader(htsim_cm.recognises, htsim_cm.read),
    "nccl_log": Reader(nccl_log.recognises, nccl_log.read, fills=True),
}


def read(paths: str | Path | Sequence[str | Path], *, fill_missing_ranks: bool = False) -> Trace:
    """Read the files of one job, whatever their format; the content tells which it is.

    With `fill_missing_ranks`, ranks that the files do not show do the same as the others by symmetry; without it,
    they are an InputError.
    """
    listed = [Path(paths)] if isinstance(paths, str | Path) else [Path(path) for path in paths]
    if not listed:
        raise InputError("no trace file is named", mend="name one or more files")
    for number, path in enumerate(listed):
        check_file(path)
        if path in listed[:number]:
            raise InputError("is named twice", where=str(path), mend="name each file once")
    formats = [format_of(path) for path in listed]
    for path, name in zip(listed, formats, strict=True):
        if name != formats[0]:
            what = f"is a file of format {name}, but {listed[0]} is one of format {formats[0]}"
            raise InputError(what, where=str(path), mend="read files of one job and one format together")
    reader = READERS[formats[0]]
    return reader.read(listed, fill_missing_ranks=fill_missing_ranks) if reader.fills else reader.read(listed)


def format_of(path: Path) -> str:
    """Name the format of a file by its content; a text that none recognises may be a log with a long start."""
    start = head(path)
    if b"\0" in start[:1024]:
        mend = f"netsim reads: {', '.join(READERS)}; save a text file as UTF-8"
        raise InputError("is not a text file", where=str(path), mend=mend)
    text = start.decode("utf-8", errors="replace")
    for name, reader in READERS.items():
        if reader.recognises(text):
            return name
    return "native" if _JSON.match(text) else "nccl_log"


__all__ = [
    "read",
    "write_native",
    "members",
    "Trace",
    "Group",
    "Operation",
    "Turn",
    "OPERATIONS",
    "READERS",
    "Reader",
    "format_of",
]
