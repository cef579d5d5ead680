"""What is sampled over time agrees with what is counted in the end."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import netsim
from netsim.report.over_time import samples_of
from netsim.report.perfetto_counters import queue_steps, rate_steps
from netsim.result import Result
from tests.inputs import saved
from tests.outcomes import result_of, scenario_of


@cache
def crowded() -> Result:
    """Sixteen ranks send to one over lossless links that mark: queues, marks and pauses."""
    return netsim.simulate("incast16", "fat_tree_k4_100g", transport={"preset": "roce"})


def test_counts_so_far_grow_and_end_below_the_totals() -> None:
    result = crowded()
    assert result.summary["ecn_marks"] > 0
    assert result.summary["pauses"] > 0
    for link, rows in result.queues.groupby("link"):
        for name, total in (("sent_bytes", "bytes"), ("ecn_marks",) * 2, ("drops",) * 2, ("paused_ps",) * 2):
            counts = rows.sort_values("time_ps")[name].to_numpy()
            assert (np.diff(counts) >= 0).all()
            assert counts[-1] <= result.links[total][link]


def test_a_link_that_always_has_a_queue_sends_at_its_rate() -> None:
    """Between two looks at a link with packets waiting and without pauses it sends all the time, to a byte."""
    result = crowded()
    samples = samples_of(result)
    queued = samples["bytes"] > 100_000
    is_long = queued & queued.shift(fill_value=False) & samples["link"].eq(samples["link"].shift())
    steady = samples[is_long & (samples["paused_ps"] == 0) & samples["rate_bps"].notna()]
    byte_share = 8 * 1e12 / (result.summary["queue_interval_ps"] * 100e9)
    assert len(steady) > 5
    assert (abs(steady["utilisation"] - 1) <= byte_share).all()
    assert samples["utilisation"].max() <= 1


def test_steps_of_the_rate_add_up_to_what_was_sent() -> None:
    result = crowded()
    end_ps = int(max(result.summary["completion_time_ps"], result.queues["time_ps"].max()))
    for link, rows in result.queues.groupby("link"):
        total = int(result.links["bytes"][link])
        steps = list(rate_steps(rows.sort_values("time_ps"), total, end_ps))
        times = [at for at, _ in steps]
        sent = sum(rate * gone for (_, rate), gone in zip(steps, np.diff(times).tolist(), strict=False)) / 8e12
        assert sent == pytest.approx(total, rel=1e-9)


def test_a_queue_that_is_not_seen_is_empty() -> None:
    samples = pd.DataFrame({"time_ps": [10, 20, 50], "bytes": [1, 2, 3]})
    assert list(queue_steps(samples, 10, 80)) == [(0, 0), (10, 1), (20, 2), (30, 0), (50, 3), (60, 0)]


def test_a_rate_is_told_only_from_one_look_to_the_next() -> None:
    result = result_of(scenario_of(), [], queue_interval_ps=10)
    queues = pd.DataFrame({"time_ps": [10, 20, 50, 60], "link": 3, "bytes": 1, "sent_bytes": [5, 25, 100, 100]})
    queues = queues.assign(ecn_marks=[1, 1, 4, 4], drops=0, paused_ps=0)
    samples = samples_of(Result(**{**vars(result), "queues": queues}))
    assert samples["rate_bps"].fillna(-1).tolist() == [4e12, 16e12, -1, 0]
    assert samples["ecn_marks"].tolist() == [1, 0, 3, 0]


def test_parts_begin_and_end_with_their_collective() -> None:
    result = netsim.simulate("deepseek_v3_decode_16", "rail_optimized_16")
    parts = result.parts.groupby("collective").agg({"start_ps": "min", "end_ps": "max", "rank": "nunique"})
    collectives = result.collectives.set_index("id")
    assert (parts["start_ps"] == collectives["start_ps"]).all()
    assert (parts["end_ps"] >= collectives["end_ps"]).all()  # a sender is through when its last bit has left
    assert (parts["rank"] == collectives["ranks"]).all()
    one_rank = result.parts[result.parts["rank"] == 5].sort_values("start_ps")
    assert (one_rank["start_ps"].to_numpy()[1:] >= one_rank["end_ps"].to_numpy()[:-1]).all(), "one after the other"


def test_streams_are_those_of_the_trace(tmp_path: Path) -> None:
    operations = [{"op": "all_reduce", "bytes": 4096, "group": "world", "stream": stream} for stream in "ab"]
    path = saved(tmp_path / "t.jsonl", map(json.dumps, [{"netsim": 1, "ranks": 4}, *operations]))
    assert netsim.simulate(netsim.load_trace(path), "fat_tree_k4_100g").collectives["stream"].tolist() == ["a", "b"]
