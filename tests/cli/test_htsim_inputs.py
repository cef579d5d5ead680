"""htsim's files through the command line: run and describe a `.cm` and a `.topo`."""

from pathlib import Path

import pytest

from tests.cli.command_line import CommandLine
from tests.inputs import saved
from tests.topology.test_htsim import FLAT

MATRIX = """\
Nodes 8
Connections 3
Triggers 1
0->4 id 1 start 0 size 40960 recv_done_trigger 1
4->1 id 2 trigger 1 size 40960
5->6 id 3 start 1000000 size 40960
trigger id 1 oneshot
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return saved(tmp_path / "small.cm", MATRIX), saved(tmp_path / "small.topo", FLAT)


def test_run_and_run_again_from_the_result(files: tuple[Path, Path], tmp_path: Path, cli: CommandLine) -> None:
    first = cli.json("run", files[0], "--on", files[1], "--out", tmp_path / "out")
    assert first["packets_delivered"] == 30
    again = cli.json("run", tmp_path / "out" / "run.json")
    assert again["completion_time_ps"] == first["completion_time_ps"]


def test_describe_both(files: tuple[Path, Path], cli: CommandLine) -> None:
    for path, facts in zip(files, [{"ranks": 8, "operations in all": 1}, {"hosts": 8, "switches.agg": 2}], strict=True):
        answer = cli.json("describe", path)
        assert answer | facts == answer
