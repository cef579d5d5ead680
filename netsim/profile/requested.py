"""The requests of a trace as one table: each collective and send is one, each flow of a matrix is one."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd

from netsim.traces import Operation, Trace

PER_PART = ("all_gather", "reduce_scatter", "gather", "scatter")  # where one rank's part is the n-th of the buffer
TOGETHER = "point to point"  # the group of what runs on none

COLUMNS = ("op", "group", "ranks", "stream", "bytes", "part_bytes", "start_ps", "duration_ps")


def requests(trace: Trace) -> pd.DataFrame:
    """One row per request: op, group, ranks, stream, bytes, part_bytes, start_ps, duration_ps.

    `bytes` is the full buffer, `part_bytes` what one rank gives or gets of it. Times are recorded ones of a real run,
    NaN where there are none. Computing is no request.
    """
    rows = [row for operation in trace.operations if operation.op != "compute" for row in _rows(operation)]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return table.astype(dict.fromkeys(("ranks", "bytes", "part_bytes"), "int64") | dict.fromkeys(_TIMES, "float64"))


_TIMES = ("start_ps", "duration_ps")


def _rows(operation: Operation) -> list[tuple[object, ...]]:
    group, ranks = operation.group or TOGETHER, len(operation.ranks)
    when = (_or_nan(operation.recorded_start_ps), _or_nan(operation.recorded_duration_ps))
    if operation.op == "flows":
        return [("flows", group, 2, operation.stream, size, size, *when) for _, _, size in operation.flows]
    part = operation.bytes // ranks if operation.op in PER_PART else operation.bytes
    return [(operation.op, group, ranks, operation.stream, operation.bytes, part, *when)]


def _or_nan(time_ps: int | None) -> float:
    return np.nan if time_ps is None else float(time_ps)


def calls_by_rank(trace: Trace) -> pd.DataFrame:
    """What each rank takes part in: requests, bytes (of full buffers), and the time it computes."""
    requests, size, computes = (np.zeros(trace.ranks, dtype=np.int64) for _ in range(3))
    uniform: Counter[tuple[int, ...]] = Counter()
    together: Counter[tuple[int, ...]] = Counter()
    for operation in trace.operations:
        if operation.op == "compute":
            computes[list(operation.ranks)] += operation.duration_ps
        elif operation.op == "flows":
            flows = np.array(operation.flows, dtype=np.int64).reshape(-1, 3)
            for end in (flows[:, 0], flows[:, 1]):
                np.add.at(requests, end, 1)
                np.add.at(size, end, flows[:, 2])
        else:
            uniform[operation.ranks] += 1
            together[operation.ranks] += operation.bytes
    for ranks, number in uniform.items():
        requests[list(ranks)] += number
        size[list(ranks)] += together[ranks]
    columns = {"requests": requests, "bytes": size, "compute_ps": computes}
    return pd.DataFrame({"rank": np.arange(trace.ranks), **columns})
