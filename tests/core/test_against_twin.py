"""Core and twin are the same network: every figure of every scenario, to the picosecond and to the packet."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from netsim.queues.disciplines.shared_buffer import SharedBuffer
from netsim.queues.disciplines.trim import Trim
from tests.core.scenario_runs import build_core, differences, of_core, of_twin, play_core
from tests.inputs import failure
from tests.reference.scenarios.drawn import drawn
from tests.reference.scenarios.every import NAMED, RANDOM
from tests.reference.scenarios.networks import queue, star
from tests.reference.scenarios.per_packet_routing import ADAPTIVE, FLOWLET, REPS, SPRAY, TURNS
from tests.reference.scenarios.pfc import DEADLOCK
from tests.reference.scenarios.priorities import CLASSED_DEADLOCK
from tests.reference.scenarios.recovery import BROKEN, SELECTIVE, trimming
from tests.reference.scenarios.scenario import build_twin
from tests.reference.scenarios.shared_buffer import sharing
from tests.reference.twin import GaveUpError

JITTER = (1.0, 0.3, 2.5)  # times to send a packet
LATE = NAMED | {each.name: each for each in map(drawn, range(20))}
JITTERED = {
    f"{name}_with_jitter": replace(each, jitter=JITTER[n % len(JITTER)]) for n, (name, each) in enumerate(LATE.items())
}
EVERY = NAMED | RANDOM | JITTERED


@pytest.mark.parametrize("name", EVERY)
def test_core_and_twin_agree_in_every_figure(name: str) -> None:
    core = of_core(EVERY[name])
    assert len(core) > 20
    assert any("class 1 of" in figure for figure in core) == (EVERY[name].classes > 1)
    assert any("fullest of" in figure for figure in core) == (EVERY[name].network.shared_buffer is not None)
    assert differences(core, of_twin(EVERY[name])) == []


# fmt: off
CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("dctcp_ramp", {"seed": 8}), ("tail_losses_time_out", {"timeout_ps": 41_000_000}), ("ring", {"ack": 65}),
    ("transit_against_own", {"window": 11}), ("one_byte", {"header": 65}),
    ("dcqcn_all_phases", {"dcqcn": {"fast_recovery": 4}}), ("dcqcn_all_phases", {"dcqcn": {"hai": 1_001_000_000}}),
    ("dcqcn_two_into_one", {"seed": 2}), ("dcqcn_all_phases", {"dcqcn": {"g": 257 / 65536}}),
    ("dcqcn_all_phases", {"dcqcn": {"byte_counter": 16_000}}),
    ("dcqcn_all_phases", {"dcqcn": {"alpha_timer": 1_000_000}}),
    ("pfc_strict", {"ack": 65}), ("pfc_strict", {"header": 65}),
    ("wires_lose_data_and_acks", {"seed": 2}), ("selective_on_wires_that_lose", {"reordering": 4}),
    ("selective_in_a_small_window_of_places", {"places": 32}), ("trimming_an_incast", {"header": 65}),
    ("trimming_an_incast", {"seed": 2}), ("ndp_incast", {"share": 0.98}), ("ndp_incast", {"window": 11}),
    ("trimming_an_incast", {"network": trimming(star(9, at=queue(6)), Trim(last=0.6))}),
    ("trimming_and_marking_what_comes", {"network": NAMED["trimming_with_marks_and_dctcp"].network}),
    ("ndp_loses_pulls", {"timeout_ps": 52_000_000}),
    ("timely_as_in_the_paper", {"chosen": {"patched": True}}), ("timely_as_in_the_paper", {"chosen": {"alpha": 0.874}}),
    ("timely_as_in_the_paper", {"chosen": {"beta": 0.799}}), ("timely_as_in_the_paper", {"chosen": {"hai": 4}}),
    ("timely_patched", {"chosen": {"beta_patched": 0.201}}),
    ("timely_above_the_upper_threshold", {"chosen": {"t_high": 9_010_000}}),
    ("swift_two_and_a_third", {"chosen": {"hop_scale": "3.1us"}}),
    ("swift_two_and_a_third", {"chosen": {"fs_max_cwnd": 50}}), ("swift_below_one_packet", {"chosen": {"ai": 0.31}}),
    ("hpcc_two_and_a_third", {"chosen": {"eta": 0.951}}), ("hpcc_two_and_a_third", {"chosen": {"ai": "11Mb/s"}}),
    ("hpcc_in_stages", {"chosen": {"max_stage": 2}}), ("nscc_two_and_a_third", {"chosen": {"alpha": 4.1}}),
    ("nscc_two_and_a_third", {"chosen": {"eta": 0.16}}), ("nscc_two_and_a_third", {"chosen": {"gamma": 0.81}}),
    ("nscc_narrows", {"chosen": {"fi": 9}}), ("nscc_leaps", {"chosen": {"fi_scale": 0.13}}),
    ("nscc_incast_adapts", {"chosen": {"qa_gate": 5}}), ("nscc_narrows", {"chosen": {"base_rtt": "9us"}}),
    ("spray", {"seed": 2}), ("spray", {"per_packet": TURNS}), ("adaptive", {"per_packet": SPRAY}),
    ("reps", {"per_packet": replace(REPS, entropies=63)}),
    ("flowlets", {"per_packet": replace(FLOWLET, gap_ps=10**9)}),
    ("flowlets_of_bursts", {"per_packet": replace(FLOWLET, slots=16)}), ("queue_pairs_split", {"split": False}),
    ("queue_pairs_in_turn", {"queue_pairs": 2}),
    ("spray_in_any_order", {"seed": 2}), ("spray_taken_for_lost", {"reordering": 4}),
    ("spray_and_trim", {"per_packet": TURNS}), ("ndp_recycles_entropies", {"per_packet": ADAPTIVE}),
    ("nscc_trims_and_sprays", {"chosen": {"max_window": 1.25}}), ("nscc_loses_what_is_overtaken", {"reordering": 2}),
    ("swift_cuts_for_headers", {"chosen": {"max_mdf": 0.4}}), ("swift_cuts_for_losses", {"chosen": {"max_mdf": 0.4}}),
    ("shared_one_port", {"network": sharing(star(5), 29 * 4160, 1)}),
    ("shared_one_port", {"network": sharing(star(5), 30 * 4160, 0.9)}),
    *((name, {"collectives": tuple(replace(each, traffic_class=1 - min(1, each.traffic_class))
                                   for each in NAMED[name].collectives)})
      for name in ("classes_go_in_order_at_a_switch", "classes_pause_by_themselves")),
]
# fmt: on


@pytest.mark.parametrize(("name", "changed"), CHANGES)
def test_a_small_change_of_a_scenario_shows_in_the_figures(name: str, changed: dict[str, Any]) -> None:
    scenario = NAMED[name]
    merged = {
        field: {**getattr(scenario, field), **value} if isinstance(value, Mapping) else value
        for field, value in changed.items()
    }
    assert differences(of_core(replace(scenario, **merged)), of_twin(scenario)) != []


def test_alpha_counts_in_65536ths_and_the_share_of_a_queue_in_packets() -> None:
    scenario = NAMED["shared_one_port"]
    shared = SharedBuffer(size=30 * 4160, alpha=1 + 1 / 65536)
    changed = replace(scenario, network=replace(scenario.network, shared_buffer=shared))
    assert differences(of_core(changed), of_core(scenario)) == []


@pytest.mark.parametrize("name", ["pfc_strict", "pfc_shared", "pfc_fat_tree", "pfc_headroom_one_packet_short"])
def test_a_pool_without_end_changes_nothing_of_flow_control(name: str) -> None:
    pooled = of_core(replace(NAMED[name], network=sharing(NAMED[name].network, 1 << 36, 1024)))
    assert [each for each in differences(pooled, of_core(NAMED[name])) if "fullest of" not in each] == []


def test_both_stand_still_in_a_deadlock() -> None:
    assert "stopped links that wait for each other" in failure(play_core, DEADLOCK)


def test_a_deadlock_names_its_class() -> None:
    said = failure(play_core, CLASSED_DEADLOCK)
    assert "flow control has stopped class 1 of links that wait for each other: tor" in said


@pytest.mark.parametrize("recovery", ["go_back_n", SELECTIVE])
def test_both_give_up_the_same_connection(recovery: str) -> None:
    scenario = replace(BROKEN, recovery=recovery)
    with pytest.raises(GaveUpError) as twins:
        build_twin(scenario).run()
    run = build_core(scenario)
    said = failure(run.env.run)
    assert run.fabric.world.progress[0]["failed"] == twins.value.args[0] + 1
    for part in ("gave up after 8 time-outs", "->tor0, tor0->", "transport.retries"):
        assert part in said
