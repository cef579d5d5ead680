"""Sharing bytes out and cutting them into pieces."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netsim.collectives.schedule import Int32s, Int64s

ALIGNMENT = 16
"""Bytes. NCCL shares a buffer out in packs of 16 bytes, so that no element is ever cut (device/all_reduce.h)."""

WHOLE = 1 << 62
"""A chunk size that cuts nothing."""


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
    block = np.repeat(np.arange(len(sizes), dtype=np.int32), counts)
    index = np.arange(len(block)) - np.repeat(np.cumsum(counts) - counts, counts)
    before = index * chunk
    return Pieces(block, offsets[block] + before, np.minimum(sizes[block] - before, chunk))


def count_pieces(size: ArrayLike, parts: int, chunk: int) -> NDArray[np.float64]:
    """The pieces of each block when it is shared among `parts`, aligned, and each part is cut: without making them."""
    units, rest = np.divmod(np.asarray(size, dtype=np.int64), ALIGNMENT)
    each, extra = np.divmod(units, parts)
    longer, shorter, last = (each + 1) * ALIGNMENT, each * ALIGNMENT, each * ALIGNMENT + rest
    count: NDArray[np.int64] = (
        extra * -(-longer // chunk) + (parts - 1 - extra) * -(-shorter // chunk) - (-last // chunk)
    )
    return count.astype(np.float64)  # whose sums do not overflow
