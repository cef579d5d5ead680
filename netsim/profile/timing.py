"""When a job communicates: bytes per millisecond over time, and the part of the time in which anything is under way."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

PS_PER_MS = 10**9
MOST_BINS = 20_000  # longer runs are shown in bins of several milliseconds

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Bursts:
    """Traffic over time, from the first recorded start on.

    `table` has start_ms, bytes and bytes_per_ms for bins of `bin_ms`; `duty_cycle` is the part of the time in which
    some request is under way; a burst is a stretch of such time, ended by an idle bin.
    """

    table: pd.DataFrame
    bin_ms: int
    timed: int
    span_ms: float
    duty_cycle: float
    bursts: int
    peak_bytes_per_ms: float
    mean_bytes_per_ms: float

    def summary(self) -> dict[str, float | int]:
        """All but the table."""
        return {name: getattr(self, name) for name in _SUMMARY}


_SUMMARY = ("timed", "span_ms", "duty_cycle", "bursts", "peak_bytes_per_ms", "mean_bytes_per_ms", "bin_ms")


def bursts(requests: pd.DataFrame) -> Bursts | None:
    """Spread each timed request evenly over its recorded time; None where no request has a time."""
    timed = requests[requests["start_ps"].notna()]
    if timed.empty:
        return None
    start = timed["start_ps"].to_numpy()
    start = (start - start.min()) / PS_PER_MS
    length = np.nan_to_num(timed["duration_ps"].to_numpy()) / PS_PER_MS
    size = timed["bytes"].to_numpy().astype(np.float64)
    end = start + length
    span = max(float(end.max()), 1e-9)
    width = max(1, -(-int(np.ceil(span)) // MOST_BINS))
    bins = max(1, int(np.ceil(span / width)))
    moved = _spread(start, end, size, width, bins)
    touched = _touched(start, end, width, bins)
    busy = float(covered(start, end)) / span if length.any() else float(touched.mean())
    table = pd.DataFrame(
        {"start_ms": np.arange(bins, dtype=np.int64) * width, "bytes": moved, "bytes_per_ms": moved / width}
    )
    return Bursts(
        table=table,
        bin_ms=width,
        timed=len(timed),
        span_ms=span,
        duty_cycle=min(busy, 1.0),
        bursts=int(touched[0]) + int((touched[1:] & ~touched[:-1]).sum()),
        peak_bytes_per_ms=float(moved.max()) / width,
        mean_bytes_per_ms=float(size.sum()) / max(span, 1.0),
    )


def _spread(start: Floats, end: Floats, size: Floats, width: int, bins: int) -> Floats:
    """Bytes in each bin: those of a request are spread evenly from its start to its end."""
    first = np.minimum((start / width).astype(np.int64), bins - 1)
    last = np.minimum((end / width).astype(np.int64), bins - 1)
    inside = first == last
    moved = np.bincount(first[inside], weights=size[inside], minlength=bins).astype(np.float64)
    for one, other, begin, stop, amount in zip(
        first[~inside], last[~inside], start[~inside], end[~inside], size[~inside], strict=True
    ):
        edges = np.arange(one, other + 2) * float(width)
        edges[0], edges[-1] = begin, stop
        moved[one : other + 1] += amount * np.diff(edges) / (stop - begin)
    return moved


def _touched(start: Floats, end: Floats, width: int, bins: int) -> NDArray[np.bool_]:
    """Which bins some request is under way in."""
    change = np.zeros(bins + 1, dtype=np.int64)
    np.add.at(change, np.minimum((start / width).astype(np.int64), bins - 1), 1)
    np.add.at(change, np.minimum((end / width).astype(np.int64), bins - 1) + 1, -1)
    return np.cumsum(change)[:bins] > 0


def covered(start: NDArray[Any], end: NDArray[Any]) -> Any:
    """The length of time in which at least one of some stretches is under way; 0 where there are none."""
    order = np.argsort(start, kind="stable")
    begin, until = start[order], np.maximum.accumulate(end[order])
    before = np.concatenate([begin[:1], until[:-1]])  # all that began before is done up to here
    return np.maximum(until - np.maximum(begin, before), 0).sum()
