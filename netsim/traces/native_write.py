"""Writing a trace as native JSON lines; what is written reads back as the same trace."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from netsim.traces.input_files import trace_name
from netsim.traces.native import KEYS, VERSION
from netsim.traces.trace import DEFAULT_STREAM, ROOTED, WORLD, Flows, Operation, Trace, Turn
from netsim.units import time_text
from netsim.writing import write_whole


def write_native(trace: Trace, path: str | Path) -> None:
    """Write a trace to `path`, packed where the name ends in ".gz"; the same trace gives the same bytes."""
    path = Path(path)
    write_whole(path, (f"{json.dumps(record, ensure_ascii=False)}\n".encode() for record in _records(trace, path)))


def _records(trace: Trace, path: Path) -> Iterator[dict[str, Any]]:
    header: dict[str, Any] = {"netsim": VERSION, "ranks": trace.ranks}
    if trace.name != trace_name(path, ".jsonl"):
        header["name"] = trace.name
    groups = {name: group.ranks for name, group in trace.groups.items() if name != WORLD}
    if groups:
        header["groups"] = groups
    if trace.notes:
        header["notes"] = trace.notes
    yield header
    for operation in trace.operations:
        yield _record(operation)


def _record(operation: Operation) -> dict[str, Any]:
    known = KEYS[operation.op]
    values = {"op": operation.op, "flows": _flows(operation), **plain_keys(operation)}
    return {key: value for key, value in values.items() if key in known and value is not None}


def plain_keys(operation: Operation) -> dict[str, Any]:
    """The value of each key but "op" and "flows"; None where it says nothing."""
    recorded = {"start": operation.recorded_start_ps, "duration": operation.recorded_duration_ps}
    measured = {key: time_text(value) for key, value in recorded.items() if value is not None}
    return {
        "group": operation.group,
        "ranks": operation.ranks if operation.group is None else None,
        "src": operation.src,
        "dst": operation.dst,
        "bytes": operation.bytes,
        "sizes": operation.sizes,
        "dtype": operation.dtype or None,
        "root": operation.root if operation.op in ROOTED and operation.root else None,
        "duration": time_text(operation.duration_ps),
        "algorithm": operation.algorithm,
        "stream": operation.stream if operation.stream != DEFAULT_STREAM else None,
        "after": operation.after or None,
        "start": time_text(operation.start_ps) if operation.start_ps else None,
        "recorded": measured or None,
    }


def _flows(operation: Operation) -> list[Any] | Flows:
    """Each flow as [source, target, bytes]; as an object where more is to be said of it."""
    if not operation.turns:
        return operation.flows
    return [_flow(flow, turn) for flow, turn in zip(operation.flows, operation.turns, strict=True)]


def _flow(flow: tuple[int, int, int], turn: Turn) -> list[int] | dict[str, Any]:
    more = {
        "start": time_text(turn.start_ps) if turn.start_ps else None,
        "after": turn.after or None,
        "channel": turn.channel or None,
    }
    recorded = {key: value for key, value in more.items() if value is not None}
    return {"src": flow[0], "dst": flow[1], "bytes": flow[2], **recorded} if recorded else list(flow)
