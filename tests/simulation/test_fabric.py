"""The seam: cutting time into slices changes nothing; ranks act at the instant they should; a run always ends."""

from collections.abc import Generator
from functools import cache
from typing import Any

import numpy as np
import pytest
import simpy

from tests.core.scenario_runs import CoreRun, Figures, build_core, core_figures, differences, play_core, schedule_of
from tests.inputs import failure
from tests.reference.scenarios.drawn import drawn
from tests.reference.scenarios.networks import MICROSECOND, ring, star
from tests.reference.scenarios.plain import SCENARIOS
from tests.reference.scenarios.scenario import Collective, Scenario, one

NANOSECOND = 1_000
SLICED = [
    "incast_drops", "tail_losses_time_out", "dctcp_ramp_and_drops", "dctcp_shared_queue", "dctcp_times_out",
    "everything_on_the_tick", "shared_queue_loses_acks", "rank_comes_late", "late_rank_releases_in_row_order",
    "two_collectives_overlap", "one_after_the_other", "everybody_over_one_rail_with_losses", "needless_time_outs",
]  # fmt: skip
RANDOM = {f"random_{number}": drawn(number) for number in (3, 8, 21, 40, 77, 90)}
TINY = Scenario(
    "tiny", star(3), (Collective(ring(3, 2, 5_000), (0, 700 * NANOSECOND, 3)), *one([(2, 0, 1, 9_000, ())]))
)
KNOWN = SCENARIOS | RANDOM | {TINY.name: TINY}


def build_schedule(rows: Any) -> Any:
    """Columns for a group just large enough."""
    return schedule_of(rows, 1 + max(max(row[:2]) for row in rows))


def ticker(env: simpy.Environment, every_ps: int, until_ps: int) -> Generator[simpy.Event, None, None]:
    """Something that SimPy must stop for again and again, until the run it disturbs is over."""
    while env.now < until_ps:
        yield env.timeout(every_ps)


def everything(run: CoreRun) -> Figures:
    """All figures, and beside them what sender, receiver, queues and samples came to."""
    world, samples = run.fabric.world, run.fabric.samples.columns()
    more: dict[str, Any] = {"samples": {name: column.tolist() for name, column in samples.items()}}
    for name in ("next", "acked", "cwnd", "last_progress_at", "expected", "received", "acks_received", "dctcp"):
        more[f"connections {name}"] = run.connections[name].tolist()
    links = world.links
    more |= {f"links {name}": links[name].tolist() for name in ("free_at", "waited")}
    for held, leaving in (("backlog", "leaving"), ("control_backlog", "control_leaving")):
        more[f"links {held}"] = (links[held] - links[leaving]).tolist()  # a packet that has left is taken off later
    return core_figures(run) | more


@cache
def whole(name: str) -> tuple[Figures, int]:
    """A run nobody disturbs, and when its last rank was through."""
    run = play_core(KNOWN[name])
    return everything(run), int(run.env.now)


def chopped(scenario: Scenario, every_ps: int) -> tuple[Figures, int]:
    """The same in slices; and how many stops SimPy made."""
    end = whole(scenario.name)[1]
    run = build_core(scenario)
    run.env.process(ticker(run.env, every_ps, end))
    return everything(run.end()), -(-end // every_ps)


@pytest.mark.parametrize("every_ps", [1_000 * NANOSECOND, 78 * NANOSECOND], ids=["1us", "78ns"])
@pytest.mark.parametrize("scenario", [*(SCENARIOS[name] for name in SLICED), *RANDOM.values()], ids=lambda s: s.name)
def test_time_in_slices_changes_no_figure(scenario: Scenario, every_ps: int) -> None:
    figures, slices = chopped(scenario, every_ps)
    assert slices >= 10
    assert differences(figures, whole(scenario.name)[0], ("in slices", "whole")) == []


@pytest.mark.parametrize("every_ps", [10 * NANOSECOND, 997])
def test_the_finest_slices_change_no_figure(every_ps: int) -> None:
    figures, slices = chopped(TINY, every_ps)
    assert slices > 500
    assert differences(figures, whole(TINY.name)[0], ("in slices", "whole")) == []


def test_what_is_sliced_has_drops_marks_time_outs_late_ranks_and_overlap() -> None:
    shown = {what for name in SLICED for what in SCENARIOS[name].shows.split()}
    assert shown >= {"data_dropped", "acks_dropped", "ecn_marks", "timeouts", "early_rows", "transit", "ties"}
    assert any(len(SCENARIOS[name].collectives) > 2 for name in SLICED)


def test_stopping_simpy_and_going_on_changes_no_figure() -> None:
    scenario = SCENARIOS["dctcp_ramp_and_drops"]
    run = build_core(scenario)
    for stop in (1, 5 * MICROSECOND + 1, 5 * MICROSECOND + 2, 40 * MICROSECOND):
        run.env.run(until=stop)
        assert run.env.now == stop
    assert differences(everything(run.end()), whole(scenario.name)[0], ("with stops", "whole")) == []


def test_a_part_ends_when_its_own_work_is_done_not_when_everybodys_is() -> None:
    run = play_core(Scenario("chain", star(4), one([(0, 1, 0, 4096, ()), (1, 2, 0, 400_000, (0,))])))
    nothing_to_do, sender = run.finish_ps[0, 3], run.finish_ps[0, 0]
    assert (nothing_to_do, sender) == (0, 332_800)
    assert run.finish_ps[0, 1] < run.finish_ps[0, 2] == run.carried[0].end_ps


def test_an_event_from_outside_starts_a_rank_at_that_very_time() -> None:
    run = build_core(Scenario("late", star(2), one([(0, 1, 0, 4096, ())], 7_654_321, 0)))
    run.env.run()
    assert run.carried[0].flows["start_ps"].tolist() == [7_654_321]
    assert run.finish_ps[0, 1] == 7_654_321 + 2 * 332_800 + 2_000_000
    assert int(run.fabric.world.progress[0]["late_entries"]) == 0


def test_a_rank_that_never_comes_is_named() -> None:
    run = build_core(Scenario("nobody", star(3), ()))
    carried = run.fabric.carry(build_schedule([(0, 1, 0, 4096, ()), (1, 2, 0, 4096, (0,))]), (0, 1, 2))
    for position in (0, 2):
        run.fabric.enter(carried, position)
    assert "waits for rank 1, rank 1 never began it" in failure(run.env.run)


def test_rows_that_wait_in_a_circle_are_refused_at_once() -> None:
    run = build_core(Scenario("circle", star(3), ()))
    schedule = build_schedule([(0, 1, 0, 1, (1,)), (1, 0, 0, 1, (0,))])
    assert "wait for each other in a cycle" in failure(run.fabric.carry, schedule, (0, 1))


def test_ended_collectives_give_their_rows_back() -> None:
    schedule = Collective(ring(4, 3, 9_000))
    run = play_core(Scenario("again", star(4), (schedule, *[Collective(schedule.rows, waits=(0,))])))
    before = {name: len(getattr(run.fabric.world, name)) for name in ("messages", "dependents", "flows", "parts")}
    assert run.fabric.is_quiet
    for _ in range(5):
        carried = run.fabric.carry(build_schedule(schedule.rows), range(4))
        for position in range(4):
            run.fabric.enter(carried, position)
        run.env.run()
    assert {name: len(getattr(run.fabric.world, name)) for name in before} == before
    assert np.diff([each.end_ps for each in run.fabric.carried]).min() >= 0
