"""`netsim run` and `netsim compare`: what they print, what they save, what they leave when they fail."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from netsim.cli import main
from netsim.errors import RunError
from netsim.result.tables import TABLES
from netsim.simulation import get_ready

HOME = Path(__file__).parent.parent.parent
RUN = "run perm16 --on fat_tree_k4_100g"
SAVED = [*sorted(f"{name}.parquet" for name in TABLES), "run.json", "summary.json"]
Capture = pytest.CaptureFixture[str]


def answer(line: str, capsys: Capture) -> dict[str, Any]:
    assert main(line.split()) == 0
    value = json.loads(capsys.readouterr().out)  # nothing but JSON may be on stdout
    assert isinstance(value, dict)
    return value


def test_json_is_the_summary(capsys: Capture) -> None:
    summary = answer(f"{RUN} --json", capsys)
    assert summary["packets_delivered"] == 16 * -(-2_000_000 // 4096)
    assert summary["completion_time_ps"] > 160_000_000  # 2 MB at 100 Gb/s is 160 us
    assert summary["packet_hops"] > 0


def test_text_names_trace_fabric_and_limit(capsys: Capture) -> None:
    assert main(RUN.split()) == 0
    output = capsys.readouterr()
    for piece in ("perm16", "fat_tree_k4_100g", "flows", "slowdown", "busbw"):
        assert piece in output.out
    assert "\r" not in output.err
    assert "\x1b" not in output.err, "no progress bar where nobody looks"


def test_choices_reach_the_run(capsys: Capture) -> None:
    plain = answer(f"{RUN} --seed 1 --json", capsys)
    again = answer(f"{RUN} --seed 1 --json", capsys)
    other = answer(f"{RUN} --seed 2 --json", capsys)
    big = answer(f"{RUN} --set packet.payload=1KiB --json", capsys)
    assert plain["completion_time_ps"] == again["completion_time_ps"]
    assert plain["completion_time_ps"] != other["completion_time_ps"], "another seed hashes to other paths"
    assert big["packets_delivered"] == 16 * -(-2_000_000 // 1024)


def test_algorithm_reaches_the_run(tmp_path: Path, capsys: Capture) -> None:
    import pandas as pd

    trace = tmp_path / "t.jsonl"
    trace.write_text('{"netsim": 1, "ranks": 16}\n{"op": "all_reduce", "group": "world", "bytes": 65536}\n')
    for name in ("ring", "tree"):
        line = f"run {trace} --on fat_tree_k4_400g --algorithm all_reduce={name} --out {tmp_path / name}"
        assert main(line.split()) == 0
        assert set(pd.read_parquet(tmp_path / name / "collectives.parquet")["algorithm"]) == {name}
    assert "saved in" in capsys.readouterr().err


def test_a_saved_run_can_be_run_again(tmp_path: Path, capsys: Capture) -> None:
    first, second = tmp_path / "deep" / "first", tmp_path / "second"
    assert main([*RUN.split(), "--seed", "5", "--out", str(first)]) == 0
    assert main(["run", str(first / "run.json"), "--out", str(second)]) == 0
    capsys.readouterr()
    names = sorted(path.name for path in first.iterdir())
    assert [name for name in names if name in SAVED] == SAVED
    for name in (name for name in names if name.endswith(".parquet")):
        assert (first / name).read_bytes() == (second / name).read_bytes()


def test_a_result_replaces_a_result(tmp_path: Path) -> None:
    for _ in range(2):
        assert main([*RUN.split(), "--out", str(tmp_path / "out")]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_failed_run_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    def fails(*_: object, **__: object) -> None:
        raise RunError("rank 3 waits for rank 4", hint="look at line 7")

    monkeypatch.setattr("netsim.simulation.simulate", fails)
    monkeypatch.setattr("netsim.kernel.is_compiled", lambda _: True)
    assert main([*RUN.split(), "--out", str(tmp_path / "out")]) == 1
    assert capsys.readouterr().err == "netsim: rank 3 waits for rank 4; look at line 7\n"
    assert list(tmp_path.iterdir()) == []


def test_the_first_run_says_that_it_compiles(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    get_ready.cache_clear()
    monkeypatch.setattr("netsim.kernel.is_compiled", lambda _: False)
    assert main(["compare", "perm16", "--on", "fat_tree_k4_100g", "--on", "fat_tree_k4_400g"]) == 0
    assert capsys.readouterr().err.count("compiling the packet core") == 1


def test_compare_sets_fabrics_side_by_side(capsys: Capture) -> None:
    fabrics = ["leaf_spine_32_1to1", "leaf_spine_32_4to1"]
    assert main(["compare", "perm16", "--on", fabrics[0], "--on", fabrics[1]]) == 0
    text = capsys.readouterr().out
    assert all(fabric in text for fabric in fabrics)


def test_compare_as_json_agrees_with_run(capsys: Capture) -> None:
    both = answer("compare perm16 --on fat_tree_k4_100g --on fat_tree_k4_400g --json", capsys)
    alone = answer(f"{RUN} --json", capsys)
    assert list(both) == ["fat_tree_k4_100g", "fat_tree_k4_400g"]
    for key in ("completion_time_ps", "packets_delivered", "drops"):
        assert both["fat_tree_k4_100g"][key] == alone[key]


def test_a_second_run_finds_the_compiled_core(tmp_path: Path) -> None:
    """Another process says nothing of compiling; benchmarks/whole_runs.py tells how long it takes."""
    environment = {**os.environ, "PYTHONPATH": str(HOME)}
    assert main(RUN.split()) == 0  # fills the cache
    command = [sys.executable, "-m", "netsim", *RUN.split()]
    second = subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert second.stderr == ""


@pytest.mark.parametrize("line", ["run perm128 --on fat_tree_k4_100g", "compare perm128 --on fat_tree_k4_100g"])
def test_a_mistake_is_told_before_anything_is_compiled(
    line: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr("netsim.kernel.is_compiled", lambda _: False)
    monkeypatch.setattr("netsim.simulation.get_ready", lambda: pytest.fail("it compiles"))
    assert main(line.split()) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_how_a_log_was_read_is_said_and_a_native_trace_says_nothing(tmp_path: Path, capsys: Capture) -> None:
    prefix = "node1:100:100 [0] NCCL INFO "
    told = "opCount 0 sendbuff 0x10 recvbuff 0x20 count 4096 datatype 7 op 0 root 0 comm 0xa0 [nranks=2] stream 0x1"
    init = f"{prefix}ncclCommInitRank comm 0xa0 rank 0 nranks 2 cudaDev 0 busId 1000 commId 0x77 - Init COMPLETE"
    (tmp_path / "job.log").write_text(f"{init}\n{prefix}AllReduce: {told}\n")
    log = str(tmp_path / "job.log")
    assert main(["run", log, "--on", "fat_tree_k4_100g", "--fill-missing-ranks", "--json"]) == 0
    said = capsys.readouterr()
    assert "netsim: 1 of 2 ranks of a communicator seen: the others do the same by symmetry\n" in said.err
    assert json.loads(said.out)["collectives"] == 1
    assert main([*RUN.split(), "--json"]) == 0
    assert capsys.readouterr().err == ""
