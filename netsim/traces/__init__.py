"""What a job does, rank by rank: the nouns, and one reader for each format."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from netsim.errors import InputError
from netsim.traces import (
    aicb_csv,
    chakra,
    flight_recorder,
    goal,
    host_trace,
    htsim_cm,
    inspector,
    kineto,
    native,
    nccl_log,
    nccl_profiler,
    param_comms,
    simai,
)
from netsim.traces.finding import found
from netsim.traces.lines import head
from netsim.traces.matrix import members
from netsim.traces.native_write import write_native
from netsim.traces.trace import OPERATIONS, Group, Operation, Trace, Turn


@dataclass(frozen=True, slots=True)
class Reader:
    """A trace format: how to recognise it by its first 64 KiB, and how to read files of it."""

    recognises: Callable[[str], bool]
    read: Callable[..., Trace]
    fills: bool = False  # knows the option fill_missing_ranks
    partial: bool = False  # knows the option partial
    recognises_bytes: Callable[[bytes], bool] | None = None  # where files of the format are not text


_JSON = re.compile(r"\ufeff?\s*(?:\{|\[\s*\{)")  # its reader says what is wrong with it
_MSCCL = re.compile(r"\ufeff?\s*(?:<\?xml[^>]*>\s*|<!--.*?-->\s*)*<algo\b", re.DOTALL)

READERS = {
    "native": Reader(native.recognises, native.read),
    "htsim_cm": Reader(htsim_cm.recognises, htsim_cm.read),
    "chakra": Reader(
        chakra.recognises, chakra.read, fills=True, partial=True, recognises_bytes=chakra.recognises_bytes
    ),
    "goal": Reader(goal.recognises, goal.read, recognises_bytes=goal.recognises_bytes),
    "simai": Reader(simai.recognises, simai.read),
    "aicb_csv": Reader(aicb_csv.recognises, aicb_csv.read),
    "nccl_profiler": Reader(nccl_profiler.recognises, nccl_profiler.read, fills=True, partial=True),
    "kineto": Reader(kineto.recognises, kineto.read, fills=True, partial=True),
    "inspector": Reader(inspector.recognises, inspector.read, fills=True, partial=True),
    "flight_recorder": Reader(
        flight_recorder.recognises,
        flight_recorder.read,
        fills=True,
        partial=True,
        recognises_bytes=flight_recorder.recognises_bytes,
    ),
    "pytorch_et": Reader(host_trace.recognises, host_trace.read, fills=True, partial=True),
    "param_comms": Reader(param_comms.recognises, param_comms.read, fills=True, partial=True),
    "nccl_log": Reader(nccl_log.recognises, nccl_log.read, fills=True, partial=True),
}


def read(paths: str | Path | Sequence[str | Path], *, fill_missing_ranks: bool = False, partial: bool = False) -> Trace:
    """Read the files of one job, whatever their format; the content tells which it is.

    A folder stands for the files in it, a name with `*`, `?` or `[` for the files that fit.

    With `fill_missing_ranks`, ranks that the files do not show do the same as the others by symmetry; with `partial`
    the trace holds what the seen ranks report, to be profiled but not replayed; without either they are an InputError.
    """
    listed = found(paths)
    formats = [format_of(path) for path in listed]
    for path, name in zip(listed, formats, strict=True):
        if name != formats[0]:
            what = f"is a file of format {name}, but {listed[0]} is one of format {formats[0]}"
            raise InputError(what, where=str(path), mend="read files of one job and one format together")
    reader = READERS[formats[0]]
    options = {"fill_missing_ranks": fill_missing_ranks} if reader.fills else {}
    if reader.partial:
        options["partial"] = partial
    trace = reader.read(listed, **options)
    told = replace(trace.report, format=formats[0], files=len(listed))
    return replace(trace, report=replace(told, records=told.records or len(trace.operations)))


def format_of(path: Path) -> str:
    """Name the format of a file by its content; a text that none recognises may be a log with a long start."""
    start = head(path)
    for name, reader in READERS.items():
        if reader.recognises_bytes and reader.recognises_bytes(start):
            return name
    if b"\0" in start[:1024]:
        mend = f"netsim reads: {', '.join(READERS)}; save a text file as UTF-8"
        raise InputError("is not a text file", where=str(path), mend=mend)
    text = start.decode("utf-8", errors="replace")
    if _MSCCL.match(text):
        mend = f"use it as one: --algorithm all_reduce={path}, if its name ends in .xml"
        raise InputError("is an MSCCL algorithm, not a trace", where=str(path), mend=mend)
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
