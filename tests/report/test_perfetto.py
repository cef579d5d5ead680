"""The trace file: its structure, its counts, and that Perfetto's own trace processor reads them the same way."""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import netsim
from netsim.report import perfetto_ranks
from netsim.report.perfetto import write_trace
from netsim.report.perfetto_counters import worst_links
from netsim.report.perfetto_events import Lanes, slice_event, stamp
from netsim.result import Result
from tests.inputs import refusal
from tests.outcomes import result_of, scenario_of
from tests.traffic import job

Events = list[dict[str, Any]]


@cache
def result() -> Result:
    return netsim.simulate(job, "fat_tree_k4_100g", ranks=16)


@cache
def incast() -> Result:
    return netsim.simulate("incast16", "fat_tree_k4_100g")


def written(result: Result, folder: Path) -> Events:
    write_trace(result, folder / "run.json.gz")
    with gzip.open(folder / "run.json.gz", "rt", encoding="utf-8") as file:
        events: Events = json.load(file)["traceEvents"]
    return events


@pytest.fixture
def events(tmp_path: Path) -> Events:
    return written(result(), tmp_path)


def kinds(events: Events) -> Counter[tuple[str, str]]:
    return Counter((event["ph"], event.get("cat", event["name"] if event["ph"] == "M" else "")) for event in events)


def test_a_slice_per_part_and_per_flow(events: Events) -> None:
    found = kinds(events)
    assert found["X", "collective"] == len(result().parts) == 32
    assert found["X", "flow"] == len(result().flows)
    assert found["X", "wait"] >= 8, "eight ranks wait for the others"
    assert found["M", "process_name"] == 16 + (not result().queues.empty)


def test_slices_are_exact(events: Events) -> None:
    parts = result().parts
    told = {
        (event["args"]["collective"], event["pid"] - 1): (event["args"]["start_ps"], event["args"]["time_ps"])
        for event in events
        if event.get("cat") == "collective"
    }
    wanted = {
        (row.collective, row.rank): (row.start_ps, row.end_ps - row.start_ps) for row in parts.itertuples(index=False)
    }
    assert told == wanted
    for event in (each for each in events if each["ph"] == "X"):
        start_ps, time_ps = event["args"]["start_ps"], event["args"]["time_ps"]
        assert event["ts"] == pytest.approx(start_ps / 1e6, abs=0.5001e-3)
        assert event["ts"] + event["dur"] == pytest.approx((start_ps + time_ps) / 1e6, abs=0.5001e-3)


def by_thread(events: Events) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """When the slices of each thread begin and end, in ps."""
    threads = defaultdict(list)
    for event in (each for each in events if each["ph"] == "X"):
        begin = round(event["ts"] * 1e6)
        threads[event["pid"], event["tid"]].append((begin, begin + round(event["dur"] * 1e6)))
    return threads


def test_slices_of_a_thread_nest(events: Events) -> None:
    """Viewers drop a slice that begins inside another and ends after it."""
    for slices in by_thread(events).values():
        open_until: list[int] = []
        for begin, end in sorted(slices, key=lambda each: each[0]):  # of equal beginnings, the outer comes first
            while open_until and open_until[-1] <= begin:
                open_until.pop()
            assert not open_until or end <= open_until[-1]
            open_until.append(end)


def test_arrows_have_two_ends_inside_slices(events: Events) -> None:
    threads = by_thread(events)
    ends: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for event in (each for each in events if each["ph"] in "sf"):
        ends[event["cat"], event["id"]].append(event)
        slices = threads[event["pid"], event["tid"]]
        assert any(begin <= round(event["ts"] * 1e6) <= end for begin, end in slices)
    assert all([each["ph"] for each in pair] == ["s", "f"] and pair[0]["ts"] <= pair[1]["ts"] for pair in ends.values())
    assert {kind for kind, _ in ends} == {"waits for", "delivers"}


