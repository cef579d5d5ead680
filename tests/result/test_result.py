"""Result: the derived columns by hand, the folder whole or not there, the same bytes for the same scenario."""

import errno
import json
import math
from pathlib import Path

import pandas as pd
import pytest

from netsim.config import build_scenario
from netsim.errors import RunError
from netsim.result import Result, check_writable, folder
from netsim.result.tables import TABLES, bus_factor
from netsim.simulation import simulate
from netsim.topology import TOPOLOGIES, LeafSpine, Network, NetworkBuilder, Override, Topology
from netsim.traces import write_native
from tests.inputs import refusal, saved
from tests.outcomes import US, outcome_of, result_of, scenario_of, trace_of
from tests.traffic import flows

FLOWS = [(0, 1, 1_000_000, 0, 20 * US), (2, 3, 1_000_000, 5 * US, 10 * US), (4, 5, 4096, 0, -1)]
OPERATIONS = [
    {"op": "all_reduce", "bytes": 1_600_000, "start_ps": 10 * US, "end_ps": 110 * US, "ideal_ps": 50 * US}
    | {"recorded_ps": 80 * US},
    {"op": "send", "group": None, "ranks": 2, "bytes": 1000, "end_ps": 0, "ideal_ps": 0},
    {"op": "barrier", "bytes": 0, "end_ps": 5 * US, "ideal_ps": 5 * US},
]


@pytest.fixture
def result() -> Result:
    return result_of(scenario_of(), FLOWS, OPERATIONS)


@pytest.fixture
def run(result: Result, tmp_path: Path) -> Path:
    """The result, saved."""
    result.save(tmp_path / "run")
    return tmp_path / "run"


def test_a_published_row_of_nccl_tests() -> None:
    """all_reduce_perf on 8 GPUs, 128 MiB in 1,000 us: algbw 134.22 GB/s, busbw 234.88 GB/s."""
    operation = {"op": "all_reduce", "ranks": 8, "bytes": 128 << 20, "end_ps": 1000 * US}
    row = result_of(scenario_of(), FLOWS, [operation]).collectives.iloc[0]
    assert row["algbw_gbs"] == pytest.approx(134.217728)
    assert row["busbw_gbs"] == pytest.approx(234.881024)


def test_times_bandwidths_and_slowdowns(result: Result) -> None:
    reduced, send, barrier = result.collectives.to_dict("records")
    assert reduced["time_ps"] == 100 * US
    assert reduced["algbw_gbs"] == pytest.approx(16.0)  # 1.6 MB in 100 us
    assert reduced["busbw_gbs"] == pytest.approx(16.0 * 30 / 16)
    assert reduced["slowdown"] == 2.0
    assert send["group"] == ""
    assert all(math.isnan(send[name]) for name in ("algbw_gbs", "busbw_gbs", "slowdown"))
    assert math.isnan(barrier["algbw_gbs"])
    assert barrier["slowdown"] == 1.0


BUS_FACTORS = {  # nccl-tests, doc/PERFORMANCE.md, of 8 ranks
    "all_reduce": 2 * 7 / 8,
    "broadcast": 1,
    "reduce": 1,
    "send": 1,
    "flows": 1,
    **dict.fromkeys(("all_gather", "reduce_scatter", "all_to_all", "all_to_all_v", "gather", "scatter"), 7 / 8),
}


@pytest.mark.parametrize("op", BUS_FACTORS)
def test_bus_factors_are_those_of_nccl_tests(op: str) -> None:
    assert bus_factor(op, 8) == BUS_FACTORS[op]


@pytest.mark.parametrize("packets", [1, 2, 8, 50])
def test_mean_queue_of_two_senders_by_hand(packets: int) -> None:
    """Two hosts send n packets each to a third over one switch, all links alike; t is the time of a packet on a link.

    Packet k = 0 .. n-1 of both comes k t after the first; the switch sends one every t, so the first of the two waits
    k t and the second (k + 1) t. All waits together: t (n (n-1) / 2 + n (n+1) / 2) = n^2 t, of 4160 bytes each.
    """
    star = LeafSpine(leaves=1, spines=1, hosts_per_leaf=3, rate="100Gb/s", delay="500ns", buffer="unlimited")
    scenario = build_scenario(flows(3, [(0, 2), (1, 2)], 4096 * packets), star, transport={"control": "none"})
    result = simulate(scenario)
    waited = packets**2 * 4160 * 332_800
    row = result.link("leaf0", "host2")
    assert row["mean_queue_bytes"] == pytest.approx(waited / result.summary["completion_time_ps"], rel=1e-5)
    assert row["max_queue_bytes"] == (packets + 1) * 4160
    assert result.links["mean_queue_bytes"].sum() == row["mean_queue_bytes"]


