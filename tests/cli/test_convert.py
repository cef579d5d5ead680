"""`netsim convert` from the command line: files, one line for a person, JSON for machines."""

from pathlib import Path

from netsim.traces import read
from tests.cli.command_line import CommandLine
from tests.collectives.test_msccl import DIRECT
from tests.inputs import saved


def test_a_shipped_trace_goes_to_chakra_and_back(tmp_path: Path, cli: CommandLine) -> None:
    answer = cli.json("convert all_to_all_16 --out", tmp_path / "job.et")
    assert (answer["format"], answer["ranks"], answer["operations"], len(answer["files"])) == ("chakra", 16, 3, 16)
    cli.succeeds("convert", tmp_path, "--out", tmp_path / "back.jsonl")
    assert [each.bytes for each in read(tmp_path / "back.jsonl").operations] == [65_536, 1_048_576, 16_777_216]
    assert "1 file" not in cli.succeeds("convert", tmp_path / "job.*.et", "--out", tmp_path / "again.jsonl").out


def test_what_changes_is_said_on_stderr(tmp_path: Path, cli: CommandLine) -> None:
    out = tmp_path / "job.goal"
    said = cli.succeeds("convert all_to_all_16 --out", out, "--algorithm all_to_all=pairwise --chunk 1MiB")
    assert said.out == f"{out}: goal, 16 ranks, 3 operations\n"
    assert said.err == "netsim: 3 all_to_all became flows\n"


def test_an_algorithm_of_msccl_is_no_trace_but_an_algorithm(tmp_path: Path, cli: CommandLine) -> None:
    path = saved(tmp_path / "my.xml", DIRECT)
    assert "is an MSCCL algorithm, not a trace; use it as one: --algorithm" in cli.refused("describe", path)
    answer = cli.json("plan broadcast --bytes 8KiB --ranks 2 --algorithm", path)
    assert (answer["algorithm"], answer["bytes in all"]) == ("small", 8192)
    assert cli("plan broadcast --bytes 8KiB --ranks 3 --algorithm", path).code != 0
