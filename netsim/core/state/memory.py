"""Memory for the tables of a World: rows are laid out in cache lines, so a table has to begin with one."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

LINE = 64  # bytes of a cache line


def aligned_zeros(rows: int, dtype: DTypeLike) -> Any:
    """A table of `rows` zero rows that begins at a cache line; the memory is taken when it is first written to."""
    row = np.dtype(dtype)
    raw = np.zeros(rows * row.itemsize + LINE, "u1")
    start = -raw.ctypes.data % LINE
    return raw[start : start + rows * row.itemsize].view(row)
