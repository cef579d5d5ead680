"""`netsim explain`: what it prints, its JSON, and what it says of a folder that it cannot explain."""

import gzip
import json
import shutil
from functools import partial
from pathlib import Path

import pytest

import netsim
from netsim.explain import KINDS
from netsim.explain.chunks import chunks_of
from tests.cli.command_line import CommandLine
from tests.processes import HOME


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "several"
    netsim.simulate("all_to_all_16", "leaf_spine_32_4to1").save(folder)
    return folder


def test_says_which_link_and_why(saved: Path, cli: CommandLine) -> None:
    first, parts, worst, *_ = cli.succeeds("explain", saved).out.splitlines()
    assert first.startswith("collective 0: flows, 32 MB, ")
    assert "propagation" in parts
    assert "serialisation" in parts
    share, text = worst.strip().split(" ", 1)
    assert 0 < float(share) <= 100
    assert text.startswith("% of the lost time is ")
    assert text.endswith("(ECMP collision)")
    assert " shared by 2 flows" in text


def test_json_has_the_shape_that_was_promised(several: Path, cli: CommandLine) -> None:
    value = cli.json("explain", several)
    assert list(value) == ["collectives", "job"]
    for each in value["collectives"]:
        assert list(each) == ["id", "time_ps", "parts_ps", "links", "reason"]
        assert list(each["parts_ps"]) == list(KINDS)
        assert sum(each["parts_ps"].values()) == each["time_ps"]
        assert all({"link", "kind", "parts_ps"} <= set(link) for link in each["links"])
    assert list(value["job"]) == ["time_ps", "parts_ps", "links", "reason"]
    assert value["job"]["time_ps"] == sum(each["time_ps"] for each in value["collectives"])
    lost = sum(value["job"]["parts_ps"].values()) - sum(value["job"]["parts_ps"][kind] for kind in KINDS[:2])
    assert sum(sum(link["parts_ps"].values()) for link in value["job"]["links"]) == lost


def test_several_are_told_together_and_one_alone(several: Path, cli: CommandLine) -> None:
    whole = cli.succeeds("explain", several).out
    assert whole.count("collective ") >= 3
    assert "all 3 collectives together" in whole
    assert "cause" in whole
    alone = cli.succeeds("explain", several, "--collective 1").out
    assert alone.strip() in whole
    assert "together" not in alone


def test_the_readme_shows_what_it_says(saved: Path, cli: CommandLine) -> None:
    shown = f"$ netsim explain slow\n{cli.succeeds('explain', saved).out}```\n"
    assert shown in (HOME / "README.md").read_text(encoding="utf-8")


@pytest.mark.usefixtures("here")
def test_the_examples_of_its_help_work_one_after_the_other(cli: CommandLine) -> None:
    shown = cli.succeeds("explain --help").out.splitlines()
    lines = [line.strip().removeprefix("netsim ") for line in shown if line.strip().startswith("netsim ")]
    assert [cli(line).code for line in lines] == [0, 0, 0, 0]
    assert "\n  explain " in cli.succeeds("--help").out


def test_what_cannot_be_explained_is_said_in_one_line(saved: Path, tmp_path: Path, cli: CommandLine) -> None:
    assert "no collective 7; give an id from 0 to 0" in cli.refused("explain", saved, "--collective 7")
    copy = shutil.copytree(saved, tmp_path / "copy")
    (copy / "trace.jsonl.gz").unlink()
    assert "trace.jsonl.gz" in cli.refused("explain", copy)


def test_times_that_this_netsim_would_not_give_are_refused(saved: Path, tmp_path: Path, cli: CommandLine) -> None:
    import pandas as pd

    from netsim.result import Result
    from netsim.result.folder import write_parquet

    copy = shutil.copytree(saved, tmp_path / "copy")
    table: pd.DataFrame = Result.load(copy).collectives
    write_parquet(table.assign(time_ps=table["time_ps"] + 1), "collectives", copy / "collectives.parquet")
    assert "no longer takes the time that was saved" in cli.refused("explain", copy)


def test_its_timeline_shows_single_chunk_flows(several: Path, cli: CommandLine) -> None:
    """Those of all collectives, or of one."""
    found = []
    for which in ("", "--detail chunks", "--detail chunks --collective 1"):
        assert "left out" not in cli.succeeds("trace", several, which).err
        with gzip.open(several / "run.perfetto.json.gz", "rt", encoding="utf-8") as file:
            found.append(sum(event.get("cat") == "chunk" for event in json.load(file)["traceEvents"]))
    assert found == [0, 3 * 16 * 15, 16 * 15]


def test_a_timeline_of_too_much_says_so(several: Path, cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netsim.explain.chunks.chunks_of", partial(chunks_of, most=100))
    told = cli.succeeds("trace", several, "--detail chunks").err
    assert "left out 620 of 720 chunk flows" in told
    assert "--collective ID draws those of one collective" in told


def test_mistakes_of_a_timeline_are_one_line(several: Path, cli: CommandLine) -> None:
    for which, told in (
        ("--collective 1", "add --detail chunks"),
        ("--detail chunks --collective 9", "no collective 9; give an id from 0 to 2"),
        ("--detail all", "'all' is not one of 'chunks'"),
    ):
        assert told in cli.refused("trace", several, which)
