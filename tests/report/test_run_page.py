"""The page of a run: what it holds, how the fabric is laid out, what names from strangers' files cannot do to it."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import netsim
from netsim.report import run_page as page_module
from netsim.report import run_series
from netsim.report.run_charts import distribution
from netsim.report.run_fabric import MOST_GROUPS, fabric_of, group, levels_of
from netsim.report.run_page import page_data, run_page
from netsim.result import Result
from netsim.result.tables import TABLES
from tests.outcomes import US, result_of, scenario_of
from tests.report.page_charts import assert_needs_nothing, data_in
from tests.topology.test_htsim import FLAT

EVIL = "</script><script>window.hurt=1</script><img src=x onerror=window.hurt=1>&lt;'\""


@cache
def small() -> Result:
    return netsim.simulate("perm16", "fat_tree_k4_100g", transport="dctcp")


def test_a_page_needs_nothing_from_the_net() -> None:
    text = run_page(small())
    assert_needs_nothing(text)
    assert len(text) < 400_000


def test_the_data_is_that_of_the_tables() -> None:
    result = small()
    data = data_in(run_page(result), "run")
    assert data["fabric"]["links"]["max_queue_bytes"] == result.links["max_queue_bytes"].tolist()
    assert data["end_ps"] == result.summary["completion_time_ps"]
    assert sorted(data["parts"]["rank"]) == list(range(16))
    assert max(data["series"]["queue"]) == result.queues["bytes"].max()
    assert sum(data["series"]["marks"]) <= result.summary["ecn_marks"]
    assert data["flows"]["of"] == len(data["flows"]["columns"]["src"]) == 16
    assert [name for name, *_ in data["facts"]][:2] == ["finished at", "slowdown"]
    assert data["slowdowns"][0]["share"][-1] == 1


def test_names_are_text_never_markup() -> None:
    trace = netsim.load_trace("perm16")
    named = netsim.simulate(type(trace)(**{**vars(trace), "name": EVIL}), "fat_tree_k4_100g")
    text = run_page(named)
    assert "<script>window" not in text
    assert "<img" not in text
    assert text.count("</script>") == 2
    assert data_in(text, "run")["title"].startswith(EVIL)


def test_a_page_in_its_folder_leaves_it_a_result(tmp_path: Path) -> None:
    small().save(tmp_path / "run")
    (tmp_path / "run" / "report.html").write_text(run_page(small()))
    small().save(tmp_path / "run")
    assert not (tmp_path / "run" / "report.html").exists(), "the page of another run would be a lie"


def test_nothing_happened() -> None:
    data = page_data(result_of(scenario_of(), [], [], packet_hops=0, simulate_seconds=0.0))
    assert data["kinds"]["rows"] == []
    assert data["parts"]["rank"] == []
    json.dumps(data, allow_nan=False)


@pytest.mark.parametrize(
    ("name", "tiers"),
    [
        ("fat_tree_k4_100g", [("host", 16), ("tor", 8), ("agg", 8), ("core", 4)]),
        ("leaf_spine_32_4to1", [("host", 32), ("leaf", 4), ("spine", 2)]),
        ("rail_optimized_16", [("nvswitch", 2), ("host", 16), ("rail", 8), ("spine", 2)]),
        ("rail_optimized_1024", [("nvswitch", 128), ("host", 1024), ("rail", 8), ("spine", 128)]),
    ],
)
def test_tiers_from_the_bottom_up(name: str, tiers: list[tuple[str, int]]) -> None:
    scenario = scenario_of(name)
    fabric = fabric_of(result_of(scenario, [], []), scenario.topology.build())
    assert [(tier["name"], len(tier["nodes"])) for tier in fabric["tiers"]] == tiers
    assert all(len(tier["labels"]) <= MOST_GROUPS for tier in fabric["tiers"])
    for tier in fabric["tiers"]:
        assert {fabric["group"][node] for node in tier["nodes"]} == set(range(len(tier["labels"])))


def test_another_programs_topology_has_tiers_too(tmp_path: Path) -> None:
    (tmp_path / "small.topo").write_text(FLAT)
    scenario = scenario_of(str(tmp_path / "small.topo"))
    fabric = fabric_of(result_of(scenario, [], []), scenario.topology.build())
    assert [len(tier["nodes"]) for tier in fabric["tiers"]] == [8, 2, 2]
    assert fabric["tiers"][0]["name"] == "host"


def test_levels_count_links_from_the_hosts() -> None:
    network = netsim.load_topology("fat_tree_k4_100g").build()
    levels = levels_of(network)
    tiers = {network.tier_of(node): int(level) for node, level in enumerate(levels)}
    assert tiers == {"host": 0, "tor": 1, "agg": 2, "core": 3}


def test_servers_are_never_split_between_groups() -> None:
    units = np.repeat(np.arange(100), 8)
    groups = group(units)
    assert groups.max() < MOST_GROUPS
    assert all(len(set(groups[units == unit])) == 1 for unit in range(100))
    assert (np.diff(groups) >= 0).all()


def test_what_is_too_much_is_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_module, "MOST_ROWS", 5)
    monkeypatch.setattr(run_series, "MOST_SAMPLES", 40)
    monkeypatch.setattr(run_series, "MOST_SLOTS", 3)
    result = small()
    data = page_data(result)
    assert data["flows"]["columns"]["slowdown"] == [
        round(each, 4) for each in result.flows.nlargest(5, "slowdown").sort_index()["slowdown"]
    ]
    assert data["series"]["slots"] <= 3
    assert len(data["series"]["link"]) <= 40
    assert data["series"]["links_kept"] < data["series"]["links_sampled"]
    worst = result.queues.groupby("link")["bytes"].max().idxmax()
    assert worst in data["series"]["link"]


def test_the_largest_page_of_1024_gpus_is_under_8_mb() -> None:
    """Every link queued at every look, a hundred collectives of everybody, 10^5 flows: all with long figures."""
    draw, scenario = np.random.default_rng(2), scenario_of("rail_optimized_1024")
    rows = [{"op": "all_reduce", "bytes": 123_456_789, "end_ps": 987_654_321_012 - n} for n in range(5000)]
    plain = result_of(scenario, [(0, 1, 4096, 0, 10**9)], rows, queue_interval_ps=4 * US)
    links, looks, everybody = len(plain.links), 60, 1024
    queues = pd.DataFrame(
        {"time_ps": np.repeat(np.arange(1, looks + 1), links) * 4 * US, "link": np.tile(np.arange(links), looks)}
        | {name: draw.integers(10**5, 10**9, links * looks) for name in list(TABLES["queues"])[2:]}
    )
    parts = pd.DataFrame(
        {"collective": np.repeat(np.arange(100), everybody), "rank": np.tile(np.arange(everybody), 100)}
        | {name: draw.integers(10**11, 10**12, 100 * everybody) for name in ("start_ps", "end_ps")}
    )
    flows = pd.DataFrame({name: draw.integers(10**8, 10**9, 10**5) for name in TABLES["flows"]}).assign(
        collective=0, src=0, dst=1, channel=0
    )
    busy = {name: draw.integers(10**8, 10**9, links) for name, kind in TABLES["links"].items() if kind == "int64"}
    large = plain.links.assign(**{name: column for name, column in busy.items() if name not in ("id", "rate_bps")})
    tables = {"queues": queues, "parts": parts, "flows": flows, "links": large}
    text = run_page(Result(**{**vars(plain), **tables}))
    assert 5_000_000 < len(text.encode()) < 8_000_000


def test_the_longest_collectives_are_kept_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_series, "MOST_PARTS", 40)
    rows = [{"op": "all_reduce", "bytes": 1, "end_ps": end * US} for end in (10, 30, 20)]
    parts = run_series.parts_of(result_of(scenario_of(), [], rows))
    assert (set(parts["collective"]), parts["of_collectives"]) == ({1, 2}, 3)


def test_ranks_are_told_by_how_long_they_were_waited_for() -> None:
    rows = [{"op": "all_reduce", "bytes": 1, "end_ps": 10 * US}] * 2 + [{"op": "flows", "bytes": 1, "end_ps": US}]
    waits = run_series.waited_for(result_of(scenario_of(), [], rows))  # in each rank r begins r ns late
    assert waits.to_dict("records") == [{"rank": 15, "waited_ps": 2 * sum(range(16)) * 1000, "collectives": 2}]


def test_a_distribution_is_exact_where_it_is_told() -> None:
    values = np.random.default_rng(1).permutation(10_000)
    told = distribution(values)
    assert len(told["x"]) < 400
    assert told["x"][-1] == 9_999
    for x, share in zip(told["x"], told["share"], strict=True):
        assert share == pytest.approx((values <= x).mean())
