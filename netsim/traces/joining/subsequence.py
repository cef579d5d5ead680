"""The longest common subsequence of two sequences of numbers, of which each may begin and end before the other.

Of long ones it is looked for between what they have in common once; where all comes again and again, run by run.
"""

from bisect import bisect_left

import numpy as np

from netsim.traces.joining.columns import Ints
from netsim.traces.joining.hashes import Hashed

MOST_CELLS = 1 << 24  # of one table: 4,096 calls against 4,096
WIDTHS = (64, 8, 1)  # neighbours that make an anchor, where they come once in each of two long sequences
REACH, MOST_RUNS = 1024, 1024  # how far the next run may be, and how many there may be
RUN, TRIED = 16, 32  # so long runs have to be in the mean, after so many: sequences of chance have shorter ones
HOLE = 1  # so many calls have to agree for each that is lost between them
PAIRED = 4  # so many calls have to agree for each that is taken to contradict another
Pairs = tuple[Ints, Ints]  # places in the one and in the other sequence, both rising


def common(one: Ints, other: Ints) -> Pairs:
    """The places of equal numbers that belong together: as many as there can be, each hole between them at a cost.

    What one sequence has before the first or after the last number of the other is no hole.
    """
    waiting, found = [(0, len(one), 0, len(other), True, True)], list[Pairs]()
    while waiting:
        first, last, begin, end, head, tail = waiting.pop()
        ahead = 0 if head else _equal(one[first:last], other[begin:end])
        found.append((np.arange(first, first + ahead), np.arange(begin, begin + ahead)))
        first, begin = first + ahead, begin + ahead
        behind = 0 if tail else _equal(one[first:last][::-1], other[begin:end][::-1])
        found.append((np.arange(last - behind, last), np.arange(end - behind, end)))
        last, end = last - behind, end - behind
        if (last - first) * (end - begin) <= MOST_CELLS:
            matched = _table(one[first:last], other[begin:end], head=head, tail=tail)
        else:
            matched = _anchored(one[first:last], other[begin:end])
            lows, highs = [0, *(matched[0] + 1)], [*matched[0], last - first]
            starts, ends = [0, *(matched[1] + 1)], [*matched[1], end - begin]
            for turn, (low, high, start, stop) in enumerate(zip(lows, highs, starts, ends, strict=True)):
                if len(matched[0]) and high > low and stop > start:
                    free = head and not turn, tail and turn == len(matched[0])
                    waiting.append((first + int(low), first + int(high), begin + int(start), begin + int(stop), *free))
        found.append((matched[0] + first, matched[1] + begin))
    here, there = (np.concatenate(each).astype(np.int64) for each in zip(*found, strict=True))
    return np.sort(here), np.sort(there)


def paired(here: Ints, there: Ints) -> Pairs:
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


def _table(one: Ints, other: Ints, *, head: bool, tail: bool) -> Pairs:
    """By a row for each number of the one sequence: the best up to each of the other; with free heads and tails."""
    costs = HOLE * np.arange(len(other) + 1, dtype=np.int32)
    rows = np.zeros((len(one) + 1, len(other) + 1), np.int32)
    if not head:
        rows[0], rows[:, 0] = -costs, -HOLE * np.arange(len(one) + 1)
    for number, each in enumerate(one.tolist()):
        step = np.where(other == each, rows[number, :-1] + 1, rows[number, 1:] - HOLE)
        rows[number + 1, 1:] = np.maximum(step, rows[number, 1:] - HOLE)
        rows[number + 1] = np.maximum.accumulate(rows[number + 1] + costs) - costs
    row, column = len(one), len(other)
    if tail:
        ends = rows[:, -1].argmax(), rows[-1].argmax()
        row, column = (int(ends[0]), column) if rows[ends[0], -1] > rows[-1, ends[1]] else (row, int(ends[1]))
    pairs = list[tuple[int, int]]()
    while row and column:
        if one[row - 1] == other[column - 1] and rows[row, column] == rows[row - 1, column - 1] + 1:
            row, column = row - 1, column - 1
            pairs.append((row, column))
        elif rows[row, column] == rows[row, column - 1] - HOLE:
            column -= 1
        else:
            row -= 1
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
    return _by_runs(one, other)


def _by_runs(one: Ints, other: Ints) -> Pairs:
    """Goes from one run of equal numbers to the next, over as few others as may be; the first may be anywhere."""
    hashed, found, here, there = Hashed(one, other), list[Pairs](), 0, 0
    reach = max(len(one), len(other))
    for turn in range(MOST_RUNS):
        agreeing = sum(len(each) for each, _ in found)
        if here >= len(one) or there >= len(other) or agreeing < RUN * (turn - TRIED):
            break
        ahead, behind = np.arange(here, min(len(one), here + reach)), np.arange(there, min(len(other), there + reach))
        runs = hashed.runs(ahead, np.array(there)), hashed.runs(np.array(here), behind)
        worth = [np.minimum(each, REACH) - np.arange(len(each)) * bool(turn) for each in runs]
        skips = [int(each.argmax()) for each in worth]
        if worth[0][skips[0]] >= worth[1][skips[1]]:
            here += skips[0]
        else:
            there += skips[1]
        run = max(1, int(hashed.runs(np.array([here]), np.array([there]))[0]))
        found.append((np.arange(here, here + run), np.arange(there, there + run)))
        here, there, reach = here + run, there + run, REACH
    left, right = (np.concatenate([each[side] for each in found]) for side in (0, 1))
    equal = one[left] == other[right]  # hashes may agree by chance, and where nothing fits one of each is skipped
    return left[equal], right[equal]


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
