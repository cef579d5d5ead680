"""Sweeps as processes of their own, that can be killed; and a Dask cluster of real processes."""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.processes import PATIENCE, started

STUDY = """
trace = "perm16"
topology = "fat_tree_k4_100g"
[grid]
transport.preset = ["dctcp", "ideal"]
routing.kind = ["ecmp", "single"]
seed = { from = 1, to = 6 }
"""  # 24 points


def sweep(folder: Path, *options: str) -> subprocess.Popen[str]:
    """A sweep of STUDY that runs in `folder`."""
    (folder / "study.toml").write_text(STUDY)
    return started("-m", "netsim", "sweep", "study.toml", *options, folder=folder)


def wait_for_points(results: Path, count: int) -> None:
    """Come back when so many points are finished."""
    for _ in range(PATIENCE * 100):
        if len(list((results / "points").glob("*.json"))) >= count:
            return
        time.sleep(0.01)
    raise TimeoutError(f"no {count} points in {results}")


def wait_until_gone(group: int) -> None:
    """Come back when no process of a group is left; loky's tracker of resources tidies up after the others."""
    for _ in range(300):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    raise TimeoutError(f"processes of group {group} go on")


@contextmanager
def dask_cluster(folder: Path, workers: int) -> Iterator[str]:
    """A scheduler and some workers, each a process; gives the scheduler's address."""
    file = folder / "scheduler.json"
    quiet = ["--scheduler-file", str(file), "--no-dashboard"]
    scheduler = ["-m", "distributed.cli.dask_scheduler", *quiet, "--host", "127.0.0.1", "--port", "0"]
    worker = ["-m", "distributed.cli.dask_worker", *quiet, "--no-nanny", "--nthreads", "1", "--host", "127.0.0.1"]
    processes = [started(*words, folder=folder) for words in [scheduler, *[worker] * workers]]
    try:
        yield _address(file)
    finally:
        for process in processes:
            process.kill()  # asked to end, a worker whose scheduler is gone may wait for it for ever
        for process in processes:
            process.communicate(timeout=PATIENCE)


def _address(file: Path) -> str:
    for _ in range(PATIENCE * 10):
        if file.exists() and file.read_text():
            return str(json.loads(file.read_text())["address"])
        time.sleep(0.1)
    raise TimeoutError("the scheduler does not start")
