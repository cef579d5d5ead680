"""Against the recorded run: what a trace says an operation took stands beside what it takes here."""

import math
from dataclasses import replace

import netsim
from netsim.report.summary import recorded_text, summary_text
from netsim.result import Result
from netsim.traces import Group, Operation, Trace
from tests.outcomes import US, result_of, scenario_of
from tests.traffic import compute, send

RANKS = tuple(range(4))
SKEWED = compute(3, 70 * US)  # rank 3 comes late: the others wait for it
REDUCE = Operation("all_reduce", "world", RANKS, bytes=1 << 20, dtype="bf16")
SEND = send(0, 2, 1 << 16)


def job(*operations: Operation) -> Trace:
    return Trace("recorded", 4, {"world": Group("world", RANKS)}, operations)


def run(trace: Trace) -> Result:
    return netsim.simulate(trace, "fat_tree_k4_100g")


def test_a_run_recorded_from_itself_has_the_ratio_one() -> None:
    first = run(job(SKEWED, REDUCE, SEND))
    took = [int(each) for each in first.collectives["together_ps"]]
    assert took[0] == first.collectives["time_ps"][0] - 70 * US  # without the wait for rank 3
    told = [replace(each, recorded_duration_ps=ps) for each, ps in zip((REDUCE, SEND), took, strict=True)]
    again = run(job(SKEWED, *told))
    assert again.collectives["recorded_ps"].tolist() == took
    assert again.collectives["against_recorded"].tolist() == [1.0, 1.0]
    assert again.summary["recorded"] == {
        "collectives": 2, "recorded_ps": sum(took), "simulated_ps": sum(took), "simulated_to_recorded": 1.0,
        "median_of_ratios": 1.0,
    }  # fmt: skip


def test_what_is_not_recorded_is_not_compared() -> None:
    result = run(job(replace(REDUCE, recorded_duration_ps=200 * US), SEND))
    assert result.collectives["recorded_ps"].tolist() == [200 * US, -1]
    assert math.isnan(result.collectives["against_recorded"][1])
    assert result.summary["recorded"]["collectives"] == 1
    bare = run(job(REDUCE))
    assert "recorded" not in bare.summary
    assert recorded_text(bare.collectives) == ""


def test_the_summary_shows_both_times() -> None:
    took = {"op": "all_reduce", "bytes": 14336, "start_ps": 0, "end_ps": 30 * US, "last_start_ps": 10 * US}
    rows = [took | {"recorded_ps": ps} for ps in (10 * US, 20 * US, 40 * US)]
    gather = took | {"op": "all_gather", "bytes": 1 << 20, "recorded_ps": 20 * US}
    text = summary_text(result_of(scenario_of(), [], [*rows, gather]))
    head, reduced, gathered, together, note = recorded_text(
        result_of(scenario_of(), [], [*rows, gather]).collectives
    ).splitlines()
    assert head.split() == "against the recorded run ranks bytes count recorded us simulated us ratio from to".split()
    assert reduced.split() == "all_reduce 16 14 KiB 3 20.00 20.00 1.00 x 0.50 x 2.00 x".split()
    assert gathered.split() == "all_gather 16 1 MiB 1 20.00 20.00 1.00 x 1.00 x 1.00 x".split()
    assert together.split() == "all - - 4 90.00 80.00 0.89 x 0.50 x 2.00 x".split()
    assert note.startswith("(")
    assert head in text
