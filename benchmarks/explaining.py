"""How long `netsim explain` takes for collectives of many packets, and how much memory it holds.

    python benchmarks/explaining.py
    python benchmarks/explaining.py --large

Each is run and saved first; then explained in a process of its own. --large adds a 1 GiB ring all-reduce over the
fat tree of 128 and over 1,024 GPUs: up to an hour. Works in a temporary folder; writes nothing else.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent
CASES = (  # operation, bytes, ranks, topology
    ("all_to_all", 64 << 20, 128, "fat_tree_k8_400g"),
    ("all_reduce", 1 << 30, 128, "rail_optimized_128"),
)
LARGE = (
    ("all_reduce", 1 << 30, 128, "fat_tree_k8_400g"),
    ("all_reduce", 1 << 30, 1024, "rail_optimized_1024"),
)
KIBIBYTES = 1 << 10


def main() -> None:
    """Run, save and explain everything; print a line for each."""
    parser = argparse.ArgumentParser(description="Time and memory of netsim explain.")
    parser.add_argument("--large", action="store_true", help="also 1 GiB over a fat tree of 128, and over 1,024 GPUs")
    is_large = parser.parse_args().large
    print(f"{'collective':<62}{'run s':>8}{'explain s':>11}{'CPU s':>8}{'peak MiB':>10}  exact")
    for op, size, ranks, topology in CASES + (LARGE if is_large else ()):
        with tempfile.TemporaryDirectory() as folder:
            trace, saved = Path(folder) / "trace.jsonl", Path(folder) / "saved"
            head, row = {"netsim": 1, "ranks": ranks}, {"op": op, "group": "world", "bytes": size}
            trace.write_text(f"{json.dumps(head)}\n{json.dumps(row)}\n", encoding="utf-8")
            run_s, *_ = timed(["run", str(trace), "--on", topology, "--out", str(saved)])
            explain_s, cpu_s, peak, text = timed(["explain", str(saved), "--json"])
            found = json.loads(text)["collectives"]
            is_exact = all(sum(each["parts_ps"].values()) == each["time_ps"] for each in found)
            name = f"{op}, {size >> 20:,} MiB over {ranks:,} ranks of {topology}"
            print(f"{name:<62}{run_s:>8.1f}{explain_s:>11.1f}{cpu_s:>8.1f}{peak:>10,.0f}  {is_exact}", flush=True)


def timed(arguments: list[str]) -> tuple[float, float, float, str]:
    """Seconds by the clock and of the processor, the most memory held (MiB), and what netsim printed."""
    began = time.perf_counter()
    command = [sys.executable, "-P", "-m", "netsim", *arguments]
    path = {"PYTHONPATH": os.pathsep.join([str(HOME), os.environ.get("PYTHONPATH", "")])}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | path) as process:
        assert process.stdout is not None
        text = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"netsim {' '.join(arguments)} failed")
    return time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / KIBIBYTES, text


if __name__ == "__main__":
    main()