def test_waiting_ranks_are_told_for_whom(events: Events) -> None:
    first = [each for each in events if each.get("cat") == "wait" and each["ts"] == 0]
    assert {each["pid"] - 1 for each in first} == set(range(8))
    assert all(each["args"]["rank"] >= 8 and each["dur"] == pytest.approx(20, rel=1e-3) for each in first)


def test_counters_end_with_the_totals(tmp_path: Path) -> None:
    counters = [each for each in written(incast(), tmp_path) if each["ph"] == "C"]
    last = {each["name"]: next(iter(each["args"].values())) for each in counters}
    most: dict[str, float] = defaultdict(float)
    for each in counters:
        most[each["name"]] = max(most[each["name"]], next(iter(each["args"].values())))
    links = worst_links(incast())
    assert links["ecn_marks"].sum() > 0
    for link in links.to_dict("records"):
        name = f"{link['source']}->{link['target']}"
        longest = incast().queues[incast().queues["link"] == link["id"]]["bytes"].max()
        assert most[f"{name} queue"] == pytest.approx(longest / 1024, rel=1e-5)
        assert last.get(f"{name} marks so far", 0) == pytest.approx(link["ecn_marks"], rel=1e-5)
        assert last.get(f"{name} paused so far", 0) == pytest.approx(link["paused_ps"] / 1e6, rel=1e-5)
        assert 0 < most[f"{name} rate"] <= 101  # a packet counts as sent when its first bit is


def test_equal_runs_give_equal_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_trace(result(), tmp_path / f"{name}.json.gz")
    assert (tmp_path / "a.json.gz").read_bytes() == (tmp_path / "b.json.gz").read_bytes()


def test_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "cannot be written" in refusal(write_trace, result(), tmp_path / "nowhere" / "run.json.gz")
    monkeypatch.setattr("netsim.report.perfetto.counters_of", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_trace(result(), tmp_path / "run.json.gz")
    assert list(tmp_path.iterdir()) == []


def test_names_are_quoted(tmp_path: Path) -> None:
    rows = [{"op": 'x"},{"ph":"X', "bytes": 1, "end_ps": 10**6, "group": "\n</script>"}]
    events = written(result_of(scenario_of(), [], rows), tmp_path)
    found = [each for each in events if each.get("cat") == "collective"]
    assert len(found) == 16
    assert found[0]["args"]["group"] == "\n</script>"


def test_the_longest_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(perfetto_ranks, "MOST_FLOWS", 7)
    monkeypatch.setattr(perfetto_ranks, "MOST_PARTS", 20)
    found = kinds(written(result(), tmp_path))
    assert (found["X", "flow"], found["X", "collective"]) == (7, 20)


def test_lanes_hold_slices_that_do_not_overlap() -> None:
    lanes = Lanes(first_thread=1)
    spans = [(0, 10), (5, 6), (6, 20), (10, 12), (11, 30)]
    assert [lanes.lane(1, "channel 0", *span)[1] for span in spans] == [1, 2, 2, 1, 3]
    assert lanes.lane(2, "channel 0", 0, 1) == (2, 4)
    assert [name for *_, name in lanes.names] == ["channel 0", "channel 0 (2)", "channel 0 (3)", "channel 0"]


def test_stamps_are_the_nearest_nanoseconds() -> None:
    assert [stamp(each) for each in (0, 499, 500, 12_345_678)] == ["0.000", "0.000", "0.001", "12.346"]


def test_slices_end_where_the_next_begin() -> None:
    """600 ps and 400 ps, each rounded by itself, would end at 2 ns: after the next has begun."""
    first, following = (
        json.loads(slice_event((1, 1), *times, "x", "flow", {})) for times in ((600, 1_400), (1_400, 2_600))
    )
    assert round((first["ts"] + first["dur"]) * 1e3) == round(following["ts"] * 1e3) == 1
    assert round((following["ts"] + following["dur"]) * 1e3) == 3
