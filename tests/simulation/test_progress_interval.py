"""How long the core runs at once follows the clock, within bounds; and what comes of it changes no result."""

import pytest

import netsim
from netsim.simulation import progress_interval
from netsim.simulation.progress_interval import FEWEST_STEPS, FIRST_STEPS, MOST_STEPS, PAUSE_SECONDS, ProgressInterval


def test_steps_follow_what_the_last_ones_took() -> None:
    one = ProgressInterval()
    one.paused_after(PAUSE_SECONDS / 2)
    assert one.steps == 2 * FIRST_STEPS
    one.paused_after(PAUSE_SECONDS * 2)
    assert one.steps == FIRST_STEPS


@pytest.mark.parametrize(("seconds", "bound"), [(0.0, MOST_STEPS), (1e9, FEWEST_STEPS)])
def test_steps_stay_within_bounds(seconds: float, bound: int) -> None:
    one = ProgressInterval()
    one.paused_after(seconds)
    assert one.steps == FIRST_STEPS * (4 if seconds == 0 else 1 / 4)
    for _ in range(40):
        one.paused_after(seconds)
    assert one.steps == bound


def test_progress_is_told_at_once_and_then_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([100.0, 100.05, 100.11, 100.2, 100.3])
    monkeypatch.setattr("netsim.simulation.progress_interval.time.monotonic", lambda: next(clock))
    one = ProgressInterval()
    assert [one.is_time() for _ in range(5)] == [True, False, True, False, True]


@pytest.mark.parametrize("steps", [1, 7])
def test_pauses_change_no_result(steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = netsim.simulate("ring_all_reduce_16", "fat_tree_k4_100g")
    monkeypatch.setattr(progress_interval, "FIRST_STEPS", steps)
    monkeypatch.setattr(ProgressInterval, "paused_after", lambda *_: None)
    paused = netsim.simulate("ring_all_reduce_16", "fat_tree_k4_100g")
    for table in ("collectives", "parts", "flows", "links", "queues"):
        assert getattr(paused, table).equals(getattr(whole, table)), table
