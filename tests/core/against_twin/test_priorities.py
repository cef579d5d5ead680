"""Core and twin are the same network where traffic has several classes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from netsim.errors import RunError
from tests.core.against_twin.test_pfc import is_of_a_nics_queue
from tests.core.scenario_runs import Figures, core_figures, differences, play_core, twin_figures
from tests.reference.link.priorities import ClassedPort
from tests.reference.scenarios.priorities import CLASSED, CLASSED_DEADLOCK, drawn_classed
from tests.reference.scenarios.scenario import Scenario, build_twin
from tests.reference.test_scenarios import count

RANDOM = {f"random_classed_{number}": drawn_classed(number) for number in range(60)}


def both(scenario: Scenario) -> tuple[Figures, Figures]:
    """What the core and what the twin measured."""
    twin = build_twin(scenario)
    results = twin.run()
    return core_figures(play_core(scenario)), twin_figures(twin, results)


@pytest.mark.parametrize("scenario", (CLASSED | RANDOM).values(), ids=lambda scenario: scenario.name)
def test_core_and_twin_agree_in_every_figure(scenario: Scenario) -> None:
    core, twin = both(scenario)
    assert any("class 1 of" in figure for figure in core)
    assert [each for each in differences(core, twin) if not is_of_a_nics_queue(each, scenario)] == []


@pytest.mark.parametrize("scenario", CLASSED.values(), ids=lambda scenario: scenario.name)
def test_every_scenario_shows_what_it_is_for(scenario: Scenario) -> None:
    twin = build_twin(scenario)
    results = twin.run()
    lanes = [lane.count for port in twin.ports if isinstance(port, ClassedPort) for lane in port.lanes[1:]]
    results = replace(results, links=results.links + lanes)
    assert [name for name in scenario.shows if count(results, name) == 0] == []
    assert [name for name in scenario.never if count(results, name) > 0] == []


@pytest.mark.parametrize("name", ["classes_go_in_order_at_a_switch", "classes_pause_by_themselves"])
def test_other_classes_show_in_the_figures(name: str) -> None:
    scenario = CLASSED[name]
    swapped = tuple(replace(each, traffic_class=1 - min(1, each.traffic_class)) for each in scenario.collectives)
    changed = core_figures(play_core(replace(scenario, collectives=swapped)))
    assert differences(changed, both(scenario)[1]) != []


def test_a_deadlock_names_its_class() -> None:
    with pytest.raises(RunError, match="flow control has stopped class 1 of links that wait for each other: switch"):
        play_core(CLASSED_DEADLOCK)
