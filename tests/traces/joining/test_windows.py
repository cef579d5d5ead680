"""Lining up sequences: against the obvious way of doing it, and of hundreds of thousands of calls."""

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from netsim.traces.joining import subsequence
from netsim.traces.joining.columns import Ints
from netsim.traces.joining.subsequence import HOLE, common
from netsim.traces.joining.windows import holes, overlap, windows

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


def obvious_score(one: list[int], other: list[int]) -> int:
    """The best of all ways to go on: two that are equal, or a hole on either side; it costs nothing at the ends."""
    rows = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, j in product(range(len(one)), range(len(other))):
        hole = max(rows[i][j + 1], rows[i + 1][j]) - HOLE
        rows[i + 1][j + 1] = max(hole, rows[i][j] + 1) if one[i] == other[j] else hole
    return max(*rows[-1], *(row[-1] for row in rows))


@settings(max_examples=300, deadline=None)
@given(SOME, SOME)
def test_as_many_in_common_as_there_can_be_with_holes_at_a_cost(one: list[int], other: list[int]) -> None:
    here, there = common(array(one), array(other))
    assert [one[place] for place in here] == [other[place] for place in there]
    assert (np.diff(here) > 0).all()
    assert (np.diff(there) > 0).all()
    assert len(here) - HOLE * holes([here, there]) >= obvious_score(one, other)


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
    inside = set(one[here[0] : here[-1] + 1]) & set(other[there[0] : there[-1] + 1])
    assert len(here) == len(inside) >= 10


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


def test_long_sequences_with_calls_lost_inside() -> None:
    """So long that no table holds them; what comes again and again is put together run by run."""
    chance = np.random.default_rng(1)
    calls = chance.integers(0, 5, 60_000)
    lost = np.delete(calls, [7, 20_000, 50_001])[8000:]
    found = windows({0: calls, 1: calls[1000:], 2: lost, 3: calls[:40_000]})
    assert [int(each[0]) for each in found.values()] == [0, 1000, 8001, 0]
    assert int(found[2][-1]) == len(calls) - 1
    assert len(np.setdiff1d(found[0], found[2])) == 8001 + 2
    for whole in (calls, np.tile(calls[:1000], 60)):
        lossy = {rank: np.delete(whole, chance.integers(2000, len(whole) - 2000, 9)) for rank in range(5)}
        assert 1 + max(int(each[-1]) for each in windows({9: whole, **lossy}).values()) == len(whole)


def test_calls_lost_from_logs_that_are_cut() -> None:
    """Rank 1 lacks its head and two calls inside; what one step calls the next calls as well."""
    step = [0, 1, 0, 2, 3, 0, 1, 4]
    found = windows({0: array(step * 9), 1: np.delete(array(step * 9), [30, 45])[12:]})
    assert list(np.setdiff1d(found[0], found[1])) == [*range(12), 30, 45]


def test_where_calls_come_again_none_contradicts_another() -> None:
    """Two logs of one job, of steps 1 to 3 and 4 to 6, look alike but for what each calls once."""
    first, second = array([0, 1, 2] * 3), array([0, 1, 2] * 3)
    first[4], second[4] = 7, 8
    found = windows({0: first, 1: second})
    recorded = {
        (int(place), int(call))
        for rank, calls in enumerate((first, second))
        for place, call in zip(found[rank], calls, strict=True)
    }
    assert len(recorded) == len({place for place, _ in recorded})
