"""One order for all that wait for each other: valid, as early as may be, and what happens in a cycle."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netsim.errors import InputError
from netsim.traces.topological_order import topological_order, topological_order_of


@given(st.permutations(range(9)), st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=20))
def test_the_first_that_waits_for_nothing_left_is_next(names: list[int], pairs: list[tuple[int, int]]) -> None:
    waits: list[list[int]] = [[] for _ in names]
    for one, other in pairs:
        if one != other:
            waits[names[max(one, other)]].append(names[min(one, other)])
    order = topological_order_of(waits, lambda *_: AssertionError("there is no cycle"))
    for place, number in enumerate(order):
        free = [each for each in set(range(9)) - set(order[:place]) if set(waits[each]) <= set(order[:place])]
        assert number == min(free)


@pytest.mark.parametrize("waits", [[[], [2], [1], [2]], [[], [1], [], [1]]])
def test_the_first_in_a_cycle_is_named_and_refused_or_goes_first(waits: list[list[int]]) -> None:
    found = []

    def refuse(number: int, placed: object) -> InputError:
        return InputError(f"{number} is in a cycle")

    def allow(number: int, placed: bytearray) -> None:
        found.append((number, list(placed)))

    with pytest.raises(InputError, match="1 is in a cycle"):
        topological_order_of(waits, refuse)
    assert topological_order_of(waits, allow) == ([0, 1, 2, 3] if waits[2] else [0, 2, 1, 3])
    assert found == [(1, [1, 0, int(not waits[2]), 0])]


def test_a_pair_counts_once_however_often_it_is_given() -> None:
    waiters, awaited = np.array([0, 0, 0]), np.array([2, 2, 1])
    assert topological_order(3, waiters, awaited, lambda *_: None).tolist() == [1, 2, 0]
