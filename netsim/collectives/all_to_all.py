"""All-to-all, pairwise: in round k every rank sends to the rank k places further on."""

import numpy as np
from numpy.typing import NDArray

from netsim.collectives.pieces import ALIGNMENT, WHOLE, cut, refuse_too_many, share
from netsim.collectives.schedule import Builder, Schedule
from netsim.collectives.wish import Wish
from netsim.errors import InputError

Int64s = NDArray[np.int64]


def all_to_all(wish: Wish) -> Schedule:
    """Each rank's buffer of S bytes holds a block of S / n for every rank; its own block stays at home."""
    start, size = share(wish.bytes, wish.ranks, np.arange(wish.ranks))
    square = (wish.ranks, wish.ranks)
    return _pairwise(wish, np.broadcast_to(start, square), np.broadcast_to(size, square))


def all_to_all_v(wish: Wish) -> Schedule:
    """Rank i sends `sizes[i, j]` bytes to rank j; blocks lie in the buffer of i in the order of j."""
    if wish.sizes is None:
        raise InputError("sizes are missing", where=wish.op, mend="give sizes[i][j], the bytes from rank i to rank j")
    return _pairwise(wish, np.cumsum(wish.sizes, axis=1) - wish.sizes, wish.sizes)


def _pairwise(wish: Wish, offset: Int64s, size: Int64s) -> Schedule:
    """Rounds k = 1..n-1; rank i starts round k when what it receives in round k - 1 has arrived.

    `offset` and `size` are i8[n, n], by source and target. A block is sent whole where the wish names no chunk_bytes.
    """
    refuse_too_many(wish.ranks * (wish.ranks - 1))
    channels = wish.channels or 1
    sender = np.arange(wish.ranks)
    receiver = (sender + np.arange(1, wish.ranks)[:, None]) % wish.ranks
    builder = Builder(wish.op, "pairwise", wish.ranks)
    for channel in range(channels):
        first, part = share(size[sender, receiver], channels, channel, ALIGNMENT)
        _rounds(builder, channel, receiver, offset[sender, receiver] + first, part, wish.chunk(WHOLE))
    return builder.build()


def _rounds(builder: Builder, channel: int, receiver: Int64s, offset: Int64s, size: Int64s, chunk: int) -> None:
    """Add the rows of one channel; tables are [round, sender]."""
    ranks = size.shape[1]
    pieces = cut(offset.ravel(), size.ravel(), chunk)
    awaited = _last_received_before(size, receiver, chunk).ravel()[pieces.block]
    builder.add(
        channel,
        source=(pieces.block % ranks).astype(np.int32),
        target=receiver.ravel()[pieces.block].astype(np.int32),
        size=pieces.bytes,
        offset=pieces.offset,
        reduces=np.zeros(len(pieces), dtype=np.bool_),
        waits=(awaited >= 0).astype(np.int16),
        after=awaited[awaited >= 0].astype(np.int32),
    )


def _last_received_before(size: Int64s, receiver: Int64s, chunk: int) -> Int64s:
    """The last row that each rank receives before each round, -1 for none; rounds that bring nothing are passed over.

    Rows of later rounds have higher numbers, so "the latest" is the running maximum.
    """
    counts = -(-size // chunk)
    last = np.where(counts > 0, np.cumsum(counts).reshape(size.shape) - 1, -1)
    received = np.empty_like(last)
    np.put_along_axis(received, receiver, last, axis=1)
    before = np.full_like(last, -1)
    before[1:] = np.maximum.accumulate(received, axis=0)[:-1]
    return before
