"""Traffic over time: bytes spread over recorded times, the duty cycle, and the bursts between idle milliseconds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netsim.profile import timing as module
from netsim.profile.requested import requests
from netsim.profile.timing import PS_PER_MS, Bursts, bursts
from netsim.traces import Operation, Trace


def timed(*spells: tuple[float, float | None, int]) -> Bursts:
    """The bursts of requests given as (start ms, duration ms or None, bytes)."""
    operations = []
    for start, length, size in spells:
        took = None if length is None else round(length * PS_PER_MS)
        when = {"recorded_start_ps": round(start * PS_PER_MS), "recorded_duration_ps": took}
        operations.append(Operation("all_reduce", "world", (0, 1), size, **when))
    found = bursts(requests(Trace("job", 2, {}, tuple(operations))))
    assert found is not None
    return found


def test_without_times_there_are_no_bursts() -> None:
    untimed = Trace("job", 2, {}, (Operation("all_reduce", "world", (0, 1), 8),))
    assert bursts(requests(untimed)) is None


def test_bytes_are_spread_evenly_from_start_to_end() -> None:
    found = timed((100, 0.5, 10), (101.5, 2, 40))
    assert found.table["start_ms"].tolist() == [0, 1, 2, 3]
    assert found.table["bytes"].tolist() == pytest.approx([10, 10, 20, 10])
    assert (found.timed, found.span_ms, found.peak_bytes_per_ms) == (2, pytest.approx(3.5), pytest.approx(20))


def test_the_duty_cycle_is_the_part_of_the_time_in_which_something_is_under_way() -> None:
    assert timed((0, 1, 8), (0.5, 1, 8), (3, 1, 8)).duty_cycle == pytest.approx(2.5 / 4)
    assert timed((0, 4, 8), (1, 1, 8)).duty_cycle == pytest.approx(1)
    assert timed((0, 4, 8), (1, 1, 8), (3, 1, 8), (9, 1, 8)).duty_cycle == pytest.approx(0.5)  # two inside the first


def test_a_burst_ends_with_an_idle_millisecond() -> None:
    assert timed((0, 0.1, 8), (0.5, 0.1, 8), (1.2, 0.1, 8), (4, 0.1, 8)).bursts == 2


def test_starts_alone_count_by_the_millisecond() -> None:
    found = timed((0, None, 8), (0.2, None, 8), (3.5, None, 8))
    assert found.table["bytes"].tolist() == [16, 0, 0, 8]
    assert (found.duty_cycle, found.bursts) == (0.5, 2)


def test_long_runs_are_shown_in_wider_bins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BINS", 10)
    found = timed((0, 1, 100), (94, 1, 100))
    assert (found.bin_ms, len(found.table)) == (10, 10)
    assert found.table["bytes_per_ms"].iloc[0] == pytest.approx(10)


SPELLS = st.tuples(st.floats(0, 50), st.floats(0, 20), st.integers(0, 10**9))


@given(st.lists(SPELLS, min_size=1, max_size=20))
def test_no_byte_is_lost_and_no_time_counts_twice(spells: list[tuple[float, float, int]]) -> None:
    found = timed(*spells)
    assert found.table["bytes"].sum() == pytest.approx(sum(size for _, _, size in spells), rel=1e-6, abs=1e-3)
    assert 0 <= found.duty_cycle <= 1
    assert 1 <= found.bursts <= len(spells)
