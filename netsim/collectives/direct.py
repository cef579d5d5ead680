"""Collectives that need no relay: everybody sends what it has straight to where it belongs."""

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netsim.collectives.chunking import ALIGNMENT, WHOLE, count_pieces, cut, share
from netsim.collectives.request import MAX_CHANNELS, Request
from netsim.collectives.rounds import Round, add_rounds
from netsim.collectives.schedule import Builder, Int32s, Int64s, Schedule
from netsim.errors import InputError

BARRIER_BYTES = 1


def gather(request: Request) -> Schedule:
    """Every rank sends its block, 1 / n of the buffer, to the root at once."""
    start, size = share(request.bytes, request.ranks, np.arange(request.ranks))
    others = np.flatnonzero(np.arange(request.ranks) != request.root)
    return _straight(request, others, np.full_like(others, request.root), start[others], size[others])


def scatter(request: Request) -> Schedule:
    """The root sends every rank its block, 1 / n of the buffer, at once."""
    start, size = share(request.bytes, request.ranks, np.arange(request.ranks))
    others = np.flatnonzero(np.arange(request.ranks) != request.root)
    return _straight(request, np.full_like(others, request.root), others, start[others], size[others])


def send(request: Request) -> Schedule:
    """Position 0 of two sends the buffer to position 1."""
    if request.ranks != 2:
        raise InputError(f"{request.ranks} ranks", where=request.op, hint="a send is between 2 ranks: sender, receiver")
    return _straight(request, [0], [1], [0], [request.bytes])


def flows(request: Request) -> Schedule:
    """A traffic matrix: all flows (source, target, bytes) start at once but those that wait; 0 bytes make no row."""
    hint = "give a list of [source, target, bytes]"
    if request.flows is None:
        raise InputError("flows are missing", where=request.op, hint=hint)
    table = np.asarray(request.flows, dtype=np.int64)
    if table.size and (table.ndim != 2 or table.shape[1] != 3):
        raise InputError(f"flows have shape {table.shape}", where=request.op, hint=hint)
    source, target, size = table.reshape(-1, 3).T
    ends = table.reshape(-1, 3)[:, :2]
    _refuse(request, np.any((ends < 0) | (ends >= request.ranks), axis=1), f"give ranks in 0..{request.ranks - 1}")
    _refuse(request, source == target, "a rank needs no network to reach itself: leave the flow out")
    _refuse(request, size < 0, "give 0 or more bytes")
    if request.after is None and request.flow_channels is None:
        return _straight(request, source, target, np.zeros_like(size), size)
    return _in_turn(request, source, target, size)


def _in_turn(request: Request, source: Int64s, target: Int64s, size: Int64s) -> Schedule:
    """Flows that wait for others (each piece of a cut one for all pieces of the other), each on its own channel."""
    slices = request.channels or 1
    own = (
        np.zeros(len(size), np.int64) if request.flow_channels is None else np.asarray(request.flow_channels, np.int64)
    )
    after = [()] * len(size) if request.after is None else request.after
    _check_turns(request, own, after, slices)
    builder, pieces = Builder(request.op, "direct", request.ranks), count_pieces(size, slices, request.chunk(WHOLE))
    waiter = np.repeat(np.arange(len(size)), np.fromiter(map(len, after), np.int64, len(size)))
    builder.expect(pieces.sum(), float(pieces[waiter] @ pieces[np.fromiter(chain.from_iterable(after), np.int64)]))
    parts = [cut(*share(size, slices, number, ALIGNMENT), request.chunk(WHOLE)) for number in range(slices)]
    flow = np.concatenate([part.block for part in parts])
    first, rows = _rows_of(flow, len(size))
    waits = [np.concatenate([rows[first[each] : first[each + 1]] for each in row]) for row in after if len(row)]
    awaited = np.fromiter((len(row) > 0 for row in after), bool, len(size))
    count = np.zeros(len(size), np.int64)
    count[awaited] = [len(each) for each in waits]
    which = np.cumsum(awaited) - 1
    listed = [waits[which[each]] for each in flow[awaited[flow]]]
    builder.add(
        np.concatenate([own[part.block] * slices + k for k, part in enumerate(parts)]),
        source=source[flow],
        target=target[flow],
        size=np.concatenate([part.bytes for part in parts]),
        offset=np.concatenate([part.offset for part in parts]),
        waits=count[flow],
        after=np.concatenate([np.zeros(0, np.int32), *listed]),
    )
    return builder.build()


def _rows_of(flow: Int32s, flows: int) -> tuple[Int64s, Int64s]:
    """The rows that each flow was cut into (CSR)."""
    first = np.concatenate([[0], np.cumsum(np.bincount(flow, minlength=flows))]).astype(np.int64)
    return first, np.argsort(flow, kind="stable")


def _check_turns(request: Request, own: Int64s, after: Sequence[Sequence[int]], slices: int) -> None:
    flows = len(own)
    if request.flows is None or not len(request.flows) == flows == len(after):
        raise InputError("after or flow_channels do not fit the flows", where=request.op, hint="give one for each flow")
    _refuse(request, (own < 0) | ((own + 1) * slices > MAX_CHANNELS - 1), "its channel is not below 32767")
    missing = np.fromiter((any(not 0 <= each < flows for each in row) for row in after), bool, flows)
    _refuse(request, missing, f"it waits for a flow outside 0..{flows - 1}")


def barrier(request: Request) -> Schedule:
    """Dissemination: in round k rank i tells rank i + 2^k, once it has heard all it hears in earlier rounds.

    ceil(log2 n) rounds of one-byte messages (Hensgen, Finkel, Manber 1988).
    """
    ranks = request.ranks
    builder, rank = Builder(request.op, "dissemination", ranks), np.arange(ranks, dtype=np.int32)
    nowhere, size = np.zeros(ranks, np.int64), np.full(ranks, BARRIER_BYTES, np.int64)
    reaches = [1 << step for step in range((ranks - 1).bit_length())]
    rounds = [Round(rank, (rank + np.int32(reach)) % ranks, nowhere, size) for reach in reaches]
    add_rounds(builder, rounds, [0], WHOLE, buffer=0)
    return builder.build()


def _refuse(request: Request, wrong: NDArray[np.bool_], hint: str) -> None:
    """Raise InputError that names the first of the flows that are wrong."""
    for number in np.flatnonzero(wrong)[:1]:
        flow = [int(part) for part in np.asarray(request.flows)[number]]
        raise InputError(f"flow {number} is {flow}", where=request.op, hint=hint)


def _straight(request: Request, source: ArrayLike, target: ArrayLike, offset: ArrayLike, size: ArrayLike) -> Schedule:
    """One flow per source and target, shared among the channels asked for; nothing waits for anything."""
    senders, receivers = np.asarray(source, dtype=np.int32), np.asarray(target, dtype=np.int32)
    channels = request.channels or 1
    builder, chunk = Builder(request.op, "direct", request.ranks), request.chunk(WHOLE)
    builder.expect(count_pieces(size, channels, chunk).sum())
    for channel in range(channels):
        first, part = share(size, channels, channel, ALIGNMENT)
        chunks = cut(np.asarray(offset, dtype=np.int64) + first, part, chunk)
        builder.add(
            channel,
            source=senders[chunks.block],
            target=receivers[chunks.block],
            size=chunks.bytes,
            offset=chunks.offset,
        )
    return builder.build()
