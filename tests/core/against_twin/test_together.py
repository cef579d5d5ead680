"""Core and twin are the same network where mechanisms meet: controls, recovery, routing, losses, trimming, pauses."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.core.against_twin.test_measuring import is_of_a_copy
from tests.core.against_twin.test_pfc import is_of_a_nics_queue
from tests.core.laws import ALWAYS, IN_THE_END
from tests.core.scenario_runs import Figures, build_core, core_figures, differences, play_core, twin_figures
from tests.reference.scenarios.networks import MICROSECOND
from tests.reference.scenarios.per_packet_routing import ADAPTIVE, TURNS
from tests.reference.scenarios.scenario import Scenario, build_twin, play
from tests.reference.scenarios.together import TOGETHER, drawn_together

RANDOM = {scenario.name: scenario for scenario in map(drawn_together, range(80))}


def both(scenario: Scenario) -> tuple[Figures, Figures]:
    """What the core and what the twin measured."""
    twin = build_twin(scenario)
    results = twin.run()
    return core_figures(play_core(scenario)), twin_figures(twin, results)


@pytest.mark.parametrize("scenario", (TOGETHER | RANDOM).values(), ids=lambda scenario: scenario.name)
def test_core_and_twin_agree_in_every_figure(scenario: Scenario) -> None:
    core, twin = both(scenario)
    assert len(core) > 20
    found = [each for each in differences(core, twin) if not is_of_a_nics_queue(each, scenario)]
    assert [each for each in found if not is_of_a_copy(each)] == []
    assert len(found) <= 1


@pytest.mark.parametrize("name", TOGETHER)
def test_every_scenario_shows_what_it_is_for(name: str) -> None:
    results = play(TOGETHER[name])
    totals = results.totals
    totals["pauses"] = sum(link.pauses for link in results.links)
    totals["retransmitted"] = sum(flow.retransmitted for flow in results.flows.values())
    assert [each for each in TOGETHER[name].shows if totals[each] == 0] == []
    assert [each for each in TOGETHER[name].never if totals[each] > 0] == []


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("spray_in_any_order", {"seed": 2}),
        ("spray_taken_for_lost", {"reordering": 4}),
        ("spray_and_trim", {"steering": TURNS}),
        ("ndp_recycles_entropies", {"steering": ADAPTIVE}),
        ("nscc_trims_and_sprays", {"chosen": {"qa_gate": 0, "qa_threshold": 2, "max_window": 1.25}}),
        ("nscc_loses_what_is_overtaken", {"reordering": 2}),
        ("swift_cuts_for_headers", {"chosen": {"base_target": "30us", "max_mdf": 0.4}}),
        ("swift_cuts_for_losses", {"chosen": {"base_target": "30us", "max_mdf": 0.4}}),
    ],
)
def test_a_small_change_of_a_scenario_shows_in_the_figures(name: str, changed: dict[str, object]) -> None:
    changed_core = core_figures(play_core(replace(TOGETHER[name], **changed)))  # type: ignore[arg-type]
    _, twin = both(TOGETHER[name])
    assert differences(changed_core, twin) != []


@pytest.mark.parametrize("name", TOGETHER)
def test_laws_hold_at_every_stop_and_in_the_end(name: str) -> None:
    run = build_core(TOGETHER[name])
    for stop in range(700_000, 60 * MICROSECOND, 7_345_678):
        run.env.run(until=stop)
        assert [breach for law in ALWAYS for breach in law(run)] == [], f"at {stop} ps"
    run.env.run()
    run.fabric.drain()
    assert [breach for law in ALWAYS + IN_THE_END for breach in law(run)] == []
