"""A profile shown: as text, as JSON, as a folder of tables, as one page; several jobs side by side."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from netsim.config import build_scenario, load_trace
from netsim.profile import Profile, profile
from netsim.report import profile_plots
from netsim.report.profile_compare import job_names, profiles_text, side_by_side
from netsim.report.profile_folder import TABLES, check_profile_folder, save_profile
from netsim.report.profile_json import profile_table
from netsim.report.profile_page import profile_page
from netsim.report.profile_text import profile_text
from netsim.traces import Group, Operation, Trace
from netsim.traces.read_report import ReadReport
from tests.inputs import refusal
from tests.report.page_charts import assert_needs_nothing, charts

EVIL = "</script><b>job"
MS = 10**9


def timed(name: str = "job", **more: object) -> Profile:
    """A small job with groups, streams, times, cut lines and findings."""
    when = {"recorded_start_ps": 5 * MS, "recorded_duration_ps": 2 * MS}
    groups = {"tp": Group("tp", (0, 1))}
    operations = (
        Operation("all_reduce", "world", (0, 1, 2, 3), 4096, **when),  # type: ignore[arg-type]
        Operation("all_gather", "tp", (0, 1), 64, stream="side"),
        Operation("send", None, (3, 0), 100, src=3, dst=0),
    )
    report = ReadReport("kineto", 2, 1, 900, 3, 4, {"wait": 6}, {"ring ll": 2}, (0, 1), 0, ("a guess",), ("a fault",))
    return profile(Trace(name, 4, groups, operations, "here", ("a note", "a guess", "a fault"), report))


@pytest.fixture(scope="module")
def decode() -> Profile:
    return profile(load_trace("deepseek_v3_decode_16"))


def line(text: str, begins: str) -> list[str]:
    (found,) = [each for each in text.splitlines() if re.match(rf" *{re.escape(begins)}\b", each)]
    return found.split()


def test_text_holds_the_table_of_operations(decode: Profile) -> None:
    text = profile_text(decode)
    assert line(text, "all_reduce") == ["all_reduce", "181", "2,594,816", *["14,336"] * 6]
    assert line(text, "all_gather")[-2:] == ["258,560", "16,160"]
    assert line(text, "8 KiB")[4:7] == ["181", "99", "%"]
    assert "each of 16 does the same: 182 requests, 5,107,680 bytes sent" in text
    assert "no recorded times" in text
    assert "1 file of native: 182 records kept, 0 cut off, 16 of 16 ranks seen" in text


def test_text_tells_groups_streams_times_and_how_it_was_read() -> None:
    text = profile_text(timed())
    assert line(text, "side") == ["side", "all_gather", "1", *["64"] * 6, "32"]
    assert line(text, "point to point")[:6] == ["point", "to", "point", "2", "send", "1"]
    assert line(text, "groups     1")[1:] == ["1", "x", "4,", "1", "x", "2", "ranks"]
    assert "time       1 request in 2.00 ms: 1 burst, duty cycle 100 %" in text
    assert "2 files of kineto, 900 lines: 3 records kept, 4 cut off, 2 of 4 ranks seen" in text
    told = ["skipped    6 wait", "tuning     ring ll 2", "assumed    a guess", "finding    a fault"]
    assert text.splitlines()[-5:] == [*told, "note       a note"]


def test_json_has_the_promised_names(decode: Profile) -> None:
    table = json.loads(json.dumps(profile_table(decode), allow_nan=False))
    first = table["operations"][0]
    all_reduces = {"op": "all_reduce", "count": 181, "bytes_total": 2_594_816}
    each = dict.fromkeys(("bytes_min", "bytes_median", "bytes_p95", "bytes_max"), 14_336)
    assert first | all_reduces | each == first
    assert table["sizes"][0] == {"from_bytes": 8192, "to_bytes": 16384, **all_reduces}
    assert table["groups"][0]["members"] == list(range(16))
    assert (table["read"]["format"], table["read"]["ranks_seen"]) == ("native", 16)
    assert table["traffic"]["share_leaving_server"] is None


def test_json_of_a_placed_and_timed_job() -> None:
    trace = load_trace("all_to_all_16")
    table = profile_table(profile(trace, build_scenario(trace, "rail_optimized_16")))
    assert table["traffic"]["bytes_leaving_server"] * 15 == table["traffic"]["bytes"] * 8
    counts, rates = {"timed": 1, "span_ms": 2.0, "duty_cycle": 1.0, "bursts": 1, "bin_ms": 1}, ("peak", "mean")
    assert profile_table(timed())["bursts"] == counts | {f"{rate}_bytes_per_ms": 2048.0 for rate in rates}


def test_a_folder_holds_every_table_and_is_replaced_whole(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    save_profile(timed(), folder)
    assert {each.name for each in folder.iterdir()} == {"profile.json", *(f"{name}.parquet" for name in TABLES)}
    requests = pd.read_parquet(folder / "requests.parquet")
    assert requests[["op", "bytes"]].to_numpy().tolist() == [["all_reduce", 4096], ["all_gather", 64], ["send", 100]]
    assert int(pd.read_parquet(folder / "traffic.parquet")["bytes"].sum()) == timed().traffic.bytes
    before = (folder / "requests.parquet").read_bytes()
    save_profile(timed(), folder)
    assert (folder / "requests.parquet").read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["out"]


def test_a_folder_of_anything_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("precious")
    assert "not empty" in refusal(check_profile_folder, tmp_path)
    assert "not empty" in refusal(save_profile, timed(), tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["mine"]


def test_a_page_needs_nothing_from_the_net_and_holds_all_figures() -> None:
    text = profile_page([timed()])
    assert_needs_nothing(text)
    titles = [
        *("requests by operation", "bytes by operation", "request sizes of job", "distribution of sizes"),
        *("traffic of job", "bytes per millisecond"),
    ]
    assert re.findall("<h3>(.*?)</h3>", text) == titles
    assert len(charts(text)) == len(titles)
    assert [f'id="plot{number}"' in text for number in range(7)] == [True] * 6 + [False]
    assert "prefers-color-scheme: dark" in text


def test_names_from_a_trace_are_text_on_a_page_never_markup() -> None:
    text = profile_page([timed(EVIL), timed("other")])
    body = text[text.index("</head>") :]
    assert EVIL not in body
    assert "<b>job" not in body
    assert "&lt;/script&gt;&lt;b&gt;job" in body
    assert text.count("</script>") == 2


def test_large_matrices_are_shown_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile_plots, "MOST_CELLS", 2)
    plot = profile_plots.matrix(timed(), "job")
    assert plot is not None
    assert "ranks in blocks of 2" in plot.says
    assert plot.how["labels"] == ["0", "2"]
    assert sum(map(sum, plot.data)) == timed().traffic.bytes


def test_long_distributions_are_thinned_and_keep_their_ends() -> None:
    operations = [Operation("all_reduce", "world", (0, 1), size) for size in range(1, 5001)]
    many = profile(Trace("many", 2, {}, tuple(operations)))
    (line, _) = profile_plots.distribution([many], ["many"]).data
    assert len(line["x"]) <= profile_plots.MOST_POINTS
    assert (line["x"][0], line["x"][-1], line["y"][-1]) == (1, 5000, 1)


def test_jobs_side_by_side(decode: Profile) -> None:
    prefill = profile(load_trace("deepseek_v3_prefill_16"))
    rows = dict(side_by_side([decode, prefill, timed()]))
    assert rows["ranks"] == ["16", "16", "4"]
    assert rows["groups (how many of which size)"] == ["1 x 16", "1 x 16", "1 x 4, 1 x 2"]
    assert rows["nodes"] == ["-", "-", "1"]
    assert rows["all_reduce count"] == ["181", "181", "1"]
    assert rows["all_reduce median size"] == ["14,336", "14,680,064", "4,096"]
    assert rows["send bytes"] == ["-", "-", "100"]
    assert rows["duty cycle"] == ["-", "-", "100 %"]
    text = profiles_text([decode, prefill])
    assert text.splitlines()[0].split() == ["deepseek_v3_decode_16", "deepseek_v3_prefill_16"]
    assert job_names([decode, decode]) == ["deepseek_v3_decode_16 (1)", "deepseek_v3_decode_16 (2)"]
