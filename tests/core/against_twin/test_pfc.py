"""Core and twin are the same network where flow control stops links and where notifications set rates."""

from __future__ import annotations

from dataclasses import replace

import pytest

from netsim.errors import RunError
from tests.core.scenario_runs import Figures, core_figures, differences, play_core, twin_figures
from tests.reference.scenarios.dcqcn import PACED
from tests.reference.scenarios.drawn import drawn_lossless, drawn_paced
from tests.reference.scenarios.pfc import DEADLOCK, LOSSLESS
from tests.reference.scenarios.scenario import Scenario, build_twin

RANDOM = {scenario.name: scenario for n in range(60) for scenario in (drawn_lossless(n), drawn_paced(n))}


def both(scenario: Scenario) -> tuple[Figures, Figures]:
    """What the core and what the twin measured."""
    twin = build_twin(scenario)
    results = twin.run()
    return core_figures(play_core(scenario)), twin_figures(twin, results)


def is_of_a_nics_queue(difference: str, scenario: Scenario) -> bool:
    """A NIC forgets a packet that passes through before its last bit has left: test_twin.py keeps watch of that."""
    sources = {host.name for host in scenario.network().hosts}
    return "max_queue_bytes" in difference and difference.split("(")[-1].split("->")[0] in sources


@pytest.mark.parametrize("scenario", (LOSSLESS | PACED | RANDOM).values(), ids=lambda scenario: scenario.name)
def test_core_and_twin_agree_in_every_figure(scenario: Scenario) -> None:
    core, twin = both(scenario)
    assert len(core) > 20
    assert [each for each in differences(core, twin) if not is_of_a_nics_queue(each, scenario)] == []


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("dcqcn_all_phases", {"dcqcn": replace(PACED["dcqcn_all_phases"].dcqcn, fast_recovery=4)}),
        ("dcqcn_all_phases", {"dcqcn": replace(PACED["dcqcn_all_phases"].dcqcn, hyper_bps=1_001_000_000)}),
        ("dcqcn_two_into_one", {"seed": 2}),
        ("dcqcn_all_phases", {"dcqcn": replace(PACED["dcqcn_all_phases"].dcqcn, gain=257)}),
        ("dcqcn_all_phases", {"dcqcn": replace(PACED["dcqcn_all_phases"].dcqcn, byte_counter=16_000)}),
        ("dcqcn_all_phases", {"dcqcn": replace(PACED["dcqcn_all_phases"].dcqcn, alpha_timer_ps=1_000_000)}),
        ("pfc_strict", {"ack": 65}),
        ("pfc_strict", {"header": 65}),
    ],
)
def test_a_small_change_of_a_scenario_shows_in_the_figures(name: str, changed: dict[str, object]) -> None:
    changed_core = core_figures(play_core(replace((LOSSLESS | PACED)[name], **changed)))  # type: ignore[arg-type]
    _, twin = both((LOSSLESS | PACED)[name])
    assert differences(changed_core, twin) != []


def test_both_stand_still_in_a_deadlock() -> None:
    with pytest.raises(RunError):
        play_core(DEADLOCK)
