"""Rings: every piece travels from neighbour to neighbour, all pieces at once."""

from collections.abc import Callable

import numpy as np

from netsim.collectives.chunking import ALIGNMENT, Pieces, count_pieces, cut, share
from netsim.collectives.layout import Layout, chains
from netsim.collectives.request import Request
from netsim.collectives.schedule import Builder, Int32s, Int64s, Schedule

RING_CHUNK = 1 << 20
"""Bytes of one slice of NCCL's Ring Simple: 2 slots of 512 KiB (collectives.h)."""

CHAIN_CHUNK = 512 << 10
"""Bytes of one slice of NCCL's Ring Simple broadcast and reduce: 1 slot."""


Blocks = tuple[Int64s, Int64s]
"""The first byte and the length of each position's block, of what one channel carries."""


def all_reduce(request: Request) -> Schedule:
    """Reduce-scatter, then all-gather, round one ring per channel: 2 (n - 1) / n bytes per rank and byte.

    Bytes are shared among channels, then among ranks, then cut. Block b is complete at position b after n - 1 hops.
    """
    hops = request.ranks - 1
    return _ring(request, _shared_out, RING_CHUNK, first_seat=1, hops=2 * hops, adding=hops)


def reduce_scatter(request: Request) -> Schedule:
    """Block b starts at the neighbour after position b and is complete when it arrives at b, n - 1 hops later."""
    hops = request.ranks - 1
    return _ring(request, _part_of_blocks, RING_CHUNK, first_seat=1, hops=hops, adding=hops)


def all_gather(request: Request) -> Schedule:
    """Block b starts at position b and makes n - 1 hops."""
    return _ring(request, _part_of_blocks, RING_CHUNK, first_seat=0, hops=request.ranks - 1, adding=0)


def broadcast(request: Request) -> Schedule:
    """The ring cut open before the root: pieces follow one another down the chain."""
    return _ring(request, _all_of_the_root, CHAIN_CHUNK, first_seat=0, hops=request.ranks - 1, adding=0)


def reduce(request: Request) -> Schedule:
    """The ring cut open after the root: pieces follow one another up the chain, and everybody adds its own."""
    hops = request.ranks - 1
    return _ring(request, _all_of_the_root, CHAIN_CHUNK, first_seat=1, hops=hops, adding=hops)


def ring_order(layout: Layout, channel: int) -> Int32s:
    """The positions in the order of a channel's ring: server by server, entered on the channel's rail."""
    return np.concatenate(chains(layout, channel))


def seats(order: Int32s) -> Int32s:
    """The place in the ring of each position."""
    seat = np.empty_like(order)
    seat[order] = np.arange(len(order), dtype=order.dtype)
    return seat


def _shared_out(request: Request, channel: int) -> Blocks:
    """A channel's part of the buffer, shared out among the positions."""
    first, size = share(request.bytes, request.rail_channels(), channel, ALIGNMENT)
    start, sizes = share(size, request.ranks, np.arange(request.ranks), ALIGNMENT)
    return first + start, sizes


def _part_of_blocks(request: Request, channel: int) -> Blocks:
    """A channel's part of each of the n blocks (one per rank) of an all-gather or reduce-scatter."""
    start, sizes = share(request.bytes, request.ranks, np.arange(request.ranks))
    first, part = share(sizes, request.rail_channels(), channel, ALIGNMENT)
    return start + first, part


def _all_of_the_root(request: Request, channel: int) -> Blocks:
    """A channel's part of the buffer, as the root's block; the other positions have none."""
    first, size = share(request.bytes, request.rail_channels(), channel, ALIGNMENT)
    return np.full(request.ranks, first), np.where(np.arange(request.ranks) == request.root, size, 0)


def _ring(
    request: Request,
    blocks: Callable[[Request, int], Blocks],
    usual_chunk: int,
    *,
    first_seat: int,
    hops: int,
    adding: int,
) -> Schedule:
    """The pieces of a position's block start `first_seat` places after it and make `hops` hops."""
    builder, channels = Builder(request.op, "ring", request.ranks), range(request.rail_channels())
    chunk = request.chunk(usual_chunk)
    builder.expect(hops * sum(count_pieces(blocks(request, channel)[1], 1, chunk).sum() for channel in channels))
    for channel in channels:
        chunks = cut(*blocks(request, channel), chunk)
        order = ring_order(request.places, channel)
        start = (seats(order)[chunks.block] + first_seat) % request.ranks
        _travel(builder, channel, order, chunks, start, hops=hops, adding=adding)
    return builder.build()


def _travel(
    builder: Builder, channel: int, order: Int32s, chunks: Pieces, start: Int32s, *, hops: int, adding: int
) -> None:
    """Each piece goes `hops` places round the ring from its start; the receivers of the first `adding` hops add.

    Row (hop, piece) waits for row (hop - 1, piece), which stands len(pieces) rows before it.
    """
    count, ranks = len(chunks), len(order)
    hop = np.arange(hops, dtype=np.int32)
    seat = ((start.astype(np.int32)[None, :] + hop[:, None]) % ranks).ravel()
    builder.add(
        channel,
        source=order[seat],
        target=np.roll(order, -1)[seat],
        size=np.tile(chunks.bytes, hops),
        offset=np.tile(chunks.offset, hops),
        reduces=np.repeat(hop < adding, count),
        waits=np.repeat((hop > 0).astype(np.int16), count),
        after=np.arange(count * max(hops - 1, 0), dtype=np.int32),
    )
