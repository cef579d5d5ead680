"""Lining up sequences: against the obvious way of doing it, and fast enough for a million calls."""

from __future__ import annotations

import time
from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from netsim.traces.joining import subsequence
from netsim.traces.joining.columns import Ints
from netsim.traces.joining.subsequence import common
from netsim.traces.joining.windows import overlap, windows

SOME = st.lists(st.integers(0, 2), max_size=12)


def array(values: list[int]) -> Ints:
    return np.array(values, np.int64)


def obvious_overlap(one: list[int], other: list[int]) -> tuple[int, int]:
    best = (0, 0)
    for shift in sorted(range(1 - len(other), len(one)), key=abs):
        here, there = one[max(0, shift) :], other[max(0, -shift) :]
        size = min(len(here), len(there))
        if here[:size] == there[:size] and size > best[1]:
            best = shift, size
    return best


@settings(max_examples=300, deadline=None)
@given(SOME, SOME)
def test_the_longest_overlap(one: list[int], other: list[int]) -> None:
    found, best = overlap(array(one), array(other)), obvious_overlap(one, other)
    assert (abs(found[0]), found[1]) == (abs(best[0]), best[1])


def obvious_common(one: list[int], other: list[int]) -> int:
    rows = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, j in product(range(len(one)), range(len(other))):
        rows[i + 1][j + 1] = rows[i][j] + 1 if one[i] == other[j] else max(rows[i][j + 1], rows[i + 1][j])
    return rows[-1][-1]


@settings(max_examples=300, deadline=None)
@given(SOME, SOME)
def test_the_longest_common_subsequence(one: list[int], other: list[int]) -> None:
    here, there = common(array(one), array(other))
    assert [one[place] for place in here] == [other[place] for place in there]
    assert (np.diff(here) > 0).all()
    assert (np.diff(there) > 0).all()
    assert len(here) == obvious_common(one, other)


@settings(max_examples=200, deadline=None)
@given(st.permutations(range(30)), st.lists(st.integers(0, 29), max_size=5), st.lists(st.integers(0, 29), max_size=5))
def test_anchors_find_what_comes_once(order: list[int], lost: list[int], others: list[int]) -> None:
    one = [each for each in order if each not in lost]
    other = [each for each in order if each not in others]
    limit, subsequence.MOST_CELLS = subsequence.MOST_CELLS, 16
    try:
        here, there = common(array(one), array(other))
    finally:
        subsequence.MOST_CELLS = limit
    assert [one[place] for place in here] == [other[place] for place in there]
    assert len(here) == len(set(one) & set(other))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 99), min_size=20, max_size=30, unique=True), st.data())
def test_windows_of_what_differs_are_put_where_they_were(calls: list[int], data: st.DataObject) -> None:
    cuts = {rank: sorted(data.draw(st.tuples(st.integers(0, 9), st.integers(10, len(calls))))) for rank in range(5)}
    found = windows({rank: array(calls[first:last]) for rank, (first, last) in cuts.items()})
    first = min(first for first, _ in cuts.values())
    assert {rank: list(places) for rank, places in found.items()} == {
        rank: list(range(begin - first, end - first)) for rank, (begin, end) in cuts.items()
    }


def test_ranks_that_have_nothing_in_common_stand_apart() -> None:
    found = windows({0: array([1, 2, 3]), 1: array([4, 5]), 2: array([5, 6])})
    assert sorted(int(place) for each in found.values() for place in each) == [0, 1, 2, 3, 4, 4, 5]


def test_long_sequences_take_seconds_at_most() -> None:
    calls = np.random.default_rng(1).integers(0, 5, 300_000)
    lost = np.delete(calls, [7, 100_000, 250_001])[40_000:]
    period = np.tile(calls[:1000], 300)
    start = time.process_time()
    found = windows({0: calls, 1: calls[1000:], 2: lost, 3: calls[:200_000]})
    assert [int(each[0]) for each in found.values()] == [0, 1000, 40_001, 0]
    assert int(found[2][-1]) == len(calls) - 1
    assert len(np.setdiff1d(found[0], found[2])) == 40_001 + 2
    windows({0: period, 1: period[500:], 2: np.delete(period, 150_500)})
    assert time.process_time() - start < 20
