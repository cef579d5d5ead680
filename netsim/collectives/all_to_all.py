"""All-to-all, pairwise: in round k every rank sends to the rank k places further on."""

import numpy as np

from netsim.collectives.chunking import ALIGNMENT, WHOLE, count_pieces, cut, share
from netsim.collectives.request import Request
from netsim.collectives.schedule import Builder, Int64s, Schedule
from netsim.errors import InputError


def all_to_all(request: Request) -> Schedule:
    """Each rank's buffer of S bytes holds a block of S / n for every rank; its own block stays at home."""
    start, size = share(request.bytes, request.ranks, np.arange(request.ranks))
    square = (request.ranks, request.ranks)
    return _pairwise(request, np.broadcast_to(start, square), np.broadcast_to(size, square))


def all_to_all_v(request: Request) -> Schedule:
    """Rank i sends `sizes[i, j]` bytes to rank j; blocks lie in the buffer of i in the order of j."""
    if request.sizes is None:
        hint = "give sizes[i][j], the bytes from rank i to rank j"
        raise InputError("sizes are missing", where=request.op, hint=hint)
    return _pairwise(request, np.cumsum(request.sizes, axis=1) - request.sizes, request.sizes)


def _pairwise(request: Request, offset: Int64s, size: Int64s) -> Schedule:
    """Rounds k = 1..n-1; rank i starts round k when what it receives in round k - 1 has arrived.

    `offset` and `size` are i8[n, n], by source and target. A block is sent whole if the request names no chunk_bytes.
    """
    builder = Builder(request.op, "pairwise", request.ranks)
    builder.expect(request.ranks * (request.ranks - 1))
    channels, chunk = request.channels or 1, request.chunk(WHOLE)
    sender = np.arange(request.ranks)
    receiver = (sender + np.arange(1, request.ranks)[:, None]) % request.ranks
    offset, size = offset[sender, receiver], size[sender, receiver]
    builder.expect(count_pieces(size, channels, chunk).sum())
    for channel in range(channels):
        first, part = share(size, channels, channel, ALIGNMENT)
        _rounds(builder, channel, receiver, offset + first, part, chunk)
    return builder.build()


def _rounds(builder: Builder, channel: int, receiver: Int64s, offset: Int64s, size: Int64s, chunk: int) -> None:
    """Add the rows of one channel; tables are [round, sender]."""
    ranks = size.shape[1]
    chunks = cut(offset.ravel(), size.ravel(), chunk)
    awaited = _last_received_before(size, receiver, chunk).ravel()[chunks.block]
    builder.add(
        channel,
        source=chunks.block % ranks,
        target=receiver.ravel()[chunks.block],
        size=chunks.bytes,
        offset=chunks.offset,
        waits=(awaited >= 0).astype(np.int16),
        after=awaited[awaited >= 0],
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
