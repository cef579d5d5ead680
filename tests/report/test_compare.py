"""Compare: side by side, with ratios, and a verdict that names the fastest and what held up the slowest."""

import re
from typing import Any

import pytest

from netsim.report.compare import compare_text, names_of
from netsim.report.costs import Cost
from netsim.result import Result
from tests.inputs import refusal
from tests.outcomes import US, result_of, scenario_of

FLOWS = [(0, 15, 1 << 20, 0, 100 * US)]


def run(time_us: int, topology: str = "fat_tree_k4_100g", **settings: Any) -> Result:
    times = {"end_ps": time_us * US, "ideal_ps": 100 * US}
    operation = {"op": "all_reduce", "algorithm": "ring", "bytes": 1 << 20, **times}
    return result_of(scenario_of(topology, **settings), FLOWS, [operation])


def rows(text: str) -> dict[str, str]:
    """The cells of each row, by what the row is called."""
    lines = [re.split(r"\s{2,}", line.strip()) for line in text.split("\n\n")[0].splitlines()]
    return {name: " ".join(cells) for name, *cells in lines}


def test_times_and_ratios_side_by_side() -> None:
    text = compare_text([run(100), run(250, "leaf_spine_32_4to1")])
    assert text.startswith("by_hand ")
    table = rows(text)
    assert table["finished at, us"] == "100.00 250.00"
    assert table["against fat_tree_k4_100g"] == "1.00 x 2.50 x"
    assert table["slowdown (time / ideal)"] == "1.00 x 2.50 x"
    assert table["all_reduce 1 MiB, 16 ranks, us"] == "100.00 250.00"
    assert table["busbw, GB/s"] == "19.66 7.86"
    assert table["packets marked"] == "7 7"
    assert table["limited by"] == "host link host link"
    assert table["at"].split()[0] == "host0->tor0"
    widths = {len(line) for line in text.split("\n\n")[0].splitlines()}
    assert len(widths) == 1


def test_the_verdict() -> None:
    verdict = compare_text([run(250, "leaf_spine_32_4to1"), run(100), run(200, "fat_tree_k8_100g")]).split("\n\n")[1]
    assert verdict.startswith(
        "fat_tree_k4_100g is fastest (100.00 us); fat_tree_k8_100g takes 2.00 times as long, "
        "leaf_spine_32_4to1 takes 2.50 times as long.\nleaf_spine_32_4to1: Limited by "
    )


def test_equal_results_and_one_alone() -> None:
    assert "No difference worth the name: all finish within 1% of 1,000.00 us." in compare_text([run(1005), run(1000)])
    assert "fat_tree_k4_100g finishes at 100.00 us. Limited by" in compare_text([run(100)])
    assert "No difference: all finish at 100.00 us. Limited by" in compare_text([run(100), run(100)])
    some = compare_text([run(100), run(200, "fat_tree_k8_100g"), run(100, "leaf_spine_32_4to1")])
    assert (
        "fat_tree_k4_100g is fastest (100.00 us), no difference to leaf_spine_32_4to1; fat_tree_k8_100g takes" in some
    )
    assert "nothing to compare" in refusal(compare_text, [])


@pytest.mark.parametrize(
    ("results", "names"),
    [
        ([{}, {"topology": "fat_tree_k8_100g"}], ["fat_tree_k4_100g", "fat_tree_k8_100g"]),
        ([{}, {"transport": "none"}], ["fat_tree_k4_100g dcqcn", "fat_tree_k4_100g none"]),
        ([{}, {"routing": "single"}], ["fat_tree_k4_100g ecmp", "fat_tree_k4_100g single"]),
        ([{}, {"seed": 2}], ["fat_tree_k4_100g seed 1", "fat_tree_k4_100g seed 2"]),
        (
            [{}, {"algorithms": {"all_reduce": "tree"}}],
            ["fat_tree_k4_100g default", "fat_tree_k4_100g all_reduce=tree"],
        ),
        ([{}, {}], ["fat_tree_k4_100g #1", "fat_tree_k4_100g #2"]),
    ],
)
def test_columns_are_named_by_what_differs(results: list[dict[str, Any]], names: list[str]) -> None:
    assert names_of([run(100, **each) for each in results]) == names


def test_prices_enter_the_verdict() -> None:
    costs = [Cost(0, 0, 0, 0, total=300.0, currency="EUR"), Cost(0, 0, 0, 0, total=200.0, currency="EUR")]
    lines = compare_text([run(100), run(110)], ["dear", "cheap"], costs).splitlines()
    assert lines[-1] == (
        "dear is faster and dearer than cheap (300 EUR against 200 EUR). "
        "For its price cheap does most, 1.36 x what dear does."
    )


def test_names_may_be_given() -> None:
    head = compare_text([run(100), run(200)], names=["today", "tomorrow"]).splitlines()[0]
    assert head.split() == ["by_hand", "today", "tomorrow"]


def test_an_operation_that_one_result_lacks() -> None:
    other = result_of(scenario_of(), FLOWS, [{"op": "send", "bytes": 4096, "end_ps": 50 * US, "ideal_ps": 50 * US}])
    table = rows(compare_text([run(100), other]))
    assert table["all_reduce 1 MiB, 16 ranks, us"] == "100.00 -"
    assert table["send 4 KiB, 16 ranks, us"] == "- 50.00"
