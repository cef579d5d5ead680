"""What is known of every algorithm: the bytes that it moves and its rounds. A new one gets its row here."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from netsim.collectives import Request, Schedule
from tests.collectives.proofs import PROOFS, Proof, all_to_all, blocks, bruck_packing


@dataclass(frozen=True)
class Bound:
    """The bytes that all rows carry together and the rounds that follow one another among so many ranks.

    `proof` takes the place of its operation's, where offsets count in something else than the source's buffer.
    """

    moved: Callable[[Request], int]
    rounds: Callable[[int], int]
    proof: Proof | None = None


def log2(ranks: int) -> int:
    """The rounds in which something doubled in each becomes `ranks`."""
    return (ranks - 1).bit_length()


def _folds(ranks: int) -> int:
    """Ranks that are no member of the largest group of 2^k."""
    return ranks - (1 << ranks.bit_length() - 1)


def _doubling_rounds(ranks: int) -> int:
    return ranks.bit_length() - 1


def _recursive_doubling(request: Request) -> int:
    members = request.ranks - _folds(request.ranks)
    return (members * _doubling_rounds(request.ranks) + 2 * _folds(request.ranks)) * request.bytes


def _to_everybody(request: Request) -> int:
    """Every byte goes to every other rank: the least for all but an all-reduce, where it goes there and comes back."""
    return (request.ranks - 1) * request.bytes


def _of_matrix(request: Request) -> int:
    return int(request.sizes.sum() - np.trace(request.sizes)) if request.sizes is not None else 0


def _but_the_root(request: Request) -> int:
    return request.bytes - int(blocks(request)[request.root])


RING = Bound(_to_everybody, lambda ranks: ranks - 1)
ROOTED_TREE = Bound(_to_everybody, lambda ranks: 1 + log2(ranks - 1))
BOUNDS: dict[tuple[str, str], Bound] = {
    ("all_reduce", "ring"): Bound(lambda request: 2 * _to_everybody(request), lambda ranks: 2 * (ranks - 1)),
    ("all_reduce", "tree"): Bound(lambda request: 2 * _to_everybody(request), lambda ranks: 2 * log2(ranks)),
    ("all_reduce", "recursive_doubling"): Bound(
        _recursive_doubling, lambda ranks: _doubling_rounds(ranks) + 2 * (_folds(ranks) > 0)
    ),
    ("all_reduce", "halving_doubling"): Bound(
        lambda request: 2 * _to_everybody(request), lambda ranks: 2 * _doubling_rounds(ranks) + 2 * (_folds(ranks) > 0)
    ),
    ("all_gather", "ring"): RING,
    ("all_gather", "bruck"): Bound(_to_everybody, log2),
    ("reduce_scatter", "ring"): RING,
    ("broadcast", "ring"): RING,
    ("broadcast", "tree"): ROOTED_TREE,
    ("reduce", "ring"): RING,
    ("reduce", "tree"): ROOTED_TREE,
    ("all_to_all", "pairwise"): RING,
    ("all_to_all", "bruck"): Bound(
        lambda request: sum(way.bit_count() for way in range(request.ranks)) * request.bytes,
        log2,
        partial(all_to_all, packing=bruck_packing),
    ),
    ("all_to_all_v", "pairwise"): Bound(_of_matrix, lambda ranks: ranks - 1),
    ("gather", "direct"): Bound(_but_the_root, lambda ranks: 1),
    ("scatter", "direct"): Bound(_but_the_root, lambda ranks: 1),
    ("barrier", "dissemination"): Bound(lambda request: request.ranks * log2(request.ranks), log2),
    ("send", "direct"): Bound(lambda request: request.bytes, lambda ranks: 1),
    ("flows", "direct"): Bound(lambda request: sum(size for _, _, size in request.flows or ()), lambda ranks: 1),
}


def prove(schedule: Schedule, request: Request, seed: int) -> None:
    """Play a schedule in one of the orders that it leaves open; AssertionError if it does not do what it should."""
    (BOUNDS[request.op, schedule.algorithm].proof or PROOFS[request.op])(schedule, request, seed)
