"""What a job does, rank by rank: the nouns, and one reader for each format."""

import gc
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from types import ModuleType

from netsim.errors import InputError
from netsim.traces import native
from netsim.traces.input_files import found
from netsim.traces.lines import head
from netsim.traces.matrix import members
from netsim.traces.native_write import write_native
from netsim.traces.other_files import refuse_other, refuse_packed
from netsim.traces.trace import OPERATIONS, Group, Operation, Trace, Turn


@dataclass(frozen=True, slots=True)
class Reader:
    """A trace format: the module that reads it, loaded when a file may be of that format.

    The module has `recognises(text)`, by the first 64 KiB of a file, and `read(paths)`.
    """

    module: str
    fills: bool = False  # knows the options fill_missing_ranks and partial
    is_binary: bool = False  # has `recognises_bytes`: files of the format need not be text

    @property
    def code(self) -> ModuleType:
        """The module itself."""
        return import_module(f"netsim.traces.{self.module}")


_JSON = re.compile(r"\ufeff?\s*(?:\{|\[\s*\{)")  # its reader says what is wrong with it

_NO_TEXT = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x80-\xff]")

READERS = {
    "native": Reader("native"),
    "htsim_cm": Reader("htsim.cm"),
    "chakra": Reader("chakra.reader", fills=True, is_binary=True),
    "goal": Reader("goal.reader", is_binary=True),
    "simai": Reader("simai.workload"),
    "aicb_csv": Reader("simai.aicb_csv"),
    "nccl_profiler": Reader("nccl.profiler", fills=True),
    "kineto": Reader("torch.kineto", fills=True),
    "inspector": Reader("nccl.inspector", fills=True),
    "flight_recorder": Reader("torch.flight_recorder", fills=True, is_binary=True),
    "pytorch_et": Reader("torch.host_trace", fills=True),
    "param_comms": Reader("torch.param_comms", fills=True),
    "nccl_log": Reader("nccl.log", fills=True),
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
            raise InputError(what, where=str(path), hint="read files of one job and one format together")
    reader = READERS[formats[0]]
    options = {"fill_missing_ranks": fill_missing_ranks, "partial": partial} if reader.fills else {}
    with _no_search_for_cycles():
        trace: Trace = reader.code.read(listed, **options)
    recorded = replace(trace.report, format=formats[0], files=len(listed))
    return replace(trace, report=replace(recorded, records=recorded.records or len(trace.operations)))


@contextmanager
def _no_search_for_cycles() -> Iterator[None]:
    """Millions of small objects, none of which point at each other in a cycle, are not searched for cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def format_of(path: Path) -> str:
    """Name the format of a file by its content; a text that none recognises may be a log with a long start."""
    start = head(path)
    refuse_packed(start, path, meant="trace")
    if native.recognises(start.decode("utf-8", errors="replace")):
        return "native"  # without loading the readers of all other formats
    name = recognised(start)
    if name is None or name == "htsim_cm":  # which begins as a .topo file does
        refuse_other(start, path, meant="trace")
    if name is None and b"\0" in start[:1024]:
        hint = f"netsim reads: {', '.join(READERS)}; save a text file as UTF-8"
        raise InputError("is not a text file", where=str(path), hint=hint)
    text = start.decode("utf-8", errors="replace")
    return name or ("native" if _JSON.match(text) else "nccl_log")


def recognised(start: bytes) -> str | None:
    """Name the first reader that knows a file that starts so."""
    for name, reader in READERS.items():
        if reader.is_binary and _NO_TEXT.search(start) and reader.code.recognises_bytes(start):
            return name
    if b"\0" in start[:1024]:
        return None
    text = start.decode("utf-8", errors="replace")
    return next((name for name, reader in READERS.items() if reader.code.recognises(text)), None)


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
    "recognised",
]
