"""Collectives that need no relay: everybody sends what it has straight to where it belongs."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netsim.collectives.pieces import ALIGNMENT, WHOLE, cut, share
from netsim.collectives.schedule import Builder, Schedule
from netsim.collectives.wish import Wish
from netsim.errors import InputError

BARRIER_BYTES = 1

Int64s = NDArray[np.int64]


def gather(wish: Wish) -> Schedule:
    """Every rank sends its block, 1 / n of the buffer, to the root at once."""
    start, size = share(wish.bytes, wish.ranks, np.arange(wish.ranks))
    others = np.flatnonzero(np.arange(wish.ranks) != wish.root)
    return _straight(wish, others, np.full_like(others, wish.root), start[others], size[others])


def scatter(wish: Wish) -> Schedule:
    """The root sends every rank its block, 1 / n of the buffer, at once."""
    start, size = share(wish.bytes, wish.ranks, np.arange(wish.ranks))
    others = np.flatnonzero(np.arange(wish.ranks) != wish.root)
    return _straight(wish, np.full_like(others, wish.root), others, start[others], size[others])


def send(wish: Wish) -> Schedule:
    """Position 0 of two sends the buffer to position 1."""
    if wish.ranks != 2:
        raise InputError(f"{wish.ranks} ranks", where=wish.op, mend="a send is between 2 ranks: sender, receiver")
    return _straight(wish, [0], [1], [0], [wish.bytes])


def flows(wish: Wish) -> Schedule:
    """A traffic matrix: all flows (source, target, bytes) start at once; flows of 0 bytes are left out."""
    if wish.flows is None:
        raise InputError("flows are missing", where=wish.op, mend="give a list of [source, target, bytes]")
    table = np.asarray(wish.flows, dtype=np.int64)
    if table.size and (table.ndim != 2 or table.shape[1] != 3):
        raise InputError(
            f"flows have shape {table.shape}", where=wish.op, mend="give a list of [source, target, bytes]"
        )
    source, target, size = table.reshape(-1, 3).T
    ends = table.reshape(-1, 3)[:, :2]
    _refuse(wish, np.any((ends < 0) | (ends >= wish.ranks), axis=1), f"give ranks in 0..{wish.ranks - 1}")
    _refuse(wish, source == target, "a rank needs no network to reach itself: leave the flow out")
    _refuse(wish, size < 0, "give 0 or more bytes")
    return _straight(wish, source, target, np.zeros_like(size), size)


def barrier(wish: Wish) -> Schedule:
    """Dissemination: in round k rank i tells rank i + 2^k, once it has heard all it hears in earlier rounds.

    ceil(log2 n) rounds of one-byte messages (Hensgen, Finkel, Manber 1988).
    """
    ranks = wish.ranks
    builder = Builder(wish.op, "dissemination", ranks)
    rank = np.arange(ranks, dtype=np.int32)
    step = np.arange((ranks - 1).bit_length(), dtype=np.int32)
    reach = (1 << step)[:, None]
    rows = ranks * len(step)
    heard = step[:, None] * ranks + (rank - reach) % ranks
    builder.add(
        0,
        source=np.tile(rank, len(step)),
        target=((rank + reach) % ranks).ravel().astype(np.int32),
        size=np.full(rows, BARRIER_BYTES, dtype=np.int64),
        offset=np.zeros(rows, dtype=np.int64),
        reduces=np.zeros(rows, dtype=np.bool_),
        waits=np.repeat(step, ranks).astype(np.int16),
        after=np.concatenate([heard[:rounds].T.ravel() for rounds in range(len(step))] or [rank[:0]]),
    )
    return builder.build()


def _refuse(wish: Wish, wrong: NDArray[np.bool_], mend: str) -> None:
    """Raise InputError that names the first of the flows that are wrong."""
    for number in np.flatnonzero(wrong)[:1]:
        flow = [int(part) for part in np.asarray(wish.flows)[number]]
        raise InputError(f"flow {number} is {flow}", where=wish.op, mend=mend)


def _straight(wish: Wish, source: ArrayLike, target: ArrayLike, offset: ArrayLike, size: ArrayLike) -> Schedule:
    """One flow per source and target, shared among the channels asked for; nothing waits for anything."""
    senders, receivers = np.asarray(source, dtype=np.int32), np.asarray(target, dtype=np.int32)
    channels = wish.channels or 1
    builder = Builder(wish.op, "direct", wish.ranks)
    for channel in range(channels):
        first, part = share(size, channels, channel, ALIGNMENT)
        pieces = cut(np.asarray(offset, dtype=np.int64) + first, part, wish.chunk(WHOLE))
        builder.add(
            channel,
            source=senders[pieces.block],
            target=receivers[pieces.block],
            size=pieces.bytes,
            offset=pieces.offset,
            reduces=np.zeros(len(pieces), dtype=np.bool_),
            waits=np.zeros(len(pieces), dtype=np.int16),
            after=np.zeros(0, dtype=np.int32),
        )
    return builder.build()
