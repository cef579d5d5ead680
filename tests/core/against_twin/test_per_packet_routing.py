"""Core and twin are the same network where switches choose per packet and connections have several queue pairs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.core.against_twin.test_pfc import is_of_a_nics_queue
from tests.core.scenario_runs import Figures, core_figures, differences, play_core, twin_figures
from tests.reference.scenarios.per_packet_routing import FLOWLET, REPS, ROUTED, SPRAY, TURNS, drawn_routed
from tests.reference.scenarios.scenario import Scenario, build_twin

RANDOM = {scenario.name: scenario for n in range(80) for scenario in (drawn_routed(n),)}


def both(scenario: Scenario) -> tuple[Figures, Figures]:
    """What the core and what the twin measured."""
    twin = build_twin(scenario)
    results = twin.run()
    return core_figures(play_core(scenario)), twin_figures(twin, results, scenario.queue_pairs)


@pytest.mark.parametrize("scenario", (ROUTED | RANDOM).values(), ids=lambda scenario: scenario.name)
def test_core_and_twin_agree_in_every_figure(scenario: Scenario) -> None:
    core, twin = both(scenario)
    assert len(core) > 20
    assert [each for each in differences(core, twin) if not is_of_a_nics_queue(each, scenario)] == []


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("spray", {"seed": 2}),
        ("spray", {"steering": TURNS}),
        ("adaptive", {"steering": SPRAY}),
        ("reps", {"steering": replace(REPS, entropies=63)}),
        ("flowlets", {"steering": replace(FLOWLET, gap_ps=10**9)}),
        ("flowlets_of_bursts", {"steering": replace(FLOWLET, slots=16)}),
        ("queue_pairs_split", {"split": False}),
        ("queue_pairs_in_turn", {"queue_pairs": 2}),
    ],
)
def test_a_small_change_of_a_scenario_shows_in_the_figures(name: str, changed: dict[str, object]) -> None:
    changed_core = core_figures(play_core(replace(ROUTED[name], **changed)))  # type: ignore[arg-type]
    _, twin = both(ROUTED[name])
    assert differences(changed_core, twin) != []
