"""Bruck's all-gather and all-to-all: ceil(log2 n) rounds, for small blocks.

Bruck, Ho, Kipnis, Upfal, Weathersby 1997, "Efficient Algorithms for All-to-All Communications in Multiport
Message-Passing Systems".
"""

from collections.abc import Iterator

import numpy as np

from netsim.collectives.chunking import ALIGNMENT, WHOLE, count_pieces, share
from netsim.collectives.request import Request
from netsim.collectives.rounds import Round, add_rounds
from netsim.collectives.schedule import Builder, Int32s, Int64s, Schedule


def all_gather(request: Request) -> Schedule:
    """In round k a rank sends the 2^k blocks from its own on, or as many as are missing, to the rank 2^k places before.

    The blocks behind the last one are the first ones, and they go in one message.
    """
    ranks, total = request.ranks, request.bytes
    start, _ = share(total, ranks, np.arange(ranks))
    bounds, rank = np.concatenate((start, start + total)), np.arange(ranks)
    rounds = []
    for step in range(_steps(ranks)):
        blocks = min(1 << step, ranks - (1 << step))
        size = bounds[rank + blocks] - start
        rounds.append(Round(rank.astype(np.int32), _around(ranks, -(1 << step)), start, size))
    builder = Builder(request.op, "bruck", ranks)
    add_rounds(builder, rounds, range(request.channels or 1), request.chunk(WHOLE), total)
    return builder.build()


def all_to_all(request: Request) -> Schedule:
    """A block that has to go i places on goes 2^k places in each round k whose bit is set in i, packed with others.

    Offsets count in what a rank sends in a round: stripe by stripe (`stripes`), in each by the blocks' way (`packed`).
    """
    builder = Builder(request.op, "bruck", request.ranks)
    _expect_stripes(builder, request)
    before = [np.zeros(request.ranks, dtype=np.int64)] * _steps(request.ranks)
    for channel, _, size in stripes(request):
        rounds = [_packed_round(size, step, offset) for step, offset in enumerate(before)]
        before = [each.offset + each.size for each in rounds]
        add_rounds(builder, rounds, [channel], request.chunk(WHOLE), buffer=0)
    return builder.build()


def packed(ranks: int, step: int) -> Int64s:
    """How far the blocks of a message of this round have to go in all, in the order in which they are packed."""
    return np.flatnonzero(np.arange(ranks) >> step & 1)


def stripes(request: Request) -> Iterator[tuple[int, Int64s, Int64s]]:
    """Channel, first byte and length in each block (by target) of the stripes into which all blocks are cut alike.

    Each is a collective of its own, so thin that a message is one chunk, if 1 byte of each block is no more than that.
    """
    start, size = share(request.bytes, request.ranks, np.arange(request.ranks))
    channels = request.channels or 1
    width = _width(request)
    for channel in range(channels):
        first, part = share(size, channels, channel, ALIGNMENT)
        for begin in range(0, int(part.max()), width):
            yield channel, start + first + np.minimum(begin, part), np.clip(part - begin, 0, width)


def _width(request: Request) -> int:
    return max(request.chunk(WHOLE) // max(request.ranks // 2, 1), 1)


def _expect_stripes(builder: Builder, request: Request) -> None:
    """Announce the stripes that have bytes of every block: what remains of unequal blocks behind them is little."""
    ranks, least = request.ranks, request.bytes // request.ranks // ALIGNMENT * ALIGNMENT
    count = count_pieces(least, request.channels or 1, _width(request))
    pieces = np.array([-(-len(packed(ranks, step)) // request.chunk(WHOLE)) for step in range(_steps(ranks))], float)
    pairs = (pieces.sum() ** 2 - pieces @ pieces) / 2  # of a piece and one of an earlier round
    builder.expect(count * ranks * pieces.sum(), count * ranks * pairs)


def _packed_round(size: Int64s, step: int, offset: Int64s) -> Round:
    """`size` is the length of a block by target.

    A block that still has d places to go at rank r is for rank r + d. The lower bits of its way lie behind it already,
    whatever they were, so that d is an odd multiple of 2^step.
    """
    ranks, reach = len(size), 1 << step
    whole = np.zeros(ranks, dtype=np.int64)
    for ahead in range(reach, ranks, 2 * reach):
        whole += min(reach, ranks - ahead) * np.roll(size, -ahead)
    return Round(np.arange(ranks, dtype=np.int32), _around(ranks, reach), offset, whole)


def _steps(ranks: int) -> int:
    return (ranks - 1).bit_length()


def _around(ranks: int, places: int) -> Int32s:
    """The rank so many places further on, of each rank."""
    return ((np.arange(ranks) + places) % ranks).astype(np.int32)
