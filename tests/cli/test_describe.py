"""`netsim describe` and `netsim list`: what is there, in words and in JSON."""

import json
from pathlib import Path

import pytest

from netsim.cli import main
from netsim.config import builtin_inputs

Capture = pytest.CaptureFixture[str]


def described(thing: str, capsys: Capture) -> dict[str, object]:
    assert main(["describe", thing, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert isinstance(answer, dict)
    return answer


def test_a_fat_tree(capsys: Capture) -> None:
    facts = described("fat_tree_k4_100g", capsys)
    assert (facts["hosts"], facts["switches"], facts["links"]) == (16, 20, 96)
    assert facts["bisection"] == "800 Gb/s"  # 8 hosts of 100 Gb/s send across, nothing is oversubscribed


def test_a_trace(capsys: Capture) -> None:
    facts = described("deepseek_v3_decode_16", capsys)
    assert facts["ranks"] == 16
    operations = facts["operations"]
    assert isinstance(operations, list)
    assert sum(row["times"] for row in operations) == facts["operations in all"]


def test_a_trace_of_ones_own(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "mine.jsonl"
    line = '{"op": "all_reduce", "group": "world", "bytes": 3072}\n'
    path.write_text('{"netsim": 1, "ranks": 3}\n' + 2 * line)
    assert described(str(path), capsys)["operations"] == [
        {"op": "all_reduce", "ranks": 3, "bytes": "3 KiB", "duration": "", "times": 2}
    ]


@pytest.mark.parametrize("name", [name for kind in ("topologies", "traces") for name in builtin_inputs.names(kind)])
def test_every_shipped_input_can_be_described(name: str, capsys: Capture) -> None:
    assert main(["describe", name]) == 0
    assert name in capsys.readouterr().out


def test_list_names_every_shipped_input(capsys: Capture) -> None:
    assert main(["list", "--json"]) == 0
    names = json.loads(capsys.readouterr().out)
    assert list(names["shipped topologies"]) == builtin_inputs.names("topologies")
    assert list(names["shipped traces"]) == builtin_inputs.names("traces")
    assert names["transport controls"].keys() >= {"none", "window", "dctcp"}
    assert all(what for room in ("topology kinds", "routings", "trace formats") for what in names[room].values())


def test_list_as_text(capsys: Capture) -> None:
    assert main(["list"]) == 0
    text = capsys.readouterr().out
    assert "rail_optimized_1024" in text
    assert "dctcp" in text
