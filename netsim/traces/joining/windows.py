"""Lines up what ranks call by what they call alone: the log of each rank is taken as a window of one sequence of calls.

A cut takes calls from the head or the tail of a log, so the logs of two ranks agree wherever they overlap. Of the
shifts at which they do, the one with the longest overlap holds. Where there is none, because calls inside a log are
lost or contradict another, the longest common subsequence decides; logs with little in common stand apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from netsim.traces.joining.columns import Ints
from netsim.traces.joining.subsequence import common, paired

MOST_APART = 64  # sequences that the log of a rank is held against; more stand apart untried
MOST_CELLS = 1 << 30  # of comparisons for longest common subsequences, all ranks together: some seconds
TRIES = 8  # shifts at which hashes agree that are looked at
_BASE, _MIX, _ADD = np.uint64(0xD1342543DE82EF95), np.uint64(0x9E3779B97F4A7C15), np.uint64(0x632BE59BD9B4E019)


@dataclass(slots=True)
class _Sequence:
    """Calls on one communicator as far as some ranks tell them, and at which of them the calls of each rank stand."""

    symbols: Ints
    places: dict[int, Ints] = field(default_factory=dict)

    def insert(self, where: Ints, symbols: Ints) -> None:
        """Put calls in front of some places, which rise."""
        if len(symbols):
            old = np.arange(len(self.symbols))
            moved = old + np.searchsorted(where, old, "right")
            self.symbols = np.insert(self.symbols, where, symbols)
            self.places = {rank: moved[places] for rank, places in self.places.items()}


def windows(symbols: Mapping[int, Ints]) -> dict[int, Ints]:
    """Give for each rank the numbers of the operations that its calls are; equal symbols are equal calls."""
    classes: dict[bytes, list[int]] = {}
    for rank, each in symbols.items():
        classes.setdefault(np.ascontiguousarray(each).tobytes(), []).append(rank)
    waiting = sorted(classes.values(), key=lambda ranks: (-len(symbols[ranks[0]]), -len(ranks)))
    apart, cells = list[_Sequence](), MOST_CELLS
    while waiting:
        ranks = waiting.pop(0)
        calls = symbols[ranks[0]]
        for sequence in apart[:MOST_APART] if cells > 0 else ():
            cells -= len(sequence.symbols) * len(calls)
            if _mends(sequence, calls, ranks):
                break
        else:
            apart.append(_Sequence(calls, dict.fromkeys(ranks, np.arange(len(calls)))))
            if len(apart) <= MOST_APART:
                waiting = _fit(apart[-1], waiting, symbols)
    found, first = dict[int, Ints](), 0
    for sequence in apart:
        found |= {rank: places + first for rank, places in sequence.places.items()}
        first += len(sequence.symbols)
    return {rank: found[rank] for rank in symbols}


def _fit(sequence: _Sequence, waiting: list[list[int]], symbols: Mapping[int, Ints]) -> list[list[int]]:
    """Put the logs into a sequence that overlap with it, first those that do so most; gives the others."""
    for part in (2, 8, 1 << 62):  # of a log that has to overlap: one part in so many
        for _ in range(MOST_APART):
            size = len(sequence.symbols)
            waiting = [ranks for ranks in waiting if not _fits(sequence, symbols[ranks[0]], ranks, part)]
            if len(sequence.symbols) == size:
                break
    return waiting


def _fits(sequence: _Sequence, calls: Ints, ranks: list[int], part: int) -> bool:
    """Put the calls of ranks where they agree with a sequence, which grows by what stands out at its ends."""
    size = len(sequence.symbols)
    shift, length = overlap(sequence.symbols, calls)
    if not length or length * part < min(size, len(calls)):
        return False
    ahead, behind = max(0, -shift), max(0, shift + len(calls) - size)
    sequence.insert(np.full(behind, size), calls[len(calls) - behind :])
    sequence.insert(np.zeros(ahead, np.int64), calls[:ahead])
    sequence.places |= dict.fromkeys(ranks, np.arange(len(calls)) + max(0, shift))
    return True


def _mends(sequence: _Sequence, calls: Ints, ranks: list[int]) -> bool:
    """Put calls where most of them agree with a sequence, which takes in those it lacks."""
    here, there = paired(*common(sequence.symbols, calls), len(sequence.symbols), len(calls))
    agreeing = int((sequence.symbols[here] == calls[there]).sum())
    if 2 * agreeing <= min(len(sequence.symbols), len(calls)):
        return False
    others = np.setdiff1d(np.arange(len(calls)), there)
    where = np.append(here, len(sequence.symbols))[np.searchsorted(there, others)]
    moved = here + np.searchsorted(where, here, "right")
    sequence.insert(where, calls[others])
    places = np.empty(len(calls), np.int64)
    places[there], places[others] = moved, where + np.arange(len(where))
    sequence.places |= dict.fromkeys(ranks, places)
    return True


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
    """All shifts at which two sequences agree wherever they overlap, and how far (polynomial hashes modulo 2^64)."""
    if not len(one) or not len(other):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    powers = np.full(max(len(one), len(other)) + 1, _BASE)
    powers[0] = 1
    powers = np.cumprod(powers, dtype=np.uint64)
    first, second = _hashes(one, powers), _hashes(other, powers)
    ahead, behind = np.arange(len(one)), np.arange(1, len(other))
    long, rest = np.minimum(len(other), len(one) - ahead), np.minimum(len(one), len(other) - behind)
    after = first[ahead + long] - first[ahead] == powers[ahead] * second[long]
    before = second[behind + rest] - second[behind] == powers[behind] * first[rest]
    return np.concatenate([ahead[after], -behind[before]]), np.concatenate([long[after], rest[before]])


def _hashes(symbols: Ints, powers: Ints) -> Ints:
    """The hash of each beginning."""
    mixed = (symbols.astype(np.uint64) + _ADD) * _MIX
    mixed ^= mixed >> np.uint64(29)
    return np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed * powers[: len(symbols)], dtype=np.uint64)])
