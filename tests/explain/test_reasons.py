"""Random congested cases: run and explain give the same reason, and the tables of the result bear it out."""

import sys
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from netsim.config import build_scenario
from netsim.explain import explain_saved, together
from netsim.explain.reason import MOST_HOPS, reason_of
from netsim.report.run_page import page_data
from netsim.result import Result
from netsim.result.reason import Reason, ReasonKind
from netsim.simulation import simulate

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from reasons import case, is_congested, tried, unfounded

pytestmark = pytest.mark.filterwarnings("ignore:packet", "ignore:ecn")  # what is drawn need not be wise


@settings(max_examples=25, deadline=None)
@given(number=st.integers(0, 10**9))
def test_every_face_gives_the_reason_that_explain_finds(number: int) -> None:
    scenario = case(number)
    assume(scenario is not None)
    result = simulate(scenario)
    assume(is_congested(result))
    found = reason_of(together(explain_saved(result)))
    assert result.reason == found
    assert result.summary["reason"] == found.as_json()
    assert found.text in result.summary_text()
    assert page_data(result)["verdict"] == found.text
    assert unfounded(found, result) == []


@pytest.mark.slow
@pytest.mark.parametrize("number", range(40))
def test_the_command_line_too(number: int, tmp_path: Path) -> None:
    scenario = case(number)
    if scenario is None or not is_congested(result := simulate(scenario)):
        pytest.skip("what was drawn does not go together, or queues nowhere")
    assert tried(result, tmp_path)[0] == []


def test_a_reason_without_ground_is_found() -> None:
    result = simulate(build_scenario("perm16", "fat_tree_k4_100g", transport="none"))
    idle = result.links[result.links["mean_queue_bytes"] == 0].iloc[0]
    name = f"{idle['source']}->{idle['target']}"
    assert unfounded(Reason("oversubscription", name), result) == [f"oversubscription at {name}, where nothing waited"]
    assert unfounded(Reason("incast", name), result) == ["an incast, and nobody hears two"]
    assert unfounded(Reason("slower link", name), result) == [f"{name} is not slower"]
    assert unfounded(Reason("loss recovery", name), result) == [f"{name} lost nothing"]


def test_a_large_run_is_estimated_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    deep = ["topology.buffer=unlimited"]
    result = simulate(build_scenario("incast16", "fat_tree_k4_100g", transport="none", sets=deep))
    assert not result.reason.estimated
    assert result.summary["packet_hops"] <= MOST_HOPS
    monkeypatch.setattr("netsim.explain.reason.MOST_HOPS", result.summary["packet_hops"] - 1)
    del result.summary["reason"]
    assert result.reason.estimated
    assert (result.reason.kind, result.reason.link) == ("incast", "tor7->host15")


def test_a_reason_is_read_back_or_found_anew(tmp_path: Path) -> None:
    result = simulate(build_scenario("incast16", "fat_tree_k4_100g", transport="none"))
    found = result.reason
    result.save(tmp_path / "saved")
    assert Result.load(tmp_path / "saved").reason == found
    for wrong in (None, 7, {}, {**found.as_json(), "kind": "weather"}, {**found.as_json(), "share": "much"}):
        assert Reason.read(wrong) is None
        result.summary["reason"] = wrong
        assert result.reason == found


def test_kinds_are_a_closed_list() -> None:
    assert len(set(ReasonKind)) == len(ReasonKind) == 14
    assert ReasonKind.collision_under("ecmp") == "ECMP collision"
    assert {ReasonKind.collision_under(kind) for kind in ("single", "spray", "adaptive")} == {"path collision"}
