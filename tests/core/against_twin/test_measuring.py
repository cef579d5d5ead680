"""Core and twin are the same network under the controls that measure round trips or links."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.core.against_twin.test_pfc import is_of_a_nics_queue
from tests.core.scenario_runs import Figures, core_figures, differences, play_core, twin_figures
from tests.reference.scenarios.drawn import drawn_measuring
from tests.reference.scenarios.measuring import MEASURED
from tests.reference.scenarios.scenario import Scenario, build_twin

RANDOM = {scenario.name: scenario for n in range(60) for scenario in (drawn_measuring(n),)}


def both(scenario: Scenario) -> tuple[Figures, Figures]:
    """What the core and what the twin measured."""
    twin = build_twin(scenario)
    results = twin.run()
    return core_figures(play_core(scenario)), twin_figures(twin, results)


def is_of_a_copy(difference: str) -> bool:
    """A switch asks whether a packet it drops has arrived before; its sender may know that one window too early."""
    figure, _, counts = difference.rpartition(": ")
    core, twin = (int(count.split()[-1]) for count in counts.split(", "))
    return figure.endswith("dropped") and abs(core - twin) == 1


@pytest.mark.parametrize("scenario", (MEASURED | RANDOM).values(), ids=lambda scenario: scenario.name)
def test_core_and_twin_agree_in_every_figure(scenario: Scenario) -> None:
    core, twin = both(scenario)
    assert len(core) > 20
    found = [each for each in differences(core, twin) if not is_of_a_nics_queue(each, scenario)]
    assert [each for each in found if not is_of_a_copy(each)] == []
    assert len(found) <= 1


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("timely_as_in_the_paper", {"patched": True}),
        ("timely_as_in_the_paper", {"alpha": 0.874}),
        ("timely_as_in_the_paper", {"beta": 0.799}),
        ("timely_as_in_the_paper", {"hai": 4}),
        ("timely_patched", {"beta_patched": 0.201}),
        ("timely_above_the_upper_threshold", {"t_high": 9_010_000}),
        ("swift_two_and_a_third", {"hop_scale": "3.1us"}),
        ("swift_two_and_a_third", {"fs_max_cwnd": 50}),
        ("swift_below_one_packet", {"ai": 0.31}),
        ("hpcc_two_and_a_third", {"eta": 0.951}),
        ("hpcc_two_and_a_third", {"ai": "11Mb/s"}),
        ("hpcc_in_stages", {"max_stage": 2}),
        ("nscc_two_and_a_third", {"alpha": 4.1}),
        ("nscc_two_and_a_third", {"eta": 0.16}),
        ("nscc_two_and_a_third", {"gamma": 0.81}),
        ("nscc_narrows", {"fi": 9}),
        ("nscc_leaps", {"fi_scale": 0.13}),
        ("nscc_incast_adapts", {"qa_gate": 5}),
        ("nscc_narrows", {"base_rtt": "9us"}),
    ],
)
def test_a_small_change_of_a_setting_shows_in_the_figures(name: str, changed: dict[str, object]) -> None:
    scenario = MEASURED[name]
    core = core_figures(play_core(replace(scenario, chosen={**scenario.chosen, **changed})))
    _, twin = both(scenario)
    assert differences(core, twin) != []
