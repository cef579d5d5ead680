"""How much faster a sweep is on several cores than on one.

    python benchmarks/sweep_speed.py
    python benchmarks/sweep_speed.py --points 96 --jobs 4 --repeat 5

The same sweep with --jobs 1 and with --jobs N, in turn, each a process of its own with a folder of its own: wall time
from start to end, Python's start and the writing of the table included. Best and median of the repetitions. Every
process takes some seconds of processor time to start and to load the compiled core, so short sweeps gain less: a point
of the default takes about 0.8 s on a quiet machine. Works in a temporary folder; needs a quiet machine.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent
STUDY = """
trace = "{trace}"
topology = "{topology}"
transport.preset = "uec"
[grid]
seed = {{ from = 1, to = {points} }}
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=96)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--trace", default=str(HOME / "benchmarks" / "gallery" / "dense_128.jsonl"))
    parser.add_argument("--topology", default="fat_tree_k8_400g")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        study = Path(folder) / "study.toml"
        study.write_text(STUDY.format(trace=chosen.trace, topology=chosen.topology, points=1))
        seconds(study, 1)  # compiles, and fills the file cache
        study.write_text(STUDY.format(trace=chosen.trace, topology=chosen.topology, points=chosen.points))
        measured: dict[int, list[float]] = {1: [], chosen.jobs: []}
        for _ in range(chosen.repeat):
            for jobs, found in measured.items():
                found.append(seconds(study, jobs))
    show(measured, chosen.jobs, chosen.points, as_json=chosen.json)


def seconds(study: Path, jobs: int) -> float:
    """The wall time of one sweep in a fresh folder, in seconds."""
    environment = {**os.environ, "PYTHONPATH": str(HOME)}
    with tempfile.TemporaryDirectory(dir=study.parent) as out:
        command = [sys.executable, "-P", "-m", "netsim", "sweep", str(study), "--jobs", str(jobs), "--out", out]
        began = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, env=environment)
        return time.perf_counter() - began


def show(measured: dict[int, list[float]], jobs: int, points: int, *, as_json: bool) -> None:
    """One line per number of cores, and the ratio."""
    best = min(measured[1]) / min(measured[jobs])
    middle = statistics.median(measured[1]) / statistics.median(measured[jobs])
    if as_json:
        print(json.dumps({"points": points, "seconds": measured, "times_best": best, "times_median": middle}))
        return
    for each, found in measured.items():
        print(f"{each} at once: best {min(found):.2f} s, median {statistics.median(found):.2f} s for {points} points")
    print(f"{jobs} at once are {best:.2f} times as fast as one (best), {middle:.2f} (median)")


if __name__ == "__main__":
    main()
