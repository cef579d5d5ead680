"""`netsim run` and `netsim compare`: what they print, what they save, what they leave when they fail."""

import json
from pathlib import Path

import pytest

from netsim.errors import RunError
from netsim.result.tables import TABLES
from netsim.simulation import get_ready
from tests.cli.command_line import CommandLine
from tests.inputs import saved
from tests.processes import finished, started
from tests.traces.nccl.nccl_lines_of import call, world

RUN = "run perm16 --on fat_tree_k4_100g"
SAVED = [*sorted(f"{name}.parquet" for name in TABLES), "run.json", "summary.json"]


def test_json_is_the_summary(cli: CommandLine) -> None:
    summary = cli.json(RUN)
    assert summary["packets_delivered"] == 16 * -(-2_000_000 // 4096)
    assert summary["completion_time_ps"] > 160_000_000  # 2 MB at 100 Gb/s is 160 us
    assert summary["packet_hops"] > 0


def test_text_names_trace_fabric_and_limit(cli: CommandLine) -> None:
    output = cli.succeeds(RUN)
    for piece in ("perm16", "fat_tree_k4_100g", "flows", "slowdown", "busbw"):
        assert piece in output.out
    assert "\r" not in output.err
    assert "\x1b" not in output.err, "no progress bar where nobody looks"


def test_choices_reach_the_run(cli: CommandLine) -> None:
    plain = cli.json(RUN, "--seed 1")
    again = cli.json(RUN, "--seed 1")
    other = cli.json(RUN, "--seed 2")
    big = cli.json(RUN, "--set packet.payload=1KiB")
    assert plain["completion_time_ps"] == again["completion_time_ps"]
    assert plain["completion_time_ps"] != other["completion_time_ps"], "another seed hashes to other paths"
    assert big["packets_delivered"] == 16 * -(-2_000_000 // 1024)


def test_algorithm_reaches_the_run(tmp_path: Path, cli: CommandLine) -> None:
    import pandas as pd

    lines = ['{"netsim": 1, "ranks": 16}', '{"op": "all_reduce", "group": "world", "bytes": 65536}']
    trace = saved(tmp_path / "t.jsonl", lines)
    for name in ("ring", "tree"):
        line = f"run {trace} --on fat_tree_k4_400g --algorithm all_reduce={name} --out {tmp_path / name}"
        assert "saved in" in cli.succeeds(line).err
        assert set(pd.read_parquet(tmp_path / name / "collectives.parquet")["algorithm"]) == {name}


def test_a_saved_run_can_be_run_again(tmp_path: Path, cli: CommandLine) -> None:
    first, second = tmp_path / "deep" / "first", tmp_path / "second"
    cli.succeeds(RUN, "--seed 5 --out", first)
    cli.succeeds("run", first / "run.json", "--out", second)
    names = sorted(path.name for path in first.iterdir())
    assert [name for name in names if name in SAVED] == SAVED
    for name in (name for name in names if name.endswith(".parquet")):
        assert (first / name).read_bytes() == (second / name).read_bytes()


def test_a_result_replaces_a_result(tmp_path: Path, cli: CommandLine) -> None:
    for _ in range(2):
        cli.succeeds(RUN, "--out", tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_failed_run_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: CommandLine) -> None:
    def fails(*_: object, **__: object) -> None:
        raise RunError("rank 3 waits for rank 4", hint="look at line 7")

    monkeypatch.setattr("netsim.simulation.simulate", fails)
    monkeypatch.setattr("netsim.kernel.is_compiled", lambda _: True)
    assert cli(RUN, "--out", tmp_path / "out") == (1, "", "netsim: rank 3 waits for rank 4; look at line 7\n")
    assert list(tmp_path.iterdir()) == []


def test_the_first_run_says_that_it_compiles(monkeypatch: pytest.MonkeyPatch, cli: CommandLine) -> None:
    get_ready.cache_clear()
    monkeypatch.setattr("netsim.kernel.is_compiled", lambda _: False)
    told = cli.succeeds("compare perm16 --on fat_tree_k4_100g --on fat_tree_k4_400g").err
    assert told.count("compiling the packet core") == 1


def test_compare_as_json_agrees_with_run(cli: CommandLine) -> None:
    both = cli.json("compare perm16 --on fat_tree_k4_100g --on fat_tree_k4_400g")
    alone = cli.json(RUN)
    assert list(both) == ["fat_tree_k4_100g", "fat_tree_k4_400g"]
    for key in ("completion_time_ps", "packets_delivered", "drops"):
        assert both["fat_tree_k4_100g"][key] == alone[key]


def test_a_second_run_finds_the_compiled_core(tmp_path: Path, cli: CommandLine) -> None:
    """Another process says nothing of compiling; benchmarks/whole_runs.py tells how long it takes."""
    cli.succeeds(RUN)  # fills the cache
    code, _, told = finished(started("-m", "netsim", *RUN.split(), folder=tmp_path))
    assert (code, told) == (0, "")


def test_how_a_log_was_read_is_said_and_a_native_trace_says_nothing(tmp_path: Path, cli: CommandLine) -> None:
    log = saved(tmp_path / "job.log", [world(2)[0], call(100, 0xA0, 2)])
    said = cli.succeeds("run", log, "--on fat_tree_k4_100g --fill-missing-ranks --json")
    assert "netsim: 1 of 2 ranks of a communicator seen: the others do the same by symmetry\n" in said.err
    assert json.loads(said.out)["collectives"] == 1
    assert cli.succeeds(RUN, "--json").err == ""
