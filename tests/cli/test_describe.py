"""`netsim describe` and `netsim list`: what is there, in words and in JSON."""

from pathlib import Path

import pytest

from netsim.config import builtin_inputs
from tests.cli.command_line import CommandLine
from tests.inputs import saved


def test_a_fat_tree(cli: CommandLine) -> None:
    facts = cli.json("describe fat_tree_k4_100g")
    assert (facts["hosts"], facts["switches"], facts["links"]) == (16, 20, 96)
    assert facts["bisection"] == "800 Gb/s"  # 8 hosts of 100 Gb/s send across, nothing is oversubscribed


def test_a_trace(cli: CommandLine) -> None:
    facts = cli.json("describe deepseek_v3_decode_16")
    assert facts["ranks"] == 16
    assert sum(row["times"] for row in facts["operations"]) == facts["operations in all"]


def test_a_trace_of_ones_own(tmp_path: Path, cli: CommandLine) -> None:
    line = '{"op": "all_reduce", "group": "world", "bytes": 3072}'
    path = saved(tmp_path / "mine.jsonl", ['{"netsim": 1, "ranks": 3}', line, line])
    assert cli.json("describe", path)["operations"] == [
        {"op": "all_reduce", "ranks": 3, "bytes": "3 KiB", "duration": "", "times": 2}
    ]


@pytest.mark.parametrize("name", [name for kind in ("topologies", "traces") for name in builtin_inputs.names(kind)])
def test_every_shipped_input_can_be_described(name: str, cli: CommandLine) -> None:
    assert name in cli.succeeds("describe", name).out


def test_list_names_every_shipped_input(cli: CommandLine) -> None:
    names = cli.json("list")
    assert list(names["built-in topologies"]) == builtin_inputs.names("topologies")
    assert list(names["built-in traces"]) == builtin_inputs.names("traces")
    assert names["transport controls"].keys() >= {"none", "window", "dctcp"}
    assert all(what for room in ("topology kinds", "routings", "trace formats") for what in names[room].values())


def test_list_as_text(cli: CommandLine) -> None:
    text = cli.succeeds("list").out
    assert "rail_optimized_1024" in text
    assert "dctcp" in text
