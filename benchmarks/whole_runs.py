"""How long a person waits: the command line from start to end, the first time (compiling) and the second.

    python benchmarks/whole_runs.py
    python benchmarks/whole_runs.py --large

--large adds a 1 GiB ring all-reduce over the 1,024 GPUs of rail_optimized_1024, every packet simulated: minutes. Wall
time of the whole process, and the most memory it held. Works in a temporary folder; writes nothing else.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent
RUNS = (
    ("perm16", "fat_tree_k4_100g"),
    ("incast16", "fat_tree_k4_100g"),
    ("perm128", "fat_tree_k8_100g"),
    ("ring_all_reduce_16", "rail_optimized_16"),
    ("tree_all_reduce_16", "rail_optimized_16"),
    ("all_to_all_16", "leaf_spine_32_4to1"),
    ("deepseek_v3_decode_16", "fat_tree_k4_400g"),
    ("deepseek_v3_decode_16", "rail_optimized_16"),
    ("deepseek_v3_prefill_16", "fat_tree_k4_400g"),
    ("deepseek_v3_prefill_16", "rail_optimized_16"),
)
LARGE = (
    '{"netsim": 1, "ranks": 1024}\n{"op": "all_reduce", "group": "world", "bytes": 1073741824, "algorithm": "ring"}\n'
)
MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class Call:
    """One command: seconds by the clock, and what its summary says."""

    seconds: float
    peak_mebibytes: float = 0.0
    packet_hops: int = 0


def main() -> None:
    """Run everything and print a line for each."""
    parser = argparse.ArgumentParser(description="Wall time of netsim's commands.")
    parser.add_argument("--large", action="store_true", help="also 1 GiB over 1,024 GPUs (minutes)")
    large = parser.parse_args().large
    print(f"{'command':<58}{'wall s':>9}{'peak MiB':>10}{'packet-hops':>15}")
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "cache"
        show("netsim --help", best(["--help"], cache))
        trace, fabric = RUNS[0]
        show(f"netsim run {trace} --on {fabric}, the first ever", run(trace, fabric, cache))
        for trace, fabric in RUNS:
            show(f"netsim run {trace} --on {fabric}", best(["run", trace, "--on", fabric, "--json"], cache))
        if large:
            path = Path(folder) / "ring_1gib_1024.jsonl"
            path.write_text(LARGE, encoding="utf-8")
            show("1 GiB ring all-reduce on rail_optimized_1024", run(str(path), "rail_optimized_1024", cache))


def run(trace: str, fabric: str, cache: Path) -> Call:
    """`netsim run` once."""
    return call(["run", trace, "--on", fabric, "--json"], cache)


def best(arguments: list[str], cache: Path, times: int = 3) -> Call:
    """The fastest of a few calls."""
    return min((call(arguments, cache) for _ in range(times)), key=lambda each: each.seconds)


def call(arguments: list[str], cache: Path) -> Call:
    """Run the command line in a process of its own, with its compiled kernels in `cache`."""
    environment = os.environ | {"NETSIM_CACHE_DIR": str(cache), "PYTHONPATH": str(HOME)}
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "netsim", *arguments], capture_output=True, text=True, env=environment, check=False
    )
    seconds = time.perf_counter() - began
    if done.returncode:
        sys.exit(f"netsim {' '.join(arguments)} failed:\n{done.stderr}")
    if "--json" not in arguments:
        return Call(seconds)
    summary = json.loads(done.stdout)
    return Call(seconds, summary["peak_memory_bytes"] / MEBIBYTE, summary["packet_hops"])


def show(name: str, each: Call) -> None:
    """One line, at once."""
    hops, peak = (f"{each.packet_hops:,}", f"{each.peak_mebibytes:,.0f}") if each.packet_hops else ("", "")
    print(f"{name:<58}{each.seconds:>9.2f}{peak:>10}{hops:>15}".rstrip(), flush=True)


if __name__ == "__main__":
    main()
