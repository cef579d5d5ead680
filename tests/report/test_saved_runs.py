"""Two saved runs: what changed, which collectives and links got faster or slower."""

from typing import Any

from netsim.report.saved_runs import changes_text, collective_changes, link_changes, scenario_changes
from netsim.result import Result
from tests.outcomes import US, result_of, scenario_of

FLOWS = [(0, 15, 1 << 20, 0, 100 * US)]
REDUCE = {"op": "all_reduce", "bytes": 1 << 20, "ideal_ps": 100 * US}
GATHER = {"op": "all_gather", "bytes": 4096, "end_ps": 5 * US, "ideal_ps": US}


def run(*times_us: int, more: Any = (), **settings: Any) -> Result:
    rows = [REDUCE | {"end_ps": time * US} for time in times_us]
    return result_of(scenario_of(**settings), FLOWS, [*rows, *more])


def test_what_changed_in_the_scenario() -> None:
    before, after = run(100), run(100, routing="single", seed=3)
    assert ("routing.kind", "ecmp", "single") in scenario_changes(before, after)
    assert ("seed", "1", "3") in scenario_changes(before, after)
    assert scenario_changes(before, before) == []


def test_collectives_by_kind() -> None:
    table = collective_changes(run(100, 120, 140, more=[GATHER]), run(50, 60, 70, more=[GATHER]))
    (row,) = table.to_dict("records")
    assert (row["op"], row["count"], row["before_ps"], row["after_ps"]) == ("all_reduce", 3, 120 * US, 60 * US)
    assert row["ratio"] == 0.5


def test_links_that_did_the_same_are_left_out() -> None:
    assert link_changes(run(100), run(100)).empty
    before, after = run(100), run(100)
    after.links.loc[5, "max_queue_bytes"] += 9
    (row,) = link_changes(before, after).to_dict("records")
    assert (row["source"], row["target"]) == tuple(before.links.loc[5, ["source", "target"]])


def test_the_text() -> None:
    text = "\n".join(changes_text([run(100, more=[GATHER]), run(150, seed=2)], ["one", "two"]))
    assert "What changed in the scenario: 1 key." in text
    assert "Collectives: 0 kinds faster, 1 slower, 0 as before; 1 kind in one run alone." in text
    assert "1.50 x" in text
    assert changes_text([run(1)], ["one"]) == []