def test_flows_end_with_their_last_byte(result: Result) -> None:
    assert result.flows["slowdown"].tolist()[:2] == [2.0, 0.5]
    assert math.isnan(result.flows["slowdown"][2])  # never delivered


def test_columns_are_the_documented_ones(result: Result) -> None:
    tables = {name: list(getattr(result, name).columns) for name in TABLES}
    assert tables == {name: list(columns) for name, columns in TABLES.items()}
    assert " ".join(TABLES["links"]) == (
        "id source target kind rate_bps bytes packets busy_fraction drops lost trims ecn_marks pauses_sent "
        "paused_ps max_queue_bytes mean_queue_bytes"
    )


def test_busy_is_of_the_whole_run(result: Result) -> None:
    assert result.link("host1", "tor0")["busy_fraction"] == 2 / 110
    assert "no link host1->core0" in refusal(result.link, "host1", "core0")


def test_summary_adds_up(result: Result) -> None:
    summary = result.summary
    wanted = {
        "completion_time_ps": 110 * US, "collectives": 3, "bytes": 1_601_000, "packets_delivered": 1000, "drops": 2,
        "packet_hops": 6000, "lost": 0, "trims": 0, "ecn_marks": 7, "pauses": 3, "retransmitted_packets": 0,
        "simulate_seconds": 0.5, "wall_seconds": 2.0, "packet_hops_per_second": 12000.0,
    }  # fmt: skip
    assert {name: summary[name] for name in wanted} == wanted
    assert summary["peak_memory_bytes"] > 10_000_000
    assert len(summary["worst_links"]) == 10
    last = len(result.links) - 1
    assert summary["worst_links"][0]["busy_fraction"] == pytest.approx(last / 110)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary


def test_nothing_happened() -> None:
    empty = result_of(scenario_of(), [], [], packet_hops=0, simulate_seconds=0.0)
    assert empty.summary["packet_hops_per_second"] == 0.0
    assert empty.collectives.empty
    assert empty.flows.dtypes.to_dict() == result_of(scenario_of(), FLOWS).flows.dtypes.to_dict()


def test_flows_of_one_collective(result: Result) -> None:
    assert len(result.flows_of(0)) == 3
    assert result.flows_of(1).empty


def test_save_and_load(result: Result, tmp_path: Path) -> None:
    result.save(tmp_path / "deep" / "run")
    again = Result.load(tmp_path / "deep" / "run")
    for name in TABLES:
        pd.testing.assert_frame_equal(getattr(again, name), getattr(result, name))
    assert again.summary == result.summary
    assert again.scenario == result.scenario
    assert again.scenario.trace.name == result.scenario.trace.name
    assert again.provenance == result.provenance
    assert repr(again) == repr(result)


def test_the_same_scenario_gives_the_same_bytes(tmp_path: Path) -> None:
    first = result_of(scenario_of(), FLOWS, OPERATIONS, simulate_seconds=1.0)
    second = result_of(scenario_of(), FLOWS, OPERATIONS, simulate_seconds=2.0)
    first.save(tmp_path / "a")
    second.save(tmp_path / "b")
    files = [f"{name}.parquet" for name in TABLES] + ["trace.jsonl.gz", "run.json"]
    for file in files:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
    assert sorted(each.name for each in (tmp_path / "a").iterdir()) == sorted([*files, "summary.json"])
    assert (tmp_path / "a" / "summary.json").read_bytes() != (tmp_path / "b" / "summary.json").read_bytes()


def test_run_json_tells_how_it_came_about(run: Path) -> None:
    told = json.loads((run / "run.json").read_text())
    assert told["scenario"]["topology"]["rate"] == "100Gb/s"
    assert told["seed"] == 1
    assert set(told["versions"]) == {"python", "numpy", "numba", "pyarrow"}
    assert "node" not in told["host"]


def test_an_older_result_is_replaced(run: Path, tmp_path: Path) -> None:
    result_of(scenario_of(seed=5), FLOWS).save(run)
    assert Result.load(run).scenario.seed == 5
    assert list(tmp_path.iterdir()) == [run]


