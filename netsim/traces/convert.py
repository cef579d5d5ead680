"""From one trace format to another: what a format has no word for becomes flows that wait for each other."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from netsim.collectives import Request, plan
from netsim.errors import InputError, nearest
from netsim.traces.chakra.write import NAMED as CHAKRA_HAS
from netsim.traces.chakra.write import write_chakra
from netsim.traces.goal.write import write_goal, write_goal_binary
from netsim.traces.htsim.cm_write import write_htsim_cm
from netsim.traces.limits import MAX_CELLS
from netsim.traces.native_write import write_native
from netsim.traces.trace import OPERATIONS, POINT_TO_POINT, Flows, Operation, Trace, Turn


@dataclass(frozen=True, slots=True)
class Writer:
    """How to write a format: the ends of names that mean it, the operations that it has, and what writes a file."""

    suffixes: tuple[str, ...]
    has: tuple[str, ...]
    write: Callable[[Trace, Path], tuple[list[Path], list[str]]]


def _native(trace: Trace, path: Path) -> tuple[list[Path], list[str]]:
    write_native(trace, path)
    return [path], []


def _cm(trace: Trace, path: Path) -> tuple[list[Path], list[str]]:
    left_out = write_htsim_cm(trace, path)
    return [path], [f"{count:,} {what}" for what, count in left_out.items()]


WRITERS = {
    "native": Writer((".jsonl", ".jsonl.gz"), OPERATIONS, _native),
    "chakra": Writer((".et", ".et.gz"), CHAKRA_HAS, lambda trace, path: (write_chakra(trace, path), [])),
    "goal": Writer((".goal", ".goal.gz"), POINT_TO_POINT, lambda trace, path: (write_goal(trace, path), [])),
    "goal_binary": Writer(
        (".bin", ".bin.gz"), POINT_TO_POINT, lambda trace, path: (write_goal_binary(trace, path), [])
    ),
    "htsim_cm": Writer((".cm", ".cm.gz"), POINT_TO_POINT, _cm),
}


@dataclass(frozen=True)
class Converted:
    """What a conversion wrote: the format, the files, the trace as written, and in plain sentences what it changed."""

    format: str
    files: tuple[Path, ...]
    trace: Trace
    notes: tuple[str, ...]


def convert(
    trace: Trace,
    path: str | Path,
    to: str | None = None,
    algorithms: Mapping[str, str] | None = None,
    chunk: int | None = None,
) -> Converted:
    """Write a trace in the format `to`, by default that which the end of the name means. Raises InputError.

    Collectives that the format has no word for become flows by their algorithm (`algorithms`, else the default one),
    cut into pieces of `chunk` bytes.
    """
    path = Path(path)
    name = to or _format_of(path)
    if name not in WRITERS:
        raise InputError(f"netsim does not write {name!r}", where="--to", hint=nearest(name, WRITERS))
    writer = WRITERS[name]
    written, notes = as_flows(trace, writer.has, algorithms or {}, chunk)
    files, more = writer.write(written, path)
    return Converted(name, tuple(files), written, (*notes, *more))


def _format_of(path: Path) -> str:
    for name, writer in WRITERS.items():
        if path.name.endswith(writer.suffixes):
            return name
    known = ", ".join(writer.suffixes[0] for writer in WRITERS.values())
    hint = f"end it with one of {known}, or add --to"
    raise InputError("its name does not tell the format", where=str(path), hint=hint)


def as_flows(
    trace: Trace, keep: tuple[str, ...], algorithms: Mapping[str, str], chunk: int | None = None
) -> tuple[Trace, list[str]]:
    """The trace with every collective that is not among `keep` as a matrix of flows, and what to say about it."""
    made: list[Operation] = []
    known: dict[object, tuple[Flows, tuple[Turn, ...]]] = {}
    used = Counter[str]()
    cells = 0
    for operation in trace.operations:
        if operation.op in keep:
            made.append(operation)
            continue
        algorithm = algorithms.get(operation.op) or operation.algorithm
        wanted = (algorithm, operation.op, operation.ranks, operation.bytes, operation.root, operation.sizes)
        if wanted not in known:
            known = {wanted: _flows(trace, operation, algorithm, chunk)}
        flows, turns = known[wanted]
        cells += len(flows) + sum(len(turn.after) for turn in turns)
        if cells > MAX_CELLS:
            what = f"the collectives make more than {MAX_CELLS:,} flows"
            raise InputError(what, where=trace.source or trace.name, hint="add --chunk 1GiB, or convert a part")
        used[operation.op] += 1
        size = sum(flow[2] for flow in flows)
        plain = {"group": None, "sizes": None, "root": 0, "algorithm": None, "dtype": "", "bytes": size}
        made.append(replace(operation, op="flows", flows=flows, turns=turns, **plain))  # type: ignore[arg-type]
    notes = [f"{count:,} {op} became flows" for op, count in used.items()]
    return replace(trace, operations=tuple(made)), notes


def _flows(
    trace: Trace, operation: Operation, algorithm: str | None, chunk: int | None
) -> tuple[Flows, tuple[Turn, ...]]:
    """A collective's chunk flows between global ranks, and what each waits for."""
    op, size, root = operation.op, operation.bytes, operation.root
    sizes = None if operation.sizes is None else np.array(operation.sizes, "i8")
    try:
        request = Request(op=op, ranks=len(operation.ranks), bytes=size, root=root, sizes=sizes, chunk_bytes=chunk)
        schedule = plan(request, algorithm)
    except InputError as error:
        place = f"{trace.source or trace.name}:{operation.line}" if operation.line else trace.source or trace.name
        raise InputError(f"{error.where}: {error.what}", where=place, hint=error.hint) from None
    ranks = np.array(operation.ranks)
    ends = zip(ranks[schedule.source].tolist(), ranks[schedule.target].tolist(), schedule.bytes.tolist(), strict=True)
    after, first = schedule.after.tolist(), schedule.first_after.tolist()
    turns = tuple(
        Turn(0, tuple(after[first[row] : first[row + 1]]), int(channel))
        for row, channel in enumerate(schedule.channel.tolist())
    )
    return tuple(ends), turns if any(turn != Turn() for turn in turns) else ()
