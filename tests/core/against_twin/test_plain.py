"""Core and twin are the same network: every figure of every small scenario, to the picosecond and to the packet."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.core.scenario_runs import Figures, core_figures, differences, play_core, twin_figures
from tests.reference.scenarios.drawn import drawn
from tests.reference.scenarios.plain import SCENARIOS
from tests.reference.scenarios.scenario import Scenario, build_twin

RANDOM = {f"random_{number}": drawn(number) for number in range(60)}


def both(scenario: Scenario) -> tuple[Figures, Figures]:
    """What the core and what the twin measured."""
    twin = build_twin(scenario)
    results = twin.run()
    return core_figures(play_core(scenario)), twin_figures(twin, results)


@pytest.mark.parametrize("scenario", (SCENARIOS | RANDOM).values(), ids=lambda scenario: scenario.name)
def test_core_and_twin_agree_in_every_figure(scenario: Scenario) -> None:
    core, twin = both(scenario)
    assert len(core) > 20
    assert differences(core, twin) == []


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("dctcp_ramp", {"seed": 8}),
        ("tail_losses_time_out", {"timeout_ps": 41_000_000}),
        ("ring", {"ack": 65}),
        ("transit_against_own", {"window": 11}),
        ("one_byte", {"header": 65}),
    ],
)
def test_a_small_change_of_a_scenario_shows_in_the_figures(name: str, changed: dict[str, int]) -> None:
    changed_core = core_figures(play_core(replace(SCENARIOS[name], **changed)))  # type: ignore[arg-type]
    _, twin = both(SCENARIOS[name])
    assert differences(changed_core, twin) != []
