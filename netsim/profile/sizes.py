"""How large the requests are: per operation, as a histogram in powers of two, and as a distribution."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd


def by(requests: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Count and bytes of the requests that are alike in `keys`, the most bytes first.

    The median is the mean of the two middle sizes, as usual; 95 % of the requests are no larger than `bytes_p95`.
    """
    table = requests.groupby(list(keys), sort=False, as_index=False).agg(
        count=("bytes", "size"),
        bytes_total=("bytes", "sum"),
        bytes_min=("bytes", "min"),
        bytes_median=("bytes", "median"),
        bytes_mean=("bytes", "mean"),
        bytes_p95=("bytes", _p95),
        bytes_max=("bytes", "max"),
        part_bytes_median=("part_bytes", "median"),
        part_bytes_total=("part_bytes", "sum"),
    )
    return table.sort_values(["bytes_total", "count"], ascending=False, kind="stable", ignore_index=True)


def _p95(sizes: pd.Series[int]) -> int:
    return int(np.quantile(sizes, 0.95, method="inverted_cdf"))


def histogram(requests: pd.DataFrame) -> pd.DataFrame:
    """Requests by power of two and operation: from_bytes <= size < to_bytes; empty ones stand in a row of their own."""
    size = requests["bytes"].to_numpy()
    power = np.where(size > 0, np.frexp(np.maximum(size, 1).astype(np.float64))[1] - 1, -1)
    power = np.where((size > 0) & (size < 2.0**power), power - 1, power).astype(np.int64)  # 2^53 and up round
    counted = requests.assign(power=power).groupby(["power", "op"])["bytes"].agg(["size", "sum"]).reset_index()
    exponent = counted["power"].to_numpy()
    return pd.DataFrame(
        {
            "from_bytes": np.where(exponent < 0, 0, np.int64(1) << np.maximum(exponent, 0)),
            "to_bytes": np.int64(1) << (exponent + 1),
            "op": counted["op"],
            "count": counted["size"].astype("int64"),
            "bytes_total": counted["sum"].astype("int64"),
        }
    )


def distribution(requests: pd.DataFrame) -> pd.DataFrame:
    """Each size that occurs, ascending: how often, and which part of the requests and of the bytes is no larger."""
    sizes, count = np.unique(requests["bytes"].to_numpy(), return_counts=True)
    moved = np.cumsum(sizes.astype(np.float64) * count)
    every = max(float(moved[-1]) if len(moved) else 0.0, 1.0)
    return pd.DataFrame(
        {
            "bytes": sizes.astype(np.int64),
            "count": count.astype(np.int64),
            "requests_up_to": np.cumsum(count) / max(len(requests), 1),
            "bytes_up_to": moved / every,
        }
    )
