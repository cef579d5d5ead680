"""Designs: everything that repeats is crossed, and named by what differs."""

from collections.abc import Sequence
from typing import cast

from netsim.config import build_scenario
from netsim.config.scenario import Scenario
from netsim.study.designs import Design, Value, designs_of, tasks_of
from tests.inputs import refusal

ON = [Value("k4", topology="fat_tree_k4_100g"), Value("leaf", topology="leaf_spine_32_4to1")]
ROUTING = [Value("ecmp", ("routing.kind=ecmp",)), Value("single", ("routing.kind=single",))]


def make(values: Sequence[Value]) -> Scenario:
    topology = next(value.topology for value in values if value.topology)
    return build_scenario("perm16", topology, [each for value in values for each in value.sets])


def names(*axes: list[Value]) -> list[str]:
    return [each.name for each in designs_of(axes, make)]


def test_what_repeats_is_crossed() -> None:
    assert names(ON, ROUTING) == ["k4 ecmp", "k4 single", "leaf ecmp", "leaf single"]
    assert [each.scenario.routing.kind for each in designs_of([ON, ROUTING], make)] == ["ecmp", "single"] * 2


def test_names_tell_what_varies() -> None:
    assert names(ON, ROUTING[:1], []) == ["k4", "leaf"]
    assert names(ON[:1], ROUTING) == ["ecmp", "single"]
    assert names(ON[:1], ROUTING[:1]) == ["k4"]
    assert names([ON[0], ON[0]]) == ["k4 #1", "k4 #2"]


def test_every_design_has_the_same_seeds() -> None:
    tasks = tasks_of(designs_of([ON], make), 3)
    assert [task.number for task in tasks] == list(range(6))
    assert [task.scenario.seed for task in tasks] == [1, 2, 3, 1, 2, 3]
    assert len({task.scenario.digest() for task in tasks}) == 6


def test_another_seed_changes_the_seed_alone() -> None:
    before = make(ON[:1])
    after = before.changed(seed=7)
    assert after.seed == 7
    assert after.digest() != before.digest()
    assert after.changed(seed=1) == before


def test_too_many_runs_are_refused() -> None:
    nobody = cast("Scenario", None)
    said = refusal(tasks_of, [Design("a", nobody), Design("b", nobody)], 6000)
    assert "2 designs with 6,000 seeds are 12,000 runs" in said
