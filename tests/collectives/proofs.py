"""What every operation must have done when all its rows have arrived.

A buffer is a table [rank, byte, contributor]: how often the contribution of each rank is in each byte held by a rank.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from netsim.collectives import Request, Schedule
from netsim.collectives.bruck import packed, stripes
from tests.collectives.replay import exchanges, replay

Buffers = NDArray[np.int64]
Proof = Callable[[Schedule, Request, int], None]
Byte = tuple[int, int]  # of an all-to-all: the rank that it comes from, and which it is in that rank's buffer
Packing = Callable[[Request, int, int], list[Byte]]  # what `offset` counts in: the bytes from one rank to another


def blocks(request: Request) -> NDArray[np.int64]:
    """Lengths of the n blocks of a buffer: bytes / n each, the first ones one byte longer where it does not divide."""
    return request.bytes // request.ranks + (np.arange(request.ranks) < request.bytes % request.ranks).astype(np.int64)


def nothing(request: Request) -> Buffers:
    return np.zeros((request.ranks, request.bytes, request.ranks), dtype=np.int64)


def own_everywhere(request: Request) -> Buffers:
    """Every rank holds its own contribution in every byte."""
    held = nothing(request)
    for rank in range(request.ranks):
        held[rank, :, rank] = 1
    return held


def own_block(request: Request) -> Buffers:
    """Rank r holds its contribution in block r, nothing elsewhere."""
    held = nothing(request)
    for byte, owner in enumerate(np.repeat(np.arange(request.ranks), blocks(request))):
        held[owner, byte, owner] = 1
    return held


def move(schedule: Schedule, held: Buffers, seed: int) -> Buffers:
    def stretch(row: int) -> NDArray[np.int64]:
        return (schedule.offset[row] + np.arange(schedule.bytes[row])) % held.shape[1]

    assert np.all(schedule.offset < held.shape[1])
    assert np.all(schedule.bytes <= held.shape[1])

    def read(row: int) -> Buffers:
        return held[schedule.source[row], stretch(row)].copy()

    def write(row: int, value: Buffers) -> None:
        kept = held[schedule.target[row], stretch(row)] if schedule.reduces[row] else 0
        held[schedule.target[row], stretch(row)] = kept + value

    replay(schedule, read, write, seed, exchanges(schedule))
    return held


def all_reduce(schedule: Schedule, request: Request, seed: int) -> None:
    assert np.all(move(schedule, own_everywhere(request), seed) == 1)


def reduce(schedule: Schedule, request: Request, seed: int) -> None:
    assert np.all(move(schedule, own_everywhere(request), seed)[request.root] == 1)


def reduce_scatter(schedule: Schedule, request: Request, seed: int) -> None:
    held = move(schedule, own_everywhere(request), seed)
    for byte, owner in enumerate(np.repeat(np.arange(request.ranks), blocks(request))):
        assert np.all(held[owner, byte] == 1)


def all_gather(schedule: Schedule, request: Request, seed: int) -> None:
    wanted = own_block(request).sum(axis=0)
    assert np.array_equal(move(schedule, own_block(request), seed), np.broadcast_to(wanted, nothing(request).shape))


def broadcast(schedule: Schedule, request: Request, seed: int) -> None:
    held = nothing(request)
    held[request.root, :, request.root] = 1
    wanted = held[request.root].copy()
    assert np.array_equal(move(schedule, held, seed), np.broadcast_to(wanted, held.shape))


def gather(schedule: Schedule, request: Request, seed: int) -> None:
    held = move(schedule, own_block(request), seed)
    assert np.array_equal(held[request.root], own_block(request).sum(axis=0))


def scatter(schedule: Schedule, request: Request, seed: int) -> None:
    held = nothing(request)
    held[request.root, :, request.root] = 1
    move(schedule, held, seed)
    for byte, owner in enumerate(np.repeat(np.arange(request.ranks), blocks(request))):
        assert held[owner, byte, request.root] == 1


def own_buffer(request: Request, source: int, target: int) -> list[Byte]:
    size = request.bytes if request.sizes is None else request.sizes[source].sum()
    return [(source, byte) for byte in range(size)]


def all_to_all(schedule: Schedule, request: Request, seed: int, packing: Packing = own_buffer) -> None:
    _blocks_arrive(schedule, request, np.tile(blocks(request), (request.ranks, 1)), seed, packing)


def all_to_all_v(schedule: Schedule, request: Request, seed: int) -> None:
    assert request.sizes is not None
    _blocks_arrive(schedule, request, request.sizes, seed, own_buffer)


def bruck_packing(request: Request, source: int, target: int) -> list[Byte]:
    """Block by block, as far as they have come: what goes 2^k places on has gone the lower bits of its way before."""
    ranks, step = request.ranks, ((target - source) % request.ranks).bit_length() - 1
    return [
        ((source - way % (1 << step)) % ranks, int(first[to]) + byte)
        for _, first, size in stripes(request)
        for way in packed(ranks, step).tolist()
        for to in [(source - way % (1 << step) + way) % ranks]
        for byte in range(size[to])
    ]


def _blocks_arrive(schedule: Schedule, request: Request, sizes: NDArray[np.int64], seed: int, packing: Packing) -> None:
    """Rank j ends with each byte of block j of every rank's buffer, brought once; a row carries what its source has."""
    held = [{(rank, byte) for byte in range(row.sum())} for rank, row in enumerate(sizes)]
    pairs = set(zip(schedule.source.tolist(), schedule.target.tolist(), strict=True))
    packs = {(source, target): packing(request, source, target) for source, target in pairs}

    def read(row: int) -> set[Byte]:
        first, source = int(schedule.offset[row]), int(schedule.source[row])
        taken = set(packs[source, int(schedule.target[row])][first : first + int(schedule.bytes[row])])
        assert len(taken) == schedule.bytes[row], "the row reaches beyond the buffer"
        assert taken <= held[source], "the row carries what its source does not hold"
        return taken

    def write(row: int, value: set[Byte]) -> None:
        assert not value & held[schedule.target[row]], "a byte comes twice"
        held[schedule.target[row]] |= value

    replay(schedule, read, write, seed)
    for source, row in enumerate(sizes.tolist()):
        for target, size in enumerate(row):
            first = sum(row[:target])
            assert {(source, byte) for byte in range(first, first + size)} <= held[target]


