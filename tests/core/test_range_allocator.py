"""Ranges of rows: never given twice, used again when free, in one piece when neighbours are free."""

from hypothesis import given
from hypothesis import strategies as st

from netsim.core.state.range_allocator import RangeAllocator


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 30))))
def test_what_is_taken_never_overlaps_and_what_is_free_is_used_first(steps: list[tuple[bool, int]]) -> None:
    ground = RangeAllocator()
    held: list[tuple[int, int]] = []
    for gives, number in steps:
        if gives and held:
            first, rows = held.pop(number % len(held))
            ground.give(first, rows)
        else:
            gap = _first_gap(held, number)
            held.append((ground.take(number), number))
            assert number == 0 or gap is None or gap + number > ground.size or held[-1][0] == gap
        rows_held = [row for first, rows in held for row in range(first, first + rows)]
        assert len(rows_held) == len(set(rows_held))
        assert all(0 <= row < ground.size for row in rows_held)


def _first_gap(held: list[tuple[int, int]], rows: int) -> int | None:
    """The first place where so many rows are free between or before what is held."""
    end = 0
    for first, length in sorted(each for each in held if each[1]):
        if first - end >= rows:
            return end
        end = first + length
    return None


@given(st.permutations(range(8)))
def test_given_back_in_any_order_the_ground_is_one_piece_again(order: list[int]) -> None:
    ground = RangeAllocator()
    firsts = [ground.take(rows) for rows in range(1, 9)]
    for number in order:
        ground.give(firsts[number], number + 1)
    assert ground.take(36) == 0
    assert ground.take(1) == 36 == ground.size - 1


def test_the_first_range_that_fits_is_taken_and_its_rest_stays_free() -> None:
    ground = RangeAllocator()
    small, _, large, _ = (ground.take(rows) for rows in (2, 1, 5, 1))
    ground.give(small, 2)
    ground.give(large, 5)
    assert [ground.take(rows) for rows in (3, 1, 2, 1)] == [large, small, large + 3, small + 1]
    assert ground.size == 9
