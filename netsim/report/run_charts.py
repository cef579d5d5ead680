"""The smaller pictures of the report: kinds of collectives against ideal, bandwidth over size, distributions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from netsim.report.summary import grouped
from netsim.report.text import plain
from netsim.result import Result

MOST_KINDS = 24  # bars
MOST_CURVES = 6  # told apart by colour
POINTS = 160  # of a distribution


def kinds_of(result: Result) -> dict[str, Any]:
    """Operations that are alike in one row, those that took the most time in all first."""
    equal = grouped(result.collectives) if len(result.collectives) else []
    equal = sorted(equal, key=lambda each: -int(each["time_ps"].sum()))
    return {"rows": [_kind(each) for each in equal[:MOST_KINDS]], "of": len(equal)}


def _kind(equal: pd.DataFrame) -> dict[str, Any]:
    first, groups = equal.iloc[0], equal["group"].unique()
    return {
        "op": str(first["op"]),
        "algorithm": str(first["algorithm"]),
        "group": str(groups[0]) if len(groups) == 1 else f"{len(groups):,} groups",
        "ranks": int(first["ranks"]),
        "bytes": int(first["bytes"]),
        "count": len(equal),
        "time_ps": float(equal["time_ps"].median()),
        "slowest_ps": int(equal["time_ps"].max()),
        "ideal_ps": float(equal["ideal_ps"].median()),
        "slowdown": plain(equal["slowdown"].median()),
    }


def bandwidths_of(result: Result) -> list[dict[str, Any]]:
    """busbw over bytes, a curve per operation, algorithm and number of ranks that ran with several sizes."""
    known = result.collectives.dropna(subset=["busbw_gbs"])
    curves = []
    for (op, algorithm, ranks), equal in known.groupby(["op", "algorithm", "ranks"], sort=False):
        if equal["bytes"].nunique() < 2:
            continue
        medians = equal.groupby("bytes")["busbw_gbs"].median()
        name = f"{op} ({algorithm}), {ranks:,} ranks"
        curves.append({"name": name, "x": [int(each) for each in medians.index], "y": medians.round(4).tolist()})
    return sorted(curves, key=lambda each: -len(each["x"]))[:MOST_CURVES]


def slowdowns_of(result: Result) -> list[dict[str, Any]]:
    """The distribution of the flows' slowdown, by operation."""
    flows = result.flows.dropna(subset=["slowdown"])
    op_of = result.collectives.set_index("id")["op"]
    return _by(flows["slowdown"], flows["collective"].map(op_of))


def queue_lengths_of(result: Result) -> list[dict[str, Any]]:
    """The distribution of sampled queue lengths in bytes, by the kind of link; moments without a queue left out."""
    return _by(result.queues["bytes"], result.queues["link"].map(result.links.set_index("id")["kind"]))


def _by(values: pd.Series[Any], kinds: pd.Series[Any]) -> list[dict[str, Any]]:
    sizes = kinds.value_counts(sort=True)
    return [{"name": str(kind), **distribution(values[kinds == kind])} for kind in sizes.index[:MOST_CURVES]]


def distribution(values: ArrayLike) -> dict[str, Any]:
    """`share` of the values that are at most `x`, at a few points; closer together towards the largest."""
    ordered: NDArray[np.float64] = np.sort(np.asarray(values, float))
    count = len(ordered)
    even = np.linspace(0, count - 1, POINTS)
    tail = count - np.geomspace(1, max(1, count), POINTS)
    places = np.unique(np.clip(np.concatenate([even, tail]).round(), 0, count - 1).astype(np.int64))
    shares = (places + 1) / count
    return {"count": count, "x": ordered[places].round(4).tolist(), "share": shares.round(6).tolist()}
