"""Core and twin are the same network where ports share a buffer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from netsim.topology.shared_buffer import SharedBuffer
from tests.core.against_twin.test_pfc import is_of_a_nics_queue
from tests.core.scenario_runs import Figures, core_figures, differences, play_core, twin_figures
from tests.reference.scenarios.pfc import LOSSLESS
from tests.reference.scenarios.scenario import Scenario, build_twin
from tests.reference.scenarios.shared_buffer import SHARED, drawn_shared, sharing
from tests.reference.test_scenarios import count

RANDOM = {f"random_shared_{number}": drawn_shared(number) for number in range(60)}


def both(scenario: Scenario) -> tuple[Figures, Figures]:
    """What the core and what the twin measured, the most that each pool ever held with it."""
    twin = build_twin(scenario)
    results = twin.run()
    run = play_core(scenario)
    core, other = core_figures(run), twin_figures(twin, results)
    pools = run.fabric.world.pools
    core |= {f"fullest of {node}": int(pools["fullest"][node]) for node in twin.pools}
    other |= {f"fullest of {node}": pool.fullest for node, pool in twin.pools.items()}
    assert not pools["taken"].any()
    return core, other


@pytest.mark.parametrize("scenario", (SHARED | RANDOM).values(), ids=lambda scenario: scenario.name)
def test_core_and_twin_agree_in_every_figure(scenario: Scenario) -> None:
    core, twin = both(scenario)
    assert len(core) > 20
    assert [each for each in differences(core, twin) if not is_of_a_nics_queue(each, scenario)] == []


@pytest.mark.parametrize("scenario", SHARED.values(), ids=lambda scenario: scenario.name)
def test_every_scenario_shows_what_it_is_for(scenario: Scenario) -> None:
    results = build_twin(scenario).run()
    assert [name for name in scenario.shows if count(results, name) == 0] == []
    assert [name for name in scenario.never if count(results, name) > 0] == []


@pytest.mark.parametrize("change", [{"size": 30 * 4160 - 4160}, {"alpha": 1 + 1 / 65536}, {"alpha": 0.9}])
def test_a_small_change_of_the_buffer_shows_in_the_figures(change: dict[str, float]) -> None:
    scenario = SHARED["shared_one_port"]
    shared = SharedBuffer(**{"size": 30 * 4160, "alpha": 1.0} | change)  # type: ignore[arg-type]
    changed = replace(scenario, network=sharing(scenario.network, shared.size, shared.alpha))
    same = change == {"alpha": 1 + 1 / 65536}  # which moves the share of a queue by less than a packet
    assert (differences(core_figures(play_core(changed)), core_figures(play_core(scenario))) == []) == same


def test_a_pool_without_end_changes_nothing_of_flow_control() -> None:
    for name in ("pfc_strict", "pfc_shared", "pfc_fat_tree", "pfc_headroom_one_packet_short"):
        scenario = LOSSLESS[name]
        pooled = replace(scenario, network=sharing(scenario.network, 1 << 36, 1024))
        assert differences(core_figures(play_core(pooled)), core_figures(play_core(scenario))) == []
