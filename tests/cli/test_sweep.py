"""`netsim sweep`: runs, resumes, records failures; for kills see tests/study/test_interrupted.py."""

from pathlib import Path

import pandas as pd
import pytest

from tests.cli.command_line import CommandLine
from tests.inputs import saved
from tests.processes import loaded

SWEEP = "sweep study.toml --jobs 1"
STUDY = 'trace = "perm16"\ntopology = "fat_tree_k4_100g"\ntransport = "ideal"\n[grid]\nseed = [1, 2, 3]\n'


@pytest.fixture
def study(here: Path) -> Path:
    return saved(here / "study.toml", STUDY)


def results() -> pd.DataFrame:
    return pd.read_parquet("study_results/results.parquet")


@pytest.mark.usefixtures("study")
def test_a_row_per_point_with_the_figures_of_run(cli: CommandLine) -> None:
    told = cli.succeeds(SWEEP, "--html page.html --svg picture.svg").err
    assert "results of 3 points in study_results/results.parquet" in told
    table = results()
    assert list(table["seed"]) == [1, 2, 3]
    summary = cli.json("run perm16 --on fat_tree_k4_100g --preset ideal --seed 2")
    for name in ("completion_time_ps", "packet_hops", "bytes", "drops", "pauses"):
        assert table[name][1] == summary[name]
    assert Path("page.html").read_text().startswith("<!doctype html>")
    assert Path("picture.svg").read_text().startswith("<svg")


def test_what_is_finished_is_not_run_again(study: Path, monkeypatch: pytest.MonkeyPatch, cli: CommandLine) -> None:
    cli.succeeds(SWEEP)
    study.write_text(STUDY.replace("[1, 2, 3]", "[4, 3, 2, 1]"))  # a larger study in the same folder
    ran = []
    attempt = __import__("netsim.study.pool", fromlist=["attempt"]).attempt
    monkeypatch.setattr(
        "netsim.study.pool.Pool.run", lambda _, tasks: (ran.append(each) or attempt(each) for each in tasks)
    )
    assert "3 of 4 runs are finished already" in cli.succeeds(SWEEP).err
    assert [each.scenario.seed for each in ran] == [4]
    assert list(results()["seed"]) == [4, 3, 2, 1]


def test_equal_points_run_once(study: Path, cli: CommandLine) -> None:
    study.write_text(STUDY.replace("[1, 2, 3]", "[1, 1, 2]"))
    cli.succeeds(SWEEP)
    assert list(results()["seed"]) == [1, 1, 2]
    assert len(list(Path("study_results/points").iterdir())) == 2


def test_a_failed_point_stops_no_other(study: Path, cli: CommandLine) -> None:
    study.write_text(STUDY.replace("seed = [1, 2, 3]", 'trace = ["perm16", "perm128"]'))
    output = cli(SWEEP)
    assert output.code == 1
    assert "point 1 failed: the trace has 128 ranks and the network 16 hosts" in output.out
    assert "1 run failed" in output.err
    assert list(results()["status"]) == ["done", "failed"]
    assert pd.isna(results()["completion_time_ps"][1])
    failed = next(path for path in Path("study_results/points").iterdir() if '"failed"' in path.read_text())
    before = failed.stat().st_mtime_ns
    assert cli(SWEEP).code == 1
    assert failed.stat().st_mtime_ns == before
    assert cli(SWEEP, "--retry-failed").code == 1
    assert failed.stat().st_mtime_ns > before


@pytest.mark.usefixtures("study")
def test_a_broken_record_is_run_again(cli: CommandLine) -> None:
    cli.succeeds(SWEEP)
    before = Path("study_results/results.parquet").read_bytes()
    first, second, _ = sorted(Path("study_results/points").iterdir())
    first.write_text("{")
    second.write_text('{"digest": "another"}')
    cli.succeeds(SWEEP)
    assert Path("study_results/results.parquet").read_bytes() == before


@pytest.mark.usefixtures("study")
def test_a_dry_run_lists_and_leaves_nothing(cli: CommandLine) -> None:
    assert "3 points, 3 runs to do, 0 finished" in cli.succeeds(SWEEP, "--dry-run").out
    assert not Path("study_results").exists()
    assert [each["settings"] for each in cli.json(SWEEP, "--dry-run")] == [{"seed": 1}, {"seed": 2}, {"seed": 3}]


@pytest.mark.usefixtures("study")
def test_a_strange_folder_is_left_alone(cli: CommandLine) -> None:
    Path("mine").mkdir()
    Path("mine/letter.txt").write_text("dear")
    told = "netsim: mine: is not empty and holds no study; give a new folder\n"
    assert cli.refused(SWEEP, "--out mine") == told
    assert [path.name for path in Path("mine").iterdir()] == ["letter.txt"]
    assert cli.refused("sweep nothing.toml").startswith("netsim: nothing.toml: No such file")


@pytest.mark.usefixtures("study")
def test_json(cli: CommandLine) -> None:
    rows = cli.json(SWEEP)
    assert [row["seed"] for row in rows] == [1, 2, 3]
    assert {row["status"] for row in rows} == {"done"}


def test_a_warning_is_said_once(study: Path, cli: CommandLine) -> None:
    study.write_text(STUDY.replace('"ideal"', '"dctcp"') + 'routing.kind = ["spray"]\n')
    assert cli.succeeds(SWEEP).err.count("spray reorders packets") == 1


LIGHT = """
from pathlib import Path
from netsim.kernel.cache import is_kept
from netsim.study.folder import StudyFolder
from netsim.study.plan import read_plan
from netsim.study.pool import pool_of
from netsim.study.sweep import work_of
work_of(read_plan(Path("{study}")), StudyFolder(Path("results")))
pool_of("local", None, 2), is_kept("engine.advance")
"""


def test_processes_are_started_before_anything_heavy_is_loaded(study: Path) -> None:
    """They load it at the same time; a reader of the study who had done so would only make them wait."""
    assert not {"numba", "pandas", "pyarrow", "simpy"} & loaded(LIGHT.format(study=study))
