"""`netsim convert` from the command line: files, one line for a person, JSON for machines, one line for a mistake."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from netsim.cli import main
from netsim.traces import read

Capture = pytest.CaptureFixture[str]


def test_a_shipped_trace_goes_to_chakra_and_back(tmp_path: Path, capsys: Capture) -> None:
    assert main(["convert", "all_to_all_16", "--out", str(tmp_path / "job.et"), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["format"], answer["ranks"], answer["operations"], len(answer["files"])) == ("chakra", 16, 3, 16)
    assert main(["convert", str(tmp_path), "--out", str(tmp_path / "back.jsonl")]) == 0
    assert [each.bytes for each in read(tmp_path / "back.jsonl").operations] == [65_536, 1_048_576, 16_777_216]
    pattern = str(tmp_path / "job.*.et")
    assert main(["convert", pattern, "--out", str(tmp_path / "again.jsonl")]) == 0
    assert "1 file" not in capsys.readouterr().out


def test_what_changes_is_said_on_stderr(tmp_path: Path, capsys: Capture) -> None:
    out = str(tmp_path / "job.goal")
    assert (
        main(["convert", "all_to_all_16", "--out", out, "--algorithm", "all_to_all=pairwise", "--chunk", "1MiB"]) == 0
    )
    said = capsys.readouterr()
    assert said.out == f"{out}: goal, 16 ranks, 3 operations\n"
    assert said.err == "netsim: 3 all_to_all became flows\n"


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["perm16", "--out", "{}/job.txt"], "its name does not tell the format; end it with one of .jsonl"),
        (["perm16", "--out", "{}/job.goal", "--to", "gaol"], "did you mean 'goal'"),
        (["perm16", "--out", "{}/none/job.goal"], "cannot be written"),
        (["perm61", "--out", "{}/job.goal"], "perm16"),
        (["all_to_all_16", "--out", "{}/job.goal", "--algorithm", "ring"], "'ring' is not KEY=VALUE"),
        (["all_to_all_16", "--out", "{}/job.goal", "--chunk", "big"], "--chunk: 'big' is no size"),
        (["all_to_all_16", "--out", "{}/job.goal", "--chunk", "0"], "--chunk"),
        (["{}/*.et", "--out", "{}/job.goal"], "no file fits this pattern"),
        (["{}", "--out", "{}/job.goal"], "is a directory without files"),
    ],
)
def test_a_mistake_is_one_line(arguments: list[str], what: str, tmp_path: Path, capsys: Capture) -> None:
    assert main(["convert", *(each.format(tmp_path) for each in arguments)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert what in said.err


def test_an_algorithm_of_msccl_is_no_trace_but_an_algorithm(tmp_path: Path, capsys: Capture) -> None:
    blocks = ('<tb id="0" send="1" recv="-1" chan="0">{}</tb>', '<tb id="0" send="-1" recv="0" chan="0">{}</tb>')
    step = '<step s="0" type="{}" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>'
    gpus = [f'<gpu id="{n}">{blocks[n].format(step.format("sr"[n]))}</gpu>' for n in (0, 1)]
    path = tmp_path / "my.xml"
    path.write_text(f'<algo name="mine" nchunksperloop="1" ngpus="2" coll="broadcast">{"".join(gpus)}</algo>')
    assert main(["describe", str(path)]) == 2
    assert "is an MSCCL algorithm, not a trace; use it as one: --algorithm" in capsys.readouterr().err
    plan = ["plan", "broadcast", "--algorithm", str(path), "--ranks", "2", "--bytes", "8KiB", "--json"]
    assert main(plan) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["algorithm"], answer["bytes in all"]) == ("mine", 8192)
    assert main([*plan[:5], "3", *plan[6:]]) != 0
