"""Lines up what ranks call by what they call alone: the log of each rank is taken as a window of one sequence of calls.

A cut takes calls from the head or the tail of a log, so the logs of two ranks agree wherever they overlap. Of the
shifts at which they do, the one with the longest overlap holds. Where more agrees with calls lost inside a log, or
contradicting another, the longest common subsequence decides; logs with nothing in common stand apart.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from netsim.traces.joining.columns import Ints
from netsim.traces.joining.hashes import Hashed
from netsim.traces.joining.subsequence import HOLE, Pairs, common, paired
from netsim.traces.joining.subsequence import MOST_CELLS as ONE_TABLE

MOST_APART = 64  # sequences that the log of a rank is held against; more stand apart untried
MOST_CELLS = 1 << 29  # of comparisons for longest common subsequences, all ranks together: some seconds
NEARLY_ALL = 0.9  # of the shorter of two logs
MORE = 1.25  # so much more has to agree with calls lost inside than by a cut alone
TRIES = 8  # shifts at which hashes agree that are looked at


@dataclass(slots=True)
class _Sequence:
    """Calls on one communicator as far as some ranks tell them, and at which of them the calls of each rank stand."""

    symbols: Ints
    places: dict[int, Ints] = field(default_factory=dict)

    def put(self, calls: Ints, ranks: list[int], pairs: Pairs) -> None:
        """Take in the calls of ranks: those that are here already, by pairs of places, and those that are not."""
        here, there = pairs
        others = np.setdiff1d(np.arange(len(calls)), there)
        where = np.append(here, len(self.symbols))[np.searchsorted(there, others)]
        moved = np.arange(len(self.symbols))
        moved += np.searchsorted(where, moved, "right")
        places = np.empty(len(calls), np.int64)
        places[there], places[others] = moved[here], where + np.arange(len(where))
        self.symbols = np.insert(self.symbols, where, calls[others])
        self.places = {rank: moved[each] for rank, each in self.places.items()} | dict.fromkeys(ranks, places)


def windows(symbols: Mapping[int, Ints]) -> dict[int, Ints]:
    """Give for each rank the numbers of the operations that its calls are; equal symbols are equal calls."""
    classes: dict[bytes, list[int]] = {}
    for rank, each in symbols.items():
        classes.setdefault(np.ascontiguousarray(each).tobytes(), []).append(rank)
    waiting = sorted(classes.values(), key=lambda ranks: (-len(symbols[ranks[0]]), -len(ranks)))
    apart, cells = list[_Sequence](), MOST_CELLS
    while waiting:
        ranks = waiting.pop(0)
        calls, tried = symbols[ranks[0]], apart[:MOST_APART] if cells > 0 else []
        cells -= sum(min(len(sequence.symbols) * len(calls), ONE_TABLE) for sequence in tried)
        every = [together(sequence.symbols, calls) for sequence in tried]
        best = max(range(len(every)), key=lambda number: every[number][0], default=None)
        if best is None or not every[best][0]:
            sequence = _Sequence(calls, dict.fromkeys(ranks, np.arange(len(calls))))
            apart.append(sequence)
        else:
            sequence = tried[best]
            sequence.put(calls, ranks, every[best][1])
        waiting = _fit(sequence, waiting, symbols)
    found, first = dict[int, Ints](), 0
    for sequence in apart:
        found |= {rank: places + first for rank, places in sequence.places.items()}
        first += len(sequence.symbols)
    return {rank: found[rank] for rank in symbols}


def _fit(sequence: _Sequence, waiting: list[list[int]], symbols: Mapping[int, Ints]) -> list[list[int]]:
    """Put the logs into a sequence of which nearly all overlaps with it; gives the others."""
    for _ in range(MOST_APART):
        size, left = len(sequence.symbols), list[list[int]]()
        for ranks in waiting:
            calls = symbols[ranks[0]]
            pairs = _overlapping(sequence.symbols, calls)
            if len(pairs[0]) > NEARLY_ALL * min(len(sequence.symbols), len(calls)):
                sequence.put(calls, ranks, pairs)
            else:
                left.append(ranks)
        waiting = left
        if len(sequence.symbols) == size:
            break
    return waiting


def _overlapping(one: Ints, other: Ints) -> Pairs:
    """The pairs of places along the longest overlap."""
    shift, length = overlap(one, other)
    return np.arange(length) + max(0, shift), np.arange(length) + max(0, -shift)


def together(one: Ints, other: Ints) -> tuple[int, Pairs]:
    """How well two sequences go together, and how: as a cut lets them overlap, or with calls lost inside.

    Where the same calls come again and again, none contradicts another: they may be of another time.
    """
    pairs = _overlapping(one, other)
    most, length = max(int(one.max(initial=0)), int(other.max(initial=0))) + 1, len(pairs[0])
    if np.minimum(np.bincount(one, minlength=most), np.bincount(other, minlength=most)).sum() <= MORE * length:
        return length, pairs
    mended = common(one, other)
    score = len(mended[0]) - HOLE * holes(mended)
    if score <= MORE * length:
        return length, pairs
    return score, mended if 2 * len(np.unique(one[mended[0]])) < len(mended[0]) else paired(*mended)


def holes(places: Iterable[Ints]) -> int:
    """Count what is missing between the first and the last of places."""
    return sum(int(each[-1] - each[0]) + 1 - len(each) for each in places if len(each))


def overlap(one: Ints, other: Ints) -> tuple[int, int]:
    """Where in one sequence another begins (below 0: before it) so that they agree all along the longest overlap.

    Gives the place and the length of the overlap, which is 0 where they agree nowhere. Of equally long ones the one
    holds that is nearest to both beginnings.
    """
    shifts, lengths = _agreeing(one, other)
    for number in np.lexsort((np.abs(shifts), -lengths))[:TRIES].tolist():
        shift, length = int(shifts[number]), int(lengths[number])
        here, there = max(0, shift), max(0, -shift)
        if np.array_equal(one[here : here + length], other[there : there + length]):  # hashes may agree by chance
            return shift, length
    return 0, 0


def _agreeing(one: Ints, other: Ints) -> tuple[Ints, Ints]:
    """All shifts at which two sequences agree wherever they overlap, and how far."""
    if not len(one) or not len(other):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    hashed, ahead, behind = Hashed(one, other), np.arange(len(one)), np.arange(1, len(other))
    long, rest = np.minimum(len(other), len(one) - ahead), np.minimum(len(one), len(other) - behind)
    after = hashed.equal(ahead, np.zeros_like(ahead), long)
    before = hashed.equal(np.zeros_like(behind), behind, rest)
    return np.concatenate([ahead[after], -behind[before]]), np.concatenate([long[after], rest[before]])