def barrier(schedule: Schedule, request: Request, seed: int) -> None:
    """Everybody hears, through somebody, that everybody has come."""
    heard = [{rank} for rank in range(request.ranks)]

    def write(row: int, value: set[int]) -> None:
        heard[schedule.target[row]] |= value

    replay(schedule, lambda row: set(heard[schedule.source[row]]), write, seed)
    assert all(len(names) == request.ranks for names in heard)


def send(schedule: Schedule, request: Request, seed: int) -> None:
    held = nothing(request)
    held[0, :, 0] = 1
    assert np.all(move(schedule, held, seed)[1, :, 0] == 1)


def flows(schedule: Schedule, request: Request, seed: int) -> None:
    assert len(schedule.after) == 0, "flows start together"
    wanted = np.zeros((request.ranks, request.ranks), dtype=np.int64)
    for source, target, size in request.flows or ():
        wanted[source, target] += size
    moved = np.zeros_like(wanted)
    np.add.at(moved, (schedule.source, schedule.target), schedule.bytes)
    assert np.array_equal(moved, wanted)


PROOFS: dict[str, Proof] = {
    "all_reduce": all_reduce,
    "all_gather": all_gather,
    "reduce_scatter": reduce_scatter,
    "broadcast": broadcast,
    "reduce": reduce,
    "all_to_all": all_to_all,
    "all_to_all_v": all_to_all_v,
    "gather": gather,
    "scatter": scatter,
    "barrier": barrier,
    "send": send,
    "flows": flows,
}
"""An operation without a line here fails the tests: say first what it means."""
