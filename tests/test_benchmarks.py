"""The benchmarks run, and simulate what htsim did."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from netsim.study.chart import axes_of
from netsim.study.plan import read_plan

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


def ran(script: str, options: str, **more: Any) -> subprocess.CompletedProcess[str]:
    """A benchmark in a process of its own."""
    command = [sys.executable, str(BENCHMARKS / script), *options.split()]
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)


def test_core_speed_tells_what_it_measured() -> None:
    (row,) = json.loads(ran("core_speed.py", "--only ring16 --repeat 1 --json").stdout)
    assert row["hops_as_htsim"]
    assert row["last_data_exact"]
    assert row["hops"] == 1_835_008
    assert row["mega_hops_per_second"] * row["core_seconds"] * 1e6 == pytest.approx(row["hops"])
    assert row["ratio"] > row["ratio_with_setup"] > 0
    assert row["peak_bytes"] >= row["peak_bytes_before"] > 0


def test_core_speed_names_its_scenarios() -> None:
    done = ran("core_speed.py", "--only rung")
    assert done.returncode == 1
    assert "ring16" in done.stderr


@pytest.mark.parametrize("name", ["nccl_calls", "chakra", "goal"])
def test_readers_tells_what_it_measured(name: str) -> None:
    (row,) = json.loads(ran("readers.py", f"--only {name} --megabytes 0.05 --json").stdout)
    assert row["format"] == name
    assert row["megabytes"] == pytest.approx(0.05, rel=0.5)
    assert row["records"] > 50
    assert row["megabytes_per_second"] * row["seconds"] == pytest.approx(row["megabytes"])


def test_fuzz_readers_tries_files(tmp_path: Path) -> None:
    done = ran("fuzz_readers.py", "--only goal_binary --seconds 1", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "refused" in done.stdout
    assert not (tmp_path / "fuzz_found").exists()


def test_sweep_speed_tells_what_it_measured() -> None:
    options = "--points 2 --repeat 1 --trace perm16 --topology fat_tree_k4_100g --json"
    found = json.loads(ran("sweep_speed.py", options).stdout)
    (one,), (two,) = found["seconds"]["1"], found["seconds"]["2"]
    assert found["times_best"] == found["times_median"] == pytest.approx(one / two)


@pytest.mark.parametrize("study", ["rails", "spray", "oversubscription"])
def test_the_gallery_shows_what_its_studies_are(study: str) -> None:
    """benchmarks/gallery/make.py draws the pictures; the lines and places in them are those of the study."""
    gallery = BENCHMARKS / "gallery"
    plan = read_plan(gallery / f"{study}.toml")
    x, by = axes_of(plan)
    picture = (gallery / f"{study}.svg").read_text(encoding="utf-8")
    assert plan.picture.title in picture
    assert f">{x}</text>" in picture
    assert "mean and 95 % interval of 5 seeds" in picture
    assert f"]({study}.svg)" in (gallery / "README.md").read_text(encoding="utf-8")
    for key in by:
        assert all(str(point.settings[key]).partition(".")[0] in picture for point in plan.points)


def test_packet_units_hears_what_a_run_says_of_its_packets() -> None:
    done = ran("packet_units.py", "--only all_reduce --size 4MiB --preset ideal --payload 64KiB --payload 4KiB")
    large, usual, summary = done.stdout.splitlines()
    assert "64 KiB" in large
    assert "told +" in large
    assert "+0.0%" in usual
    assert "told" not in usual
    assert summary.startswith("2 runs: 0 above 2% without a word")


def test_every_mutation_has_its_place_and_its_tests() -> None:
    rows = tomllib.loads((BENCHMARKS / "mutations.toml").read_text(encoding="utf-8"))["mutation"]
    places = [(row["file"], row["old"]) for row in rows]
    assert [(file, old) for file, old in places if (BENCHMARKS.parent / file).read_text().count(old) != 1] == []
    tests = {test.partition("::")[0] for row in rows for test in row["tests"] if not test.startswith("-")}
    assert [test for test in sorted(tests) if not (BENCHMARKS.parent / test).exists()] == []
