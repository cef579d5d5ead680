"""How fast the packet core is, in the scenarios in which htsim was measured: line-rate senders, unbounded buffers.

    python benchmarks/core_speed.py
    python benchmarks/core_speed.py --only ring --repeat 5 --json
    python benchmarks/core_speed.py --pfc

With --pfc links pause as in htsim's model (PAUSE above 15 * 4096 bytes of an ingress, RESUME below 12 * 4096), so the
times of the incasts are those of lossless Ethernet; without, queues have no limit.

Every repetition is a process of its own, so that its peak memory is that of one scenario. "core" is the simulation
itself, from the first packet to the last ACK, by the clock and in CPU time (the core runs on one thread: on a quiet
machine both are the same); "set-up" is building the network, planning, routing and admitting the flows. Import and
compilation are in neither. Writes nothing.
"""

import argparse
import json
import math
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from htsim import PAYLOAD, SCENARIOS, Scenario

Sample = dict[str, Any]
HOME = Path(__file__).resolve().parent.parent
MEBIBYTE = 1 << 20
WANTED_MEAN, WANTED_WORST = 10, 3  # times as fast as htsim


def main() -> None:
    """Run the scenarios and print what they took."""
    choice = arguments()
    if choice.child:
        print(json.dumps(measure(next(each for each in SCENARIOS if each.name == choice.child), choice.pfc)))
        return
    wanted = [each for each in SCENARIOS if not choice.only or any(text in each.name for text in choice.only)]
    if not wanted:
        sys.exit(f"no scenario is called so; there are {', '.join(each.name for each in SCENARIOS)}")
    sample(SCENARIOS[0], choice.pfc)  # compiles, when the kernels are not in the cache
    if not choice.json:
        print(aligned(COLUMNS))
    rows = []
    for scenario in wanted:
        rows.append(summed_up(scenario, [sample(scenario, choice.pfc) for _ in range(choice.repeat)]))
        if not choice.json:
            print(line(rows[-1]), flush=True)
    print(json.dumps(rows, indent=2) if choice.json else verdict(rows))


def arguments() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description="The speed of netsim's packet core against htsim's RoCE model.")
    parser.add_argument(
        "--only", action="append", metavar="TEXT", help="scenarios whose name holds TEXT; may be repeated"
    )
    parser.add_argument("--repeat", type=int, default=3, help="processes per scenario (default 3)")
    parser.add_argument("--pfc", action="store_true", help="with priority flow control, as htsim's RoCE has it")
    parser.add_argument("--json", action="store_true", help="print JSON for machines")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    return parser.parse_args()


