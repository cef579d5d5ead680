"""`netsim profile`, and --fill-missing-ranks where it stands: what is printed, saved, refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from netsim.cli import main
from netsim.cli.work import scenario_of
from netsim.errors import InputError
from tests.traces.nccl.nccl_lines_of import call, world


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    code = main([str(each) for each in arguments])
    output = capsys.readouterr()
    return code, output.out, output.err


def printed(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> Any:
    code, out, err = run(capsys, *arguments, "--json")
    assert code == 0, err
    return json.loads(out)


@pytest.fixture
def half(tmp_path: Path) -> Path:
    """The log of two ranks of four."""
    path = tmp_path / "half.log"
    path.write_text("\n".join([*world(4)[:2], call(100, 0xA0, 4, count=1600), call(101, 0xA1, 4, count=1600)]) + "\n")
    return path


def test_tables_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "profile", "deepseek_v3_decode_16")
    assert (code, err) == (0, "")
    assert "all_reduce    181  2,594,816" in out


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    table = printed(capsys, "profile", "deepseek_v3_decode_16")
    assert [(row["op"], row["count"]) for row in table["operations"]] == [("all_reduce", 181), ("all_gather", 1)]
    assert {"operations", "sizes", "groups", "read"} <= table.keys()


def test_the_logs_of_one_job_in_a_folder_or_by_a_pattern(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for rank in range(2):
        lines = [world(2)[rank], call(100 + rank, 0xA0 + rank, 2)]
        (tmp_path / f"rank{rank}.log").write_text("\n".join(lines) + "\n")
    for named in (tmp_path, tmp_path / "rank*.log"):
        table = printed(capsys, "profile", named)
        assert [(row["op"], row["count"], row["bytes_total"]) for row in table["operations"]] == [("all_reduce", 1, 40)]
        assert (table["read"]["files"], table["read"]["ranks_seen"]) == (2, 2)


def test_placement(capsys: pytest.CaptureFixture[str]) -> None:
    packed = printed(capsys, "profile", "all_to_all_16", "--on", "rail_optimized_16")["traffic"]
    assert packed["share_leaving_server"] == pytest.approx(8 / 15)
    one = printed(capsys, "profile", "all_to_all_16", "--on", "rail_optimized_128", "--set", "placement.kind=random")
    assert one["traffic"]["share_leaving_server"] > 8 / 15
    tree = printed(
        capsys, "profile", "ring_all_reduce_16", "--on", "rail_optimized_16", "--algorithm", "all_reduce=tree"
    )
    assert tree["traffic"]["bytes"] > 0


def test_jobs_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    jobs = printed(capsys, "profile", "--compare", "deepseek_v3_decode_16", "deepseek_v3_prefill_16")["jobs"]
    assert [job["operations"][0]["bytes_median"] for job in jobs] == [14_336, 14_680_064]


def test_saved_tables_and_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, folder = tmp_path / "p.html", tmp_path / "out"
    code, _, err = run(capsys, "profile", "incast16", "--out", folder, "--html", page)
    assert code == 0
    assert err.splitlines() == [f"netsim: saved in {folder}", f"netsim: plots in {page}"]
    assert (folder / "profile.json").is_file()
    assert '<div id="plot0"' in page.read_text()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--compare", "perm16", "incast16", "--out", "x"], "one folder holds one profile"),
        (["perm16", "--set", "placement.kind=random"], "add --on TOPOLOGY"),
        (["perm16", "--html", "nowhere/p.html"], "name a file in a folder that is there"),
        (["no_such_trace"], "no file and no shipped trace"),
        (["perm16", "--on", "no_such_fabric"], "no_such_fabric"),
    ],
)
def test_mistakes_are_one_line_that_names_the_mend(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "profile", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert says in err


def test_missing_ranks_are_told_and_filled_in_only_when_asked(half: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = printed(capsys, "profile", half)
    assert [row["rank"] for row in told["per_rank"]] == [0, 1]
    assert told["traffic"]["bytes"] == 3 * 2 * 3 * 1600  # three of the ring's four edges have a seen end
    assert any("2 of 4 ranks" in each for each in told["read"]["findings"])
    assert not any("symmetry" in each for each in told["notes"])
    filled = printed(capsys, "profile", half, "--fill-missing-ranks")
    assert any("by symmetry" in each for each in filled["read"]["assumed"])
    assert filled["read"]["findings"] == []


def test_describe_and_run_refuse_missing_ranks_unless_asked(half: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["describe", half], ["run", half, "--on", "fat_tree_k4_100g"]):
        code, _, err = run(capsys, *command)
        assert code == 2
        assert "--fill-missing-ranks" in err
    code, out, _ = run(capsys, "describe", half, "--fill-missing-ranks")
    assert code == 0
    assert "by symmetry" in out
    scenario = scenario_of([str(half)], "fat_tree_k4_100g", [], fill=True)
    assert scenario.trace.operations[0].ranks == (0, 1, 2, 3)


def test_a_scenario_holds_a_whole_trace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "s.toml"
    path.write_text('trace = "all_to_all_16"\ntopology = "rail_optimized_16"\n')
    assert printed(capsys, "profile", path)["traffic"]["share_leaving_server"] == pytest.approx(8 / 15)
    with pytest.raises(InputError, match="a scenario holds a whole trace"):
        scenario_of([str(path)], None, [], fill=True)
