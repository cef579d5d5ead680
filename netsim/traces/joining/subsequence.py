"""The longest common subsequence of two sequences of numbers; of long ones between what they have in common once."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from netsim.traces.joining.columns import Ints

MOST_CELLS = 1 << 22  # of one table: 2,048 calls against 2,048
WIDTHS = (64, 8, 1)  # neighbours that make an anchor, where they come once in each of two long sequences
PAIRED = 4  # so many calls have to agree for each that is taken to contradict another
Pairs = tuple[Ints, Ints]  # places in the one and in the other sequence, both rising


def common(one: Ints, other: Ints) -> Pairs:
    """The places of equal numbers that belong together, as many as there can be."""
    waiting, found = [(0, len(one), 0, len(other))], list[Pairs]()
    while waiting:
        first, last, begin, end = waiting.pop()
        here, there = one[first:last], other[begin:end]
        ahead = _equal(here, there)
        behind = _equal(here[ahead:][::-1], there[ahead:][::-1])
        for start, stop, at in ((first, first + ahead, begin), (last - behind, last, end - behind)):
            found.append((np.arange(start, stop), np.arange(at, at + stop - start)))
        first, begin, last, end = first + ahead, begin + ahead, last - behind, end - behind
        if (last - first) * (end - begin) <= MOST_CELLS:
            matched = _table(one[first:last], other[begin:end])
        else:
            matched = _anchored(one[first:last], other[begin:end])
            lows, highs = [0, *(matched[0] + 1)], [*matched[0], last - first]
            starts, ends = [0, *(matched[1] + 1)], [*matched[1], end - begin]
            for low, high, start, stop in zip(lows, highs, starts, ends, strict=True):
                if len(matched[0]) and high > low and stop > start:
                    waiting.append((first + int(low), first + int(high), begin + int(start), begin + int(stop)))
        found.append((matched[0] + first, matched[1] + begin))
    here, there = (np.concatenate(each).astype(np.int64) for each in zip(*found, strict=True))
    return np.sort(here), np.sort(there)


def paired(here: Ints, there: Ints, size: int, other: int) -> Pairs:
    """The pairs, and as many more: calls that stand alone, equally many on both sides, between two that agree.

    Nothing is lost there, so that they contradict each other; where few calls agree that is not said of any.
    """
    rows, columns = np.diff(here) - 1, np.diff(there) - 1
    gaps = np.flatnonzero((rows == columns) & (rows > 0) & (rows * PAIRED <= len(here)))
    more = [(here[gap] + 1 + np.arange(rows[gap]), there[gap] + 1 + np.arange(rows[gap])) for gap in gaps.tolist()]
    here, there = (np.concatenate(each) for each in zip((here, there), *more, strict=True))
    return np.sort(here), np.sort(there)


def _equal(one: Ints, other: Ints) -> int:
    """How many of the first numbers are equal."""
    size = min(len(one), len(other))
    differing = np.flatnonzero(one[:size] != other[:size])
    return int(differing[0]) if len(differing) else size


def _table(one: Ints, other: Ints) -> Pairs:
    """By a row for each number of the one sequence: how many are common up to each of the other."""
    rows = np.zeros((len(one) + 1, len(other) + 1), np.int32)
    for number, each in enumerate(one.tolist()):
        step = np.maximum(rows[number, 1:], rows[number, :-1] + (other == each))
        rows[number + 1, 1:] = np.maximum.accumulate(step)
    pairs, row, column = list[tuple[int, int]](), len(one), len(other)
    while row and column and rows[row, column]:
        if rows[row, column] == rows[row, column - 1]:
            column -= 1
        elif rows[row, column] == rows[row - 1, column]:
            row -= 1
        else:
            row, column = row - 1, column - 1
            pairs.append((row, column))
    found = np.array(pairs[::-1], np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def _anchored(one: Ints, other: Ints) -> Pairs:
    """What comes once in each, as neighbours of some width: the longest row of them that rises in both."""
    both = np.concatenate([one, [np.iinfo(np.int64).min], other]).astype(np.int64)
    for width in WIDTHS:
        if width > min(len(one), len(other)):
            continue
        numbers = _neighbours(both, width)
        left, right = numbers[: len(one) - width + 1], numbers[len(one) + 1 :]
        names = int(numbers.max()) + 1
        once = (np.bincount(left, minlength=names) == 1) & (np.bincount(right, minlength=names) == 1)
        here, place = np.flatnonzero(once[left]), np.zeros(names, np.int64)
        place[right] = np.arange(len(right))
        there = place[left[here]]
        kept = _rising(there.tolist())
        if kept:
            return here[kept], there[kept]
    return np.zeros(0, np.int64), np.zeros(0, np.int64)


def _neighbours(symbols: Ints, width: int) -> Ints:
    """A number for each place, equal where so many neighbours are: found by doubling, so that none are mixed up."""
    names, have = np.unique(symbols, return_inverse=True)[1], 1
    while have < width:
        step = min(have, width - have)
        keys = names[: len(names) - step] * (int(names.max()) + 1) + names[step:]
        names, have = np.unique(keys, return_inverse=True)[1], have + step
    return names


def _rising(values: list[int]) -> list[int]:
    """The places of the longest rising subsequence (patience)."""
    tops, ends, before = list[int](), list[int](), list[int]()
    for number, value in enumerate(values):
        at = bisect_left(tops, value)
        before.append(ends[at - 1] if at else -1)
        tops[at : at + 1], ends[at : at + 1] = [value], [number]
    chain, at = list[int](), ends[-1] if ends else -1
    while at >= 0:
        chain.append(at)
        at = before[at]
    return chain[::-1]
