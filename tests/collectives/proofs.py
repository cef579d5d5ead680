"""What every operation must have done when all its rows have arrived, and how many bytes it must move.

A buffer is a table [rank, byte, contributor]: how often the contribution of each rank is in each byte held by a rank.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from netsim.collectives import Schedule, Wish
from tests.collectives.replay import replay

Buffers = NDArray[np.int64]


def blocks(wish: Wish) -> NDArray[np.int64]:
    """Lengths of the n blocks of a buffer: bytes / n each, the first ones one byte longer where it does not divide."""
    return wish.bytes // wish.ranks + (np.arange(wish.ranks) < wish.bytes % wish.ranks).astype(np.int64)


def nothing(wish: Wish) -> Buffers:
    return np.zeros((wish.ranks, wish.bytes, wish.ranks), dtype=np.int64)


def own_everywhere(wish: Wish) -> Buffers:
    """Every rank holds its own contribution in every byte."""
    held = nothing(wish)
    for rank in range(wish.ranks):
        held[rank, :, rank] = 1
    return held


def own_block(wish: Wish) -> Buffers:
    """Rank r holds its contribution in block r, nothing elsewhere."""
    held = nothing(wish)
    for byte, owner in enumerate(np.repeat(np.arange(wish.ranks), blocks(wish))):
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


def all_reduce(schedule: Schedule, wish: Wish, seed: int) -> None:
    assert np.all(move(schedule, own_everywhere(wish), seed) == 1)


def reduce(schedule: Schedule, wish: Wish, seed: int) -> None:
    assert np.all(move(schedule, own_everywhere(wish), seed)[wish.root] == 1)


def reduce_scatter(schedule: Schedule, wish: Wish, seed: int) -> None:
    held = move(schedule, own_everywhere(wish), seed)
    for byte, owner in enumerate(np.repeat(np.arange(wish.ranks), blocks(wish))):
        assert np.all(held[owner, byte] == 1)


def all_gather(schedule: Schedule, wish: Wish, seed: int) -> None:
    wanted = own_block(wish).sum(axis=0)
    assert np.array_equal(move(schedule, own_block(wish), seed), np.broadcast_to(wanted, nothing(wish).shape))


def broadcast(schedule: Schedule, wish: Wish, seed: int) -> None:
    held = nothing(wish)
    held[wish.root, :, wish.root] = 1
    wanted = held[wish.root].copy()
    assert np.array_equal(move(schedule, held, seed), np.broadcast_to(wanted, held.shape))


def gather(schedule: Schedule, wish: Wish, seed: int) -> None:
    held = move(schedule, own_block(wish), seed)
    assert np.array_equal(held[wish.root], own_block(wish).sum(axis=0))


def scatter(schedule: Schedule, wish: Wish, seed: int) -> None:
    held = nothing(wish)
    held[wish.root, :, wish.root] = 1
    move(schedule, held, seed)
    for byte, owner in enumerate(np.repeat(np.arange(wish.ranks), blocks(wish))):
        assert held[owner, byte, wish.root] == 1


def all_to_all(schedule: Schedule, wish: Wish, seed: int) -> None:
    _blocks_arrive(schedule, np.tile(blocks(wish), (wish.ranks, 1)), seed)


def all_to_all_v(schedule: Schedule, wish: Wish, seed: int) -> None:
    assert wish.sizes is not None
    _blocks_arrive(schedule, wish.sizes, seed)


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


def barrier(schedule: Schedule, wish: Wish, seed: int) -> None:
    """Everybody hears, through somebody, that everybody has come."""
    heard = [{rank} for rank in range(wish.ranks)]

    def write(row: int, value: set[int]) -> None:
        heard[schedule.target[row]] |= value

    replay(schedule, lambda row: set(heard[schedule.source[row]]), write, seed)
    assert all(len(names) == wish.ranks for names in heard)


def send(schedule: Schedule, wish: Wish, seed: int) -> None:
    held = nothing(wish)
    held[0, :, 0] = 1
    assert np.all(move(schedule, held, seed)[1, :, 0] == 1)


def flows(schedule: Schedule, wish: Wish, seed: int) -> None:
    assert len(schedule.after) == 0, "flows start together"
    wanted = np.zeros((wish.ranks, wish.ranks), dtype=np.int64)
    for source, target, size in wish.flows or ():
        wanted[source, target] += size
    moved = np.zeros_like(wanted)
    np.add.at(moved, (schedule.source, schedule.target), schedule.bytes)
    assert np.array_equal(moved, wanted)


PROOFS: dict[str, Callable[[Schedule, Wish, int], None]] = {
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

MOVED: dict[str, Callable[[Wish], int]] = {
    "all_reduce": lambda wish: 2 * (wish.ranks - 1) * wish.bytes,
    "all_gather": lambda wish: (wish.ranks - 1) * wish.bytes,
    "reduce_scatter": lambda wish: (wish.ranks - 1) * wish.bytes,
    "broadcast": lambda wish: (wish.ranks - 1) * wish.bytes,
    "reduce": lambda wish: (wish.ranks - 1) * wish.bytes,
    "all_to_all": lambda wish: (wish.ranks - 1) * wish.bytes,
    "all_to_all_v": lambda wish: int(wish.sizes.sum() - np.trace(wish.sizes)) if wish.sizes is not None else 0,
    "gather": lambda wish: wish.bytes - int(blocks(wish)[wish.root]),
    "scatter": lambda wish: wish.bytes - int(blocks(wish)[wish.root]),
    "barrier": lambda wish: wish.ranks * (wish.ranks - 1).bit_length(),
    "send": lambda wish: wish.bytes,
    "flows": lambda wish: sum(size for _, _, size in wish.flows or ()),
}
"""Bytes that all rows of an operation carry together: the least that is possible without switches that compute."""
