"""All-reduces among 2^k ranks by exchanges with ranks 1, 2, 4, ... places away; other ranks are folded in and out.

Thakur, Rabenseifner, Gropp 2005, "Optimization of Collective Communication Operations in MPICH". Where the group is no
power of two, the first ranks form pairs: the even one hands its buffer to the odd one and gets the result in the end.
"""

import numpy as np

from netsim.collectives.chunking import ALIGNMENT, WHOLE, share
from netsim.collectives.request import Request
from netsim.collectives.rounds import Round, add_rounds
from netsim.collectives.schedule import Builder, Int32s, Schedule


def recursive_doubling(request: Request) -> Schedule:
    """log2 n rounds in which partners exchange the whole buffer and add: the fewest rounds, for small buffers."""
    member, steps = _members(request.ranks)
    whole = np.full(len(member), request.bytes)
    rounds = [Round(member, _partner(member, step), whole * 0, whole, reduces=True) for step in range(steps)]
    return _folded(request, "recursive_doubling", rounds)


def halving_doubling(request: Request) -> Schedule:
    """Rabenseifner's: halve the buffer with each partner (reduce-scatter), then double it again (all-gather).

    The nearest partners exchange the most. 2 log2 n rounds, 2 (n - 1) / n bytes per rank and byte.
    """
    member, steps = _members(request.ranks)
    start, _ = share(request.bytes, len(member), np.arange(len(member)), ALIGNMENT)
    bounds = np.append(start, request.bytes)
    low = np.zeros(len(member), dtype=np.int64)  # first of the blocks that each member still works on
    halving: list[Round] = []
    doubling: list[Round] = []
    for step in range(steps):
        half, upper = len(member) >> (step + 1), np.arange(len(member)) >> step & 1
        given, kept = low + (1 - upper) * half, low + upper * half
        for rounds, block in ((halving, given), (doubling, kept)):
            size = bounds[block + half] - bounds[block]
            rounds.append(Round(member, _partner(member, step), bounds[block], size, reduces=rounds is halving))
        low = kept
    return _folded(request, "halving_doubling", [*halving, *doubling[::-1]])


def _members(ranks: int) -> tuple[Int32s, int]:
    """The ranks that exchange, 2^k of them, and k: the odd one of each pair that folds, and all ranks behind those."""
    steps = ranks.bit_length() - 1
    number = np.arange(1 << steps, dtype=np.int32)
    pairs = ranks - len(number)
    return np.where(number < pairs, 2 * number + 1, number + pairs).astype(np.int32), steps


def _partner(member: Int32s, step: int) -> Int32s:
    partner: Int32s = member[np.arange(len(member)) ^ (1 << step)]
    return partner


def _folded(request: Request, algorithm: str, rounds: list[Round]) -> Schedule:
    """The rounds among the members, with the even one of each pair folded in before and out after.

    Where some are folded, others are ahead of them, so that what is to be sent has to be kept in turn.
    """
    even = 2 * np.arange(request.ranks - len(_members(request.ranks)[0]), dtype=np.int32)
    odd, whole = even + np.int32(1), np.full(len(even), request.bytes)
    fold, unfold = Round(even, odd, whole * 0, whole, reduces=True), Round(odd, even, whole * 0, whole)
    builder, channels = Builder(request.op, algorithm, request.ranks), range(request.channels or 1)
    rounds = [fold, *rounds, unfold]
    add_rounds(builder, rounds, channels, request.chunk(WHOLE), request.bytes, in_turn=len(even) > 0)
    return builder.build()
