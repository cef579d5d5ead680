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
