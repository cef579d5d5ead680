"""Rings: every piece travels from neighbour to neighbour, all pieces at once."""

import numpy as np

from netsim.collectives.chunking import ALIGNMENT, Pieces, cut, refuse_too_many, share
from netsim.collectives.layout import Layout, chains
from netsim.collectives.request import Request
from netsim.collectives.schedule import Builder, Int32s, Schedule

RING_CHUNK = 1 << 20
"""Bytes of one slice of NCCL's Ring Simple: 2 slots of 512 KiB (collectives.h)."""

CHAIN_CHUNK = 512 << 10
"""Bytes of one slice of NCCL's Ring Simple broadcast and reduce: 1 slot."""


def all_reduce(request: Request) -> Schedule:
    """Reduce-scatter, then all-gather, round one ring per channel: 2 (n - 1) / n bytes per rank and byte.

    Bytes are shared among channels, then among ranks, then cut. Block b is complete at position b after n - 1 hops.
    """
    ranks, channels = request.ranks, request.rail_channels()
    builder = Builder(request.op, "ring", ranks)
    for channel in range(channels):
        first, size = share(request.bytes, channels, channel, ALIGNMENT)
        start, sizes = share(size, ranks, np.arange(ranks), ALIGNMENT)
        chunks = cut(first + start, sizes, request.chunk(RING_CHUNK))
        order = ring_order(request.places, channel)
        after_owner = (seats(order)[chunks.block] + 1) % ranks
        _travel(builder, channel, order, chunks, after_owner, hops=2 * (ranks - 1), adding=ranks - 1)
    return builder.build()


def reduce_scatter(request: Request) -> Schedule:
    """Block b starts at the neighbour after position b and is complete when it arrives at b, n - 1 hops later."""
    ranks = request.ranks
    builder = Builder(request.op, "ring", ranks)
    for channel in range(request.rail_channels()):
        order, chunks = ring_order(request.places, channel), _part_of_blocks(request, channel)
        after_owner = (seats(order)[chunks.block] + 1) % ranks
        _travel(builder, channel, order, chunks, after_owner, hops=ranks - 1, adding=ranks - 1)
    return builder.build()


def all_gather(request: Request) -> Schedule:
    """Block b starts at position b and makes n - 1 hops."""
    builder = Builder(request.op, "ring", request.ranks)
    for channel in range(request.rail_channels()):
        order, chunks = ring_order(request.places, channel), _part_of_blocks(request, channel)
        _travel(builder, channel, order, chunks, seats(order)[chunks.block], hops=request.ranks - 1, adding=0)
    return builder.build()


def broadcast(request: Request) -> Schedule:
    """The ring cut open before the root: pieces follow one another down the chain."""
    return _chain(request, first_seat=0, adding=0)


def reduce(request: Request) -> Schedule:
    """The ring cut open after the root: pieces follow one another up the chain, and everybody adds its own."""
    return _chain(request, first_seat=1, adding=request.ranks - 1)


def ring_order(layout: Layout, channel: int) -> Int32s:
    """The positions in the order of a channel's ring: server by server, entered on the channel's rail."""
    return np.concatenate(chains(layout, channel))


def seats(order: Int32s) -> Int32s:
    """The place in the ring of each position."""
    seat = np.empty_like(order)
    seat[order] = np.arange(len(order), dtype=order.dtype)
    return seat


def _part_of_blocks(request: Request, channel: int) -> Pieces:
    """What a channel carries of the n blocks (one per rank) of an all-gather or reduce-scatter."""
    start, sizes = share(request.bytes, request.ranks, np.arange(request.ranks))
    first, part = share(sizes, request.rail_channels(), channel, ALIGNMENT)
    return cut(start + first, part, request.chunk(RING_CHUNK))


def _chain(request: Request, first_seat: int, adding: int) -> Schedule:
    """All pieces start `first_seat` places after the root and make n - 1 hops."""
    channels = request.rail_channels()
    builder = Builder(request.op, "ring", request.ranks)
    for channel in range(channels):
        first, size = share(request.bytes, channels, channel, ALIGNMENT)
        chunks = cut(first, size, request.chunk(CHAIN_CHUNK))
        order = ring_order(request.places, channel)
        start = np.full(len(chunks), seats(order)[request.root] + first_seat, dtype=np.int32) % request.ranks
        _travel(builder, channel, order, chunks, start, hops=request.ranks - 1, adding=adding)
    return builder.build()


def _travel(
    builder: Builder, channel: int, order: Int32s, chunks: Pieces, start: Int32s, *, hops: int, adding: int
) -> None:
    """Each piece goes `hops` places round the ring from its start; the receivers of the first `adding` hops add.

    Row (hop, piece) waits for row (hop - 1, piece), which stands len(pieces) rows before it.
    """
    count, ranks = len(chunks), len(order)
    rows = count * hops
    refuse_too_many(rows)
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
        after=np.arange(max(rows - count, 0), dtype=np.int32),
    )
