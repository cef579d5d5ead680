"""Sharing bytes out and cutting them into pieces."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from netsim.collectives.schedule import Int32s, Int64s
from netsim.errors import InputError

ALIGNMENT = 16
"""Bytes. NCCL shares a buffer out in packs of 16 bytes, so that no element is ever cut (device/all_reduce.h)."""

WHOLE = 1 << 62
"""A chunk size that cuts nothing."""

MOST_ROWS = 1 << 28
"""More chunk flows than this would take about 10 GB and no simulation would finish: surely a mistake."""


@dataclass(frozen=True, eq=False, slots=True)
class Pieces:
    """Stretches of a buffer: the block each was cut from (i4[p]), its first byte and its length (i8[p])."""

    block: Int32s
    offset: Int64s
    bytes: Int64s

    def __len__(self) -> int:
        return len(self.bytes)


def share(total: ArrayLike, parts: int, which: ArrayLike, alignment: int = 1) -> tuple[Any, Any]:
    """First byte and length of part number `which` when `total` bytes are shared among `parts`; works elementwise.

    Lengths are multiples of the alignment but for the last part, differ by at most the alignment, and add up.
    """
    units, rest = np.divmod(np.asarray(total, dtype=np.int64), alignment)
    each, extra = np.divmod(units, parts)
    part = np.asarray(which, dtype=np.int64)
    start = (part * each + np.minimum(part, extra)) * alignment
    return start, (each + (part < extra)) * alignment + np.where(part == parts - 1, rest, 0)


def cut(offset: ArrayLike, size: ArrayLike, chunk: int) -> Pieces:
    """Cut blocks (first byte, length) into pieces of `chunk` bytes and a shorter last one; empty blocks give none."""
    offsets, sizes = np.atleast_1d(np.asarray(offset, np.int64)), np.atleast_1d(np.asarray(size, np.int64))
    counts = -(-sizes // chunk)
    refuse_too_many(int(counts.sum()))
    block = np.repeat(np.arange(len(sizes), dtype=np.int32), counts)
    index = np.arange(len(block)) - np.repeat(np.cumsum(counts) - counts, counts)
    before = index * chunk
    return Pieces(block, offsets[block] + before, np.minimum(sizes[block] - before, chunk))


def refuse_too_many(rows: int) -> None:
    """Raise InputError when a schedule would have more rows than any run could carry."""
    if rows > MOST_ROWS:
        what = f"the schedule would have {rows:,} chunk flows or more (limit {MOST_ROWS:,})"
        raise InputError(what, where="collective", hint="use a larger chunk_bytes or fewer channels")
