"""Comparisons: the words of the verdict, the table, the page, and the promise of the interval, kept by real runs."""

import re
import statistics

import pytest

from netsim.config import build_scenario
from netsim.report.costs import Cost
from netsim.study.compare import compared
from netsim.study.comparison import comparison_json, verdict
from netsim.study.comparison_page import comparison_page
from netsim.study.comparison_text import comparison_text
from netsim.study.designs import Design, tasks_of
from netsim.study.pool import Pool
from netsim.study.statistics import mean_of
from tests.report.page_charts import drawn_names
from tests.study.by_hand import US, comparison
from tests.traffic import flows


def test_a_difference_with_its_uncertainty() -> None:
    text = verdict(comparison(slow=[260, 262, 258, 264, 261], fast=[200, 201, 199, 202, 198]))
    found = re.match(r"fast is 1\.30 x faster than slow \(95 %: (1\.\d\d) to (1\.\d\d)\)\.\n", text)
    assert found
    assert 1.25 < float(found[1]) < 1.30 < float(found[2]) < 1.35
    assert text.endswith(
        "The same seeds run on every design and are compared in pairs, which narrows the first interval by 36%."
    )


def test_no_difference_that_the_seeds_can_show() -> None:
    text = verdict(comparison(one=[100, 120, 140, 90], other=[130, 105, 95, 125]))
    assert re.match(
        r"No difference that 4 seeds can show between one and other: 1\.02 x \(95 %: 0\.\d\d to 1\.\d\d\)\.", text
    )
    assert "does not narrow the first interval" in text


def test_the_seed_may_change_nothing() -> None:
    text = verdict(comparison(one=[100, 100], other=[200, 200]))
    assert text.startswith("one is 2.00 x faster than other (95 %: 2.00 to 2.00).")
    assert text.endswith("The seed changes nothing here: one run of each says it all.")
    assert verdict(comparison(one=[100, 100], other=[100, 100])).startswith("No difference between one and other")


def test_a_difference_that_is_sure_and_too_small() -> None:
    text = verdict(comparison(one=[1000, 1010, 990], other=[1003, 1013, 993]))
    assert text.startswith("No difference worth the name between one and other: 1.003 x (95 %: 1.00 to 1.00).")


def test_prices_enter_the_verdict() -> None:
    found = comparison(dear=[100, 101], cheap=[150, 152])
    found.costs[:] = [Cost(0, 0, 0, 0, 10, "EUR"), Cost(0, 0, 0, 0, 5, "EUR")]
    assert "dear is faster and dearer than cheap (10.00 EUR against 5.00 EUR)." in verdict(found)
    assert "For its price cheap does most, 1.33 x what dear does." in verdict(found)


def test_one_seed_and_one_design() -> None:
    assert verdict(comparison(one=[100], other=[150])).startswith("one is 1.50 x faster than other.\nOne seed each")
    assert verdict(comparison(one=[100, 101])) == "one alone: there is nothing to compare it with."
    assert "no ratio" in verdict(comparison(one=[0, 0], other=[1, 2]))


def test_the_table() -> None:
    text = comparison_text(comparison(a=[100, 110], b=[200, 220], c=[50, 55]))
    rows = {re.split(r"\s{2,}", line.strip())[0]: line for line in text.splitlines()}
    assert "105.00" in rows["finished at, us: mean"]
    assert rows["against a"].split()[-2:] == ["0.50", "x"]
    assert "41.47 to 168.53" in text, "105 +- 12.706 * 5"
    matrix = text.split("\n\n")[1]
    assert "2.00 (2.00 to 2.00)" in matrix
    assert "switch ports in use" in text


def test_json_holds_every_seed() -> None:
    found = comparison_json(comparison(a=[100, 110], b=[200, 220]))
    assert found["a"]["over_seeds"]["completion_time_ps"] == [100 * US, 110 * US]
    assert found["a"]["speedup_over"]["b"]["ratio"] == pytest.approx(2)
    assert found["b"]["cost"]["ports"] == 40
    alone = comparison_json(comparison(a=[100], b=[200]))
    assert alone["a"]["over_seeds"]["low"] is None


def test_the_page() -> None:
    text = comparison_page(comparison(**{"<b>": [100, 110], "b": [200, 220]}))
    assert "<dt>&lt;b&gt;</dt>" in text
    assert "is 2.00 x faster" in text
    assert drawn_names(text) == ["mean", "<b>", "b"]
    assert "<b>" not in text
    assert [f'id="plot{number}"' in text for number in range(2)] == [True, True]


def crossing() -> Design:
    """Eight flows that hash to few paths: what ECMP does to them differs from seed to seed."""
    trace = flows(16, [(rank, rank + 8) for rank in range(8)], 100_000)
    return Design("ecmp", build_scenario(trace, "fat_tree_k4_100g", transport="ideal", routing="ecmp"))


@pytest.mark.slow
def test_the_interval_of_10_seeds_covers_the_mean_of_100() -> None:
    """In at least 9 of 10 trials of 10 seeds each, as a 95 % interval should."""
    every = compared([crossing()], tasks_of([crossing()], 100), Pool(jobs=1), [Cost(0, 0, 0, 0)], lambda _: None)
    times = every.times_ps(0)
    assert len(set(times)) > 5, "the seed decides"
    truth = statistics.fmean(times)
    covered = [mean_of(times[first : first + 10]).covers(truth) for first in range(0, 100, 10)]
    assert sum(covered) >= 9
    narrow = [abs(mean_of(times[first : first + 10]).middle - truth) < 0.01 * truth for first in range(0, 100, 10)]
    assert sum(narrow) < 9, "an interval of 1 % would not do: the test can fail"
