"""Intervals: Student's table, textbook numbers, and coverage of normal samples."""

import math

import numpy as np
import pytest

from netsim.study.statistics import mean_of, paired_width, speedup_of, student_t, unpaired_width


@pytest.mark.parametrize(  # Student's table, two-sided 5 %
    ("freedom", "t"),
    [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (5, 2.571), (9, 2.262), (10, 2.228), (29, 2.045), (120, 1.980)],
)
def test_the_table_of_student(freedom: int, t: float) -> None:
    assert student_t(freedom) == pytest.approx(t, abs=6e-4)


def test_many_degrees_of_freedom_are_normal() -> None:
    assert student_t(10_000) == pytest.approx(1.959964, abs=3e-4)


def test_closed_forms() -> None:
    assert student_t(1) == pytest.approx(math.tan(0.475 * math.pi), rel=1e-12)  # Cauchy
    assert student_t(2) == pytest.approx(0.95 * math.sqrt(2 / (1 - 0.95**2)), rel=1e-12)


def test_a_mean() -> None:
    found = mean_of([4, 6, 8, 10])
    half = 3.182446 * math.sqrt(20 / 3 / 4)
    assert (found.middle, found.low, found.high) == pytest.approx((7, 7 - half, 7 + half), rel=1e-6)
    assert found.covers(7)
    assert not found.covers(12)


def test_one_run_has_no_interval() -> None:
    found = mean_of([5])
    assert found.middle == 5
    assert not found.is_known
    assert not found.covers(5)


def test_95_of_100_normal_samples_cover() -> None:
    draws = np.random.default_rng(1).normal(10, 3, (2000, 5))
    covered = sum(mean_of(draw.tolist()).covers(10) for draw in draws)
    assert 0.94 < covered / 2000 < 0.96


def test_a_speedup_is_a_ratio_of_times() -> None:
    found = speedup_of([10, 10, 10], [20, 20, 20])
    assert (found.middle, found.low, found.high) == pytest.approx((2, 2, 2))
    one_way, other_way = speedup_of([1, 2, 3], [4, 5, 9]), speedup_of([4, 5, 9], [1, 2, 3])
    assert one_way.middle * other_way.middle == pytest.approx(1)
    assert one_way.low * other_way.high == pytest.approx(1)


def test_pairs_cancel_what_the_seed_does_to_both() -> None:
    rng = np.random.default_rng(2)
    seeds = rng.lognormal(0, 0.5, 10)
    slow, fast = (2 * seeds * rng.lognormal(0, 0.01, 10)).tolist(), seeds.tolist()
    assert speedup_of(fast, slow).covers(2)
    assert paired_width(fast, slow) < unpaired_width(fast, slow) / 20


def test_pairs_keep_their_promise_where_seeds_do_opposite_things() -> None:
    """Taking the narrower of both would be wrong here: Welch's interval takes the runs for independent."""
    first = [10.0, 20.0, 10.0, 20.0]
    assert paired_width(first, first[1:] + first[:1]) > unpaired_width(first, first[1:] + first[:1])


def test_no_time_no_ratio() -> None:
    assert math.isnan(speedup_of([0, 1], [1, 1]).middle)