def test_a_foreign_folder_is_left_alone(result: Result, tmp_path: Path) -> None:
    notes = saved(tmp_path / "notes.txt", "mine")
    assert "is not empty and holds no result; give a new folder" in refusal(result.save, tmp_path)
    assert list(tmp_path.iterdir()) == [notes]
    assert "is a file" in refusal(result.save, notes)
    assert "notes.txt: cannot be written to" in refusal(check_writable, notes / "run")


def test_notes_beside_a_result_are_not_thrown_away(result: Result, run: Path) -> None:
    saved(run / "notes.txt", "mine")
    assert "is not empty" in refusal(result.save, run)
    assert Result.load(run).scenario == result.scenario


def test_an_empty_folder_is_welcome(result: Result, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    result.save(tmp_path / "run")
    assert Result.load(tmp_path / "run").scenario == result.scenario


def test_a_save_that_fails_leaves_what_was_there(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {each.name: each.read_bytes() for each in run.iterdir()}

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("netsim.result.write_json", full)
    with pytest.raises(RunError, match="No space left"):
        result_of(scenario_of(seed=9), FLOWS).save(run)
    assert {each.name: each.read_bytes() for each in run.iterdir()} == before
    assert list(tmp_path.iterdir()) == [run]


def test_a_swap_that_fails_puts_the_older_result_back(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    move = Path.replace

    def fails_for_drafts(path: Path, target: Path) -> Path:
        if path.name.startswith(".run.") and not path.name.endswith(".old"):
            raise OSError("busy")
        return move(path, target)

    monkeypatch.setattr(folder.Path, "replace", fails_for_drafts)
    assert "busy" in refusal(result_of(scenario_of(seed=9), FLOWS).save, run)
    assert Result.load(run).scenario.seed == 1
    assert list(tmp_path.iterdir()) == [run]


def test_what_is_no_result_is_refused(result: Result, run: Path, tmp_path: Path) -> None:
    assert "is no saved result" in refusal(Result.load, tmp_path)
    (run / "links.parquet").write_bytes(b"broken")
    assert "links.parquet: cannot be read as Parquet; run the scenario again" in refusal(Result.load, run)
    (run / "flows.parquet").replace(run / "links.parquet")
    assert "flows.parquet: cannot be read" in refusal(Result.load, run)
    result.save(tmp_path / "other")
    for text in ("{", '{"acks_injected": NaN}', '{"wall_seconds": -Infinity}'):
        saved(tmp_path / "other" / "summary.json", text)
        assert "summary.json: cannot be read as JSON" in refusal(Result.load, tmp_path / "other")


def test_another_trace_in_the_folder_is_noticed(run: Path) -> None:
    write_native(trace_of(8), run / "trace.jsonl.gz")
    assert "holds another scenario than was run" in refusal(Result.load, run)


def test_what_the_core_counts_goes_into_the_summary() -> None:
    outcome = outcome_of(scenario_of(), FLOWS, OPERATIONS, packets_in_flight=3, wall_seconds=9.0)
    summary = Result.of(outcome, scenario_of()).summary
    assert (summary["packets_in_flight"], summary["wall_seconds"]) == (3, 9.0)


class Pair(Topology):
    """A user's own: two hosts on a switch."""

    kind: str = "pair"

    def build(self) -> Network:
        builder = NetworkBuilder("pair")
        hosts, switch = [builder.host("a"), builder.host("b")], builder.switch("s", "tor")
        for host in hosts:
            builder.connect(host, switch, kind="tor", **self.port(Override()))
        return builder.build()


class Disguised(LeafSpine):
    """Of a kind that there is, but another network."""

    def build(self) -> Network:
        return Pair().build()


@pytest.mark.parametrize("topology", [Pair(), Pair(kind=""), Disguised(leaves=1, spines=1, hosts_per_leaf=2)], ids=repr)
def test_a_topology_that_cannot_be_written_down_is_refused_when_saved(topology: Topology, tmp_path: Path) -> None:
    result = simulate(flows(2, [(0, 1)], 5000), topology, transport="none")
    assert len(result.flows) == 1
    said = f"run: topology cannot be written down: nobody who opens the file knows the class {type(topology).__name__}"
    assert said in refusal(result.save, tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_a_topology_that_is_entered_can_be_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TOPOLOGIES, "pair", Pair)
    result = simulate(flows(2, [(0, 1)], 5000), Pair(), transport="none")
    result.save(tmp_path / "run")
    assert Result.load(tmp_path / "run").flows.equals(result.flows)
