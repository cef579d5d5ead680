"""Core and twin are the same network where packets are lost by chance or trimmed, and under every loss recovery."""

from __future__ import annotations

from dataclasses import replace

import pytest

from netsim.errors import RunError
from netsim.topology.trimming import Trim
from tests.core.laws import ALWAYS, IN_THE_END
from tests.core.scenario_runs import Figures, build_core, core_figures, differences, play_core, twin_figures
from tests.reference.scenarios.networks import MICROSECOND, queue, star
from tests.reference.scenarios.recovery import BROKEN, RECOVERING, SELECTIVE, drawn_recovering, trimming
from tests.reference.scenarios.scenario import Scenario, build_twin, play
from tests.reference.twin import GaveUpError

RANDOM = {scenario.name: scenario for scenario in map(drawn_recovering, range(60))}


def both(scenario: Scenario) -> tuple[Figures, Figures]:
    """What the core and what the twin measured."""
    twin = build_twin(scenario)
    results = twin.run()
    return core_figures(play_core(scenario)), twin_figures(twin, results)


def is_of_a_nics_queue(difference: str, scenario: Scenario) -> bool:
    """A NIC forgets a packet that passes through before its last bit has left: test_twin.py keeps watch of that."""
    sources = {host.name for host in scenario.network().hosts}
    return "max_queue_bytes" in difference and difference.split("(")[-1].split("->")[0] in sources


@pytest.mark.parametrize("scenario", (RECOVERING | RANDOM).values(), ids=lambda scenario: scenario.name)
def test_core_and_twin_agree_in_every_figure(scenario: Scenario) -> None:
    core, twin = both(scenario)
    assert len(core) > 20
    assert [each for each in differences(core, twin) if not is_of_a_nics_queue(each, scenario)] == []


@pytest.mark.parametrize("name", RECOVERING)
def test_every_scenario_shows_what_it_is_for(name: str) -> None:
    results = play(RECOVERING[name])
    totals = results.totals
    totals["marks"] = sum(link.ecn_marks for link in results.links)
    totals["retransmitted"] = sum(flow.retransmitted for flow in results.flows.values())
    assert [each for each in RECOVERING[name].shows if totals[each] == 0] == []
    assert [each for each in RECOVERING[name].never if totals[each] > 0] == []


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("wires_lose_data_and_acks", {"seed": 2}),
        ("selective_on_wires_that_lose", {"reordering": 4}),
        ("selective_in_a_small_window_of_places", {"places": 32}),
        ("trimming_an_incast", {"header": 65}),
        ("trimming_an_incast", {"seed": 2}),
        ("trimming_an_incast", {"network": trimming(lambda: star(9, at=queue(6)), Trim(last=0.6))}),
        ("trimming_and_marking_what_comes", {"network": RECOVERING["trimming_with_marks_and_dctcp"].network}),
        ("ndp_incast", {"share": 0.98}),
        ("ndp_incast", {"window": 11}),
        ("ndp_loses_pulls", {"timeout_ps": 52_000_000}),
    ],
)
def test_a_small_change_of_a_scenario_shows_in_the_figures(name: str, changed: dict[str, int]) -> None:
    changed_core = core_figures(play_core(replace(RECOVERING[name], **changed)))  # type: ignore[arg-type]
    _, twin = both(RECOVERING[name])
    assert differences(changed_core, twin) != []


@pytest.mark.parametrize("name", RECOVERING)
def test_laws_hold_at_every_stop_and_in_the_end(name: str) -> None:
    run = build_core(RECOVERING[name])
    for stop in range(700_000, 60 * MICROSECOND, 7_345_678):
        run.env.run(until=stop)
        assert [breach for law in ALWAYS for breach in law(run)] == [], f"at {stop} ps"
    run.env.run()
    run.fabric.drain()
    assert [breach for law in ALWAYS + IN_THE_END for breach in law(run)] == []


@pytest.mark.parametrize("recovery", ["go_back_n", SELECTIVE])
def test_both_give_up_the_same_connection(recovery: str) -> None:
    scenario = replace(BROKEN, recovery=recovery)
    with pytest.raises(GaveUpError) as twins:
        play(scenario)
    run = build_core(scenario)
    with pytest.raises(RunError, match="gave up after 8 time-outs") as cores:
        run.env.run()
    assert run.fabric.world.progress[0]["failed"] == twins.value.args[0] + 1
    assert "->tor0, tor0->" in cores.value.what
    assert "\n" not in str(cores.value)
    assert "transport.retries" in cores.value.hint
