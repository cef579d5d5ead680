"""The columns of a result's tables, and those that follow from what was measured: bandwidths and slowdowns."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

TABLES = {  # the columns of each Parquet file, in order
    "collectives": {
        "id": "int64", "op": "string", "algorithm": "string", "group": "string", "stream": "string",
        "ranks": "int64", "bytes": "int64",
        "start_ps": "int64", "end_ps": "int64", "time_ps": "int64", "algbw_gbs": "double", "busbw_gbs": "double",
        "ideal_ps": "int64", "slowdown": "double", "together_ps": "int64", "recorded_ps": "int64",
        "against_recorded": "double",
    },
    "parts": {"collective": "int64", "rank": "int64", "start_ps": "int64", "end_ps": "int64"},
    "flows": {
        "collective": "int64", "src": "int64", "dst": "int64", "channel": "int64", "bytes": "int64",
        "start_ps": "int64", "delivered_ps": "int64", "acked_ps": "int64", "ideal_ps": "int64", "slowdown": "double",
        "packets": "int64", "retransmitted": "int64", "marked": "int64", "dropped": "int64",
    },
    "links": {
        "id": "int64", "source": "string", "target": "string", "kind": "string", "rate_bps": "int64", "bytes": "int64",
        "packets": "int64", "busy_fraction": "double", "drops": "int64", "lost": "int64", "trims": "int64",
        "ecn_marks": "int64",
        "pauses_sent": "int64", "paused_ps": "int64", "max_queue_bytes": "int64", "mean_queue_bytes": "double",
    },
    "queues": {
        "time_ps": "int64", "link": "int64", "bytes": "int64",
        "sent_bytes": "int64", "ecn_marks": "int64", "drops": "int64", "paused_ps": "int64",
    },
}  # fmt: skip
ARROW = {"int64": "int64", "double": "float64", "string": "string"}  # their types in the files
PS_PER_SECOND, BYTES_PER_GB = 1e12, 1e9

# nccl-tests, PERFORMANCE.md: busbw = algbw * factor * (n - 1) / n, which compares with the links' rate whatever n is
BUS_FACTORS = {
    "all_reduce": 2,
    **dict.fromkeys(["all_gather", "reduce_scatter", "all_to_all", "all_to_all_v", "gather", "scatter"], 1),
}


Columns = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class RawResult:
    """What a run measured: plain columns of the five tables (times in ps, sizes in bytes), and totals."""

    collectives: Columns
    parts: Columns
    flows: Columns
    links: Columns
    queues: Columns
    totals: dict[str, Any]


def tables_of(raw_result: RawResult) -> dict[str, pd.DataFrame]:
    """The tables of a run by name: what was measured, and what follows from it."""
    return {name: _table(name, getattr(raw_result, name)) for name in TABLES}


def _table(name: str, measured: Columns) -> pd.DataFrame:
    columns = {column: np.asarray(values) for column, values in measured.items()}
    if name in FOLLOWS:
        columns |= FOLLOWS[name](columns)
    return pd.DataFrame({column: _typed(columns[column], kind) for column, kind in TABLES[name].items()})


def _of_collectives(columns: Columns) -> Columns:
    """Time, bandwidths, slowdown and the comparison with recorded times.

    A recorded duration (-1: none) is that of the rank that came last and waited for nobody: what compares with it is
    the time together, from when the last rank came.
    """
    time_ps = columns["end_ps"] - columns["start_ps"]
    moved = np.where(columns["bytes"] > 0, columns["bytes"], np.nan)  # a barrier has no bandwidth
    algbw = _ratio(moved, time_ps) * (PS_PER_SECOND / BYTES_PER_GB)
    factors = np.array([bus_factor(op, int(n)) for op, n in zip(columns["op"], columns["ranks"], strict=True)], float)
    # A receiver that comes when all has arrived finds nothing left to wait for.
    together_ps = np.maximum(0, columns["end_ps"] - columns["last_start_ps"])
    return {
        "time_ps": time_ps,
        "algbw_gbs": algbw,
        "busbw_gbs": algbw * factors,
        "slowdown": _ratio(time_ps, columns["ideal_ps"]),
        "together_ps": together_ps,
        "against_recorded": _ratio(together_ps, columns["recorded_ps"]),
    }


def _of_flows(columns: Columns) -> Columns:
    """The slowdown: from start to delivery, over the same on an idle network."""
    return {"slowdown": _ratio(columns["delivered_ps"] - columns["start_ps"], columns["ideal_ps"])}


FOLLOWS = {"collectives": _of_collectives, "flows": _of_flows}


def bus_factor(op: str, ranks: int) -> float:
    """busbw / algbw of an operation among `ranks` ranks, as nccl-tests define it; 1 where they do not say."""
    return BUS_FACTORS[op] * (ranks - 1) / ranks if op in BUS_FACTORS else 1.0


def _ratio(above: NDArray[Any], below: NDArray[Any]) -> NDArray[np.float64]:
    """above / below, NaN where either is not there: nothing ended, or there is nothing to compare with."""
    result = np.full(len(above), np.nan)
    np.divide(above, below, out=result, where=(below > 0) & (above >= 0))
    return result


def _typed(values: NDArray[Any], kind: str) -> NDArray[Any]:
    if kind == "string":  # a send has no group: an empty text
        return np.array(["" if text is None else str(text) for text in values], dtype=object)
    return values.astype(np.int64 if kind == "int64" else np.float64)