def sample(scenario: Scenario, pfc: bool) -> Sample:
    """One repetition in a fresh process."""
    command = [sys.executable, __file__, "--child", scenario.name, *(["--pfc"] if pfc else [])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{scenario.name} failed:\n{done.stderr}")
    found: Sample = json.loads(done.stdout)
    return found


def measure(scenario: Scenario, pfc: bool) -> Sample:
    """Carry the scenario's flows over a fabric in this process."""
    sys.path.insert(0, str(HOME))
    carry([(0, 1, 1)], 2, "fat_tree_k4_100g", pfc)  # loads the kernels
    before = peak_bytes()
    began = time.perf_counter()
    fabric, core_wall, core_cpu = carry(scenario.flows(), scenario.hosts, scenario.topology, pfc)
    whole = time.perf_counter() - began
    links = fabric.world.links
    assert not links["drops"].any(), "queues without a limit lose nothing"
    return {
        "hops": int(fabric.packet_hops),
        "core_seconds": core_wall,
        "core_cpu_seconds": core_cpu,
        "setup_seconds": whole - core_wall,
        "peak_bytes": peak_bytes(),
        "peak_bytes_before": before,
        "last_data_ps": int(fabric.carried[0].end_ps),
    }


def carry(flows: list[tuple[int, int, int]], hosts: int, topology: str, pfc: bool) -> tuple[Any, float, float]:
    """Run flows to their last ACK; the fabric, and the seconds of the core by the clock and of CPU."""
    import simpy

    from netsim.collectives import Request, plan
    from netsim.config import load_topology
    from netsim.config.scenario import Packet
    from netsim.routing import ROUTINGS
    from netsim.simulation.fabric import Fabric
    from netsim.transport.settings import Transport

    pauses = {"xoff": 15 * PAYLOAD, "xon": 12 * PAYLOAD} if pfc else "off"
    fields = {"buffer": "unlimited", "control_class": "shared", "pfc": pauses}
    network = load_topology({"base": topology, **fields}).build()
    routing = ROUTINGS["ecmp"]()
    env = simpy.Environment()
    fabric = Fabric(
        env,
        network,
        lambda *ends: routing.routes(network, *ends, seed=1),
        packet=Packet(),
        transport=Transport(control="none"),
        seed=1,
    )
    carried = fabric.carry(plan(Request(op="flows", ranks=hosts, flows=flows)), list(range(hosts)))
    wall, cpu = time.perf_counter(), time.process_time()
    for rank in range(hosts):
        fabric.enter(carried, rank)
    env.run()
    fabric.drain()
    return fabric, time.perf_counter() - wall, time.process_time() - cpu


def peak_bytes() -> int:
    """The most memory this process ever held."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if platform.system() == "Darwin" else peak * 1024  # Linux counts KiB


def summed_up(scenario: Scenario, samples: list[Sample]) -> Sample:
    """The best and the median repetition, and both against htsim."""
    best = min(samples, key=lambda each: each["core_seconds"])
    cpu = min(each["core_cpu_seconds"] for each in samples)
    mega_hops = best["hops"] / 1e6
    whole = min(each["core_seconds"] + each["setup_seconds"] for each in samples)
    theirs = scenario.mega_hops_per_second
    exact = scenario.exact_last_data_ps()
    return {
        "name": scenario.name,
        "flows": len(scenario.flows()),
        **best,
        "core_seconds_median": statistics.median(each["core_seconds"] for each in samples),
        "core_cpu_seconds": cpu,
        "peak_bytes": max(each["peak_bytes"] for each in samples),
        "repetitions": len(samples),
        "mega_hops_per_second": mega_hops / best["core_seconds"],
        "ratio": mega_hops / best["core_seconds"] / theirs,
        "ratio_of_cpu_time": mega_hops / cpu / theirs,
        "ratio_with_setup": mega_hops / whole / theirs,
        "htsim_mega_hops_per_second": theirs,
        "htsim_megabytes": scenario.megabytes,
        "hops_as_htsim": best["hops"] == scenario.hops,
        "last_data_exact": None if exact is None else best["last_data_ps"] == exact,
    }


COLUMNS = {  # name of each column, its width, and what stands in it
    "scenario": (-10, lambda row: row["name"]),
    "data+ACK hops": (14, lambda row: f"{row['hops']:,}" + ("" if row["hops_as_htsim"] else "!")),
    "core s": (9, lambda row: f"{row['core_seconds']:.3f}"),
    "median": (8, lambda row: f"{row['core_seconds_median']:.3f}"),
    "CPU s": (8, lambda row: f"{row['core_cpu_seconds']:.3f}"),
    "set-up s": (9, lambda row: f"{row['setup_seconds']:.3f}"),
    "M hops/s": (9, lambda row: f"{row['mega_hops_per_second']:.1f}"),
    "peak MiB": (9, lambda row: f"{row['peak_bytes'] / MEBIBYTE:.0f}"),
    "last data us": (15, lambda row: f"{row['last_data_ps'] / 1e6:,.3f}"),
    "exact": (6, lambda row: {None: "-", True: "yes", False: "NO"}[row["last_data_exact"]]),
    "htsim": (7, lambda row: f"{row['htsim_mega_hops_per_second']:.2f}"),
    "times": (7, lambda row: f"{row['ratio']:.1f}"),
    "by CPU": (7, lambda row: f"{row['ratio_of_cpu_time']:.1f}"),
    "set-up in": (10, lambda row: f"{row['ratio_with_setup']:.1f}"),
}


def aligned(texts: Iterable[str]) -> str:
    """Texts under the columns."""
    widths = [width for width, _ in COLUMNS.values()]
    return "".join(f"{text:{'<' if width < 0 else '>'}{abs(width)}}" for text, width in zip(texts, widths, strict=True))


def line(row: Sample) -> str:
    """One scenario for people."""
    return aligned(show(row) for _, show in COLUMNS.values())


def verdict(rows: list[Sample]) -> str:
    """How much faster than htsim in all."""
    lines = []
    for name, key in {
        "core": "ratio",
        "core, CPU time": "ratio_of_cpu_time",
        "set-up and core": "ratio_with_setup",
    }.items():
        ratios = [row[key] for row in rows]
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        worst = min(rows, key=lambda row, key=key: row[key])
        lines.append(
            f"{name}: {mean:.1f} times htsim in the geometric mean, {worst[key]:.1f} in the worst, {worst['name']}"
        )
    lines.append(f"wanted of the core: {WANTED_MEAN} and {WANTED_WORST}")
    return "\n".join(["", *lines])


if __name__ == "__main__":
    main()
