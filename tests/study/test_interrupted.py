"""Sweeps that are killed, interrupted, or done by a cluster: the same table in the end, and nothing done twice."""

import os
import signal
from pathlib import Path

import pandas as pd
import pytest

from tests.processes import finished
from tests.study.processes import dask_cluster, sweep, wait_for_points, wait_until_gone

POINTS = 24


def files(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """The points' files: which file on disk, when written, what is in it."""
    found = (folder / "study_results" / "points").glob("*.json")
    return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns, path.read_bytes()) for path in found}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The table of a sweep that nothing disturbs, in one process."""
    folder = tmp_path_factory.mktemp("undisturbed")
    code, _, err = finished(sweep(folder, "--jobs", "1"))
    assert code == 0, err
    return (folder / "study_results" / "results.parquet").read_bytes()


@pytest.mark.slow
def test_killed_half_way_it_goes_on(tmp_path: Path, undisturbed: bytes) -> None:
    process = sweep(tmp_path, "--jobs", "2")
    wait_for_points(tmp_path / "study_results", 8)
    os.killpg(process.pid, signal.SIGKILL)  # the whole group, workers too: nobody can tidy up
    finished(process)
    before = files(tmp_path)
    assert 8 <= len(before) < POINTS
    code, _, err = finished(sweep(tmp_path, "--jobs", "2"))
    assert code == 0, err
    assert f"{len(before)} of {POINTS} runs are finished already" in err
    after = files(tmp_path)
    assert len(after) == POINTS
    assert {name: after[name] for name in before} == before, "what was finished was not run again"
    table = pd.read_parquet(tmp_path / "study_results" / "results.parquet")
    assert len(table) == table["digest"].nunique() == POINTS
    assert set(table["status"]) == {"done"}
    assert (tmp_path / "study_results" / "results.parquet").read_bytes() == undisturbed


@pytest.mark.slow
def test_interrupted_it_ends_and_keeps_what_is_done(tmp_path: Path) -> None:
    process = sweep(tmp_path, "--jobs", "2")
    wait_for_points(tmp_path / "study_results", 4)
    os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C does
    code, out, err = finished(process)
    assert code == 130, err
    assert out == ""
    assert "runs are finished and kept; the same command goes on from there" in err
    assert err.rstrip().endswith("netsim: interrupted")
    assert "Traceback" not in err
    wait_until_gone(process.pid)
    kept = files(tmp_path)
    assert 4 <= len(kept) < POINTS
    assert len(pd.read_parquet(tmp_path / "study_results" / "results.parquet")) == len(kept)


@pytest.mark.slow
def test_killed_alone_it_leaves_no_worker_behind(tmp_path: Path) -> None:
    """As by `kill -9` of the sweep: its workers, of which nobody tells, end by themselves."""
    process = sweep(tmp_path, "--jobs", "2")
    wait_for_points(tmp_path / "study_results", 2)
    process.kill()
    finished(process)
    wait_until_gone(process.pid)
    kept = len(files(tmp_path))
    assert 2 <= kept < POINTS
    code, _, err = finished(sweep(tmp_path, "--jobs", "2"))
    assert code == 0, err


@pytest.mark.slow
def test_a_cluster_gives_the_same_table(tmp_path: Path, undisturbed: bytes) -> None:
    pytest.importorskip("distributed")
    with dask_cluster(tmp_path, workers=2) as address:
        code, _, err = finished(sweep(tmp_path, "--backend", "dask", "--scheduler", address))
        assert code == 0, err
        assert (tmp_path / "study_results" / "results.parquet").read_bytes() == undisturbed
        assert all(line.startswith("netsim: ") for line in err.splitlines()), "no chatter of the cluster"
        first = files(tmp_path)
        code, _, err = finished(sweep(tmp_path, "--backend", "dask", "--scheduler", address))
        assert (code, files(tmp_path)) == (0, first), err
    code, _, err = finished(sweep(tmp_path, "--out", "new", "--backend", "dask", "--scheduler", "tcp://127.0.0.1:9"))
    assert code == 2
    assert "no scheduler answers" in err
    assert len(err.splitlines()) == 1
