"""The benchmarks run, and simulate what htsim did."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


def test_core_speed_tells_what_it_measured() -> None:
    command = [sys.executable, str(BENCHMARKS / "core_speed.py"), "--only", "ring16", "--repeat", "1", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    (row,) = json.loads(done.stdout)
    assert row["hops_as_htsim"]
    assert row["last_data_exact"]
    assert row["hops"] == 1_835_008
    assert row["mega_hops_per_second"] * row["core_seconds"] * 1e6 == pytest.approx(row["hops"])
    assert row["ratio"] > row["ratio_with_setup"] > 0
    assert row["peak_bytes"] >= row["peak_bytes_before"] > 0


def test_core_speed_names_its_scenarios() -> None:
    command = [sys.executable, str(BENCHMARKS / "core_speed.py"), "--only", "rung"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "ring16" in done.stderr


@pytest.mark.parametrize("name", ["nccl_calls", "chakra", "goal"])
def test_readers_tells_what_it_measured(name: str) -> None:
    command = [sys.executable, str(BENCHMARKS / "readers.py"), "--only", name, "--megabytes", "0.05", "--json"]
    (row,) = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert row["format"] == name
    assert row["megabytes"] == pytest.approx(0.05, rel=0.5)
    assert row["records"] > 50
    assert row["megabytes_per_second"] * row["seconds"] == pytest.approx(row["megabytes"])


def test_fuzz_readers_tries_files(tmp_path: Path) -> None:
    command = [sys.executable, str(BENCHMARKS / "fuzz_readers.py"), "--only", "goal_binary", "--seconds", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "refused" in done.stdout
    assert not (tmp_path / "fuzz_found").exists()
