"""What every operation must have done when all its rows have arrived, and how many bytes it must move.

A buffer is a table [rank, byte, contributor]: how often the contribution of each rank is in each byte held by a rank.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from netsim.collectives import Request, Schedule
from tests.collectives.replay import replay

Buffers = NDArray[np.int64]


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
    def stretch(row: int) -> slice:
        return slice(int(schedule.offset[row]), int(schedule.offset[row] + schedule.bytes[row]))

    def read(row: int) -> Buffers:
        taken = held[schedule.source[row], stretch(row)].copy()
        assert len(taken) == schedule.bytes[row], "the row reaches beyond the buffer"
        return taken

    def write(row: int, value: Buffers) -> None:
        kept = held[schedule.target[row], stretch(row)] if schedule.reduces[row] else 0
        held[schedule.target[row], stretch(row)] = kept + value

    replay(schedule, read, write, seed)
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


def all_to_all(schedule: Schedule, request: Request, seed: int) -> None:
    _blocks_arrive(schedule, np.tile(blocks(request), (request.ranks, 1)), seed)


def all_to_all_v(schedule: Schedule, request: Request, seed: int) -> None:
    assert request.sizes is not None
    _blocks_arrive(schedule, request.sizes, seed)


def _blocks_arrive(schedule: Schedule, sizes: NDArray[np.int64], seed: int) -> None:
    """Rank j receives each byte of block j of every other rank's buffer once, and nothing else."""
    got: dict[tuple[int, int], list[int]] = {}

    def read(row: int) -> range:
        return range(int(schedule.offset[row]), int(schedule.offset[row] + schedule.bytes[row]))

    def write(row: int, value: range) -> None:
        got.setdefault((int(schedule.source[row]), int(schedule.target[row])), []).extend(value)

    replay(schedule, read, write, seed)
    for source, row in enumerate(sizes.tolist()):
        for target, size in enumerate(row):
            first = sum(row[:target])
            wanted = [] if source == target else list(range(first, first + size))
            assert sorted(got.get((source, target), [])) == wanted


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


PROOFS: dict[str, Callable[[Schedule, Request, int], None]] = {
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

MOVED: dict[str, Callable[[Request], int]] = {
    "all_reduce": lambda request: 2 * (request.ranks - 1) * request.bytes,
    "all_gather": lambda request: (request.ranks - 1) * request.bytes,
    "reduce_scatter": lambda request: (request.ranks - 1) * request.bytes,
    "broadcast": lambda request: (request.ranks - 1) * request.bytes,
    "reduce": lambda request: (request.ranks - 1) * request.bytes,
    "all_to_all": lambda request: (request.ranks - 1) * request.bytes,
    "all_to_all_v": lambda request: (
        int(request.sizes.sum() - np.trace(request.sizes)) if request.sizes is not None else 0
    ),
    "gather": lambda request: request.bytes - int(blocks(request)[request.root]),
    "scatter": lambda request: request.bytes - int(blocks(request)[request.root]),
    "barrier": lambda request: request.ranks * (request.ranks - 1).bit_length(),
    "send": lambda request: request.bytes,
    "flows": lambda request: sum(size for _, _, size in request.flows or ()),
}
"""Bytes that all rows of an operation carry together: the least that is possible without switches that compute."""
