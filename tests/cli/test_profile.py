"""`netsim profile`, and --fill-missing-ranks where it stands: what is printed, saved, refused."""

from pathlib import Path

import pytest

from netsim.cli.work import scenario_of
from tests.cli.command_line import CommandLine
from tests.inputs import refusal, saved
from tests.traces.nccl.nccl_lines_of import call, world


@pytest.fixture
def half(tmp_path: Path) -> Path:
    """The log of two ranks of four."""
    calls = [call(100 + rank, 0xA0 + rank, 4, count=1600) for rank in (0, 1)]
    return saved(tmp_path / "half.log", [*world(4)[:2], *calls])


def test_tables_by_default(cli: CommandLine) -> None:
    code, out, err = cli("profile deepseek_v3_decode_16")
    assert (code, err) == (0, "")
    assert "all_reduce    181  2,594,816" in out


def test_the_logs_of_one_job_in_a_folder_or_by_a_pattern(tmp_path: Path, cli: CommandLine) -> None:
    for rank in range(2):
        saved(tmp_path / f"rank{rank}.log", [world(2)[rank], call(100 + rank, 0xA0 + rank, 2)])
    for named in (tmp_path, tmp_path / "rank*.log"):
        table = cli.json("profile", named)
        assert [(row["op"], row["count"], row["bytes_total"]) for row in table["operations"]] == [("all_reduce", 1, 40)]
        assert (table["read"]["files"], table["read"]["ranks_seen"]) == (2, 2)


def test_placement(cli: CommandLine) -> None:
    packed = cli.json("profile all_to_all_16 --on rail_optimized_16")["traffic"]
    assert packed["share_leaving_server"] == pytest.approx(8 / 15)
    one = cli.json("profile all_to_all_16 --on rail_optimized_128 --set placement.kind=random")
    assert one["traffic"]["share_leaving_server"] > 8 / 15
    tree = cli.json("profile ring_all_reduce_16 --on rail_optimized_16 --algorithm all_reduce=tree")
    assert tree["traffic"]["bytes"] > 0


def test_jobs_side_by_side(cli: CommandLine) -> None:
    jobs = cli.json("profile --compare deepseek_v3_decode_16 deepseek_v3_prefill_16")["jobs"]
    assert [job["operations"][0]["bytes_median"] for job in jobs] == [14_336, 14_680_064]


def test_saved_tables_and_page(tmp_path: Path, cli: CommandLine) -> None:
    page, folder = tmp_path / "p.html", tmp_path / "out"
    told = cli.succeeds("profile incast16 --out", folder, "--html", page).err
    assert told.splitlines() == [f"netsim: saved in {folder}", f"netsim: plots in {page}"]
    assert (folder / "profile.json").is_file()
    assert '<div id="plot0"' in page.read_text()


def test_missing_ranks_are_told_and_filled_in_only_when_asked(half: Path, cli: CommandLine) -> None:
    told = cli.json("profile", half)
    assert [row["rank"] for row in told["per_rank"]] == [0, 1]
    assert told["traffic"]["bytes"] == 3 * 2 * 3 * 1600  # three of the ring's four edges have a seen end
    assert any("2 of 4 ranks" in each for each in told["read"]["findings"])
    assert not any("symmetry" in each for each in told["notes"])
    filled = cli.json("profile", half, "--fill-missing-ranks")
    assert any("by symmetry" in each for each in filled["read"]["assumed"])
    assert filled["read"]["findings"] == []


def test_describe_and_run_refuse_missing_ranks_unless_asked(half: Path, cli: CommandLine) -> None:
    for command in (["describe", half], ["run", half, "--on", "fat_tree_k4_100g"]):
        assert "--fill-missing-ranks" in cli.refused(*command)
    assert "by symmetry" in cli.succeeds("describe", half, "--fill-missing-ranks").out
    scenario = scenario_of([str(half)], "fat_tree_k4_100g", [], fill=True)
    assert scenario.trace.operations[0].ranks == (0, 1, 2, 3)


def test_a_scenario_holds_a_whole_trace(tmp_path: Path, cli: CommandLine) -> None:
    path = saved(tmp_path / "s.toml", 'trace = "all_to_all_16"\ntopology = "rail_optimized_16"\n')
    assert cli.json("profile", path)["traffic"]["share_leaving_server"] == pytest.approx(8 / 15)
    assert "a scenario holds a whole trace" in refusal(scenario_of, [str(path)], None, [], fill=True)
