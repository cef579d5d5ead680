"""What packets of another size change: nothing above 2 %, or the run says so, and how far off it is.

    python benchmarks/packet_units.py                  # 1 GiB all-reduce and 15:1 incast, every preset, 1 to 64 KiB
    python benchmarks/packet_units.py --size 64MiB --preset roce --preset uec --payload 64KiB
    python benchmarks/packet_units.py --only all_reduce --on rail_optimized_16

A row per run: how much longer it takes than with packets of 4 KiB, and by how much the run itself says so. A change
above 2 % has to be told. Exit code 1 where one is not, or where what is told is further off than --within points.
"""

import argparse
import re
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import netsim
from netsim.traces import Operation, Trace
from netsim.transport.presets import PRESETS
from netsim.units import format_size, format_time, parse_size

USUAL = 4096  # bytes, the default
PAYLOADS = [1024 << power for power in range(7)]
NEAR = 0.02
TOLD = re.compile(r"packet\.payload = .* makes this (?P<change>.*) (?P<how>longer|shorter) than")


def workloads(size: int) -> dict[str, tuple[Trace, str]]:
    """By name: an all-reduce of 16 ranks, an incast, and what they run on."""
    ranks = tuple(range(16))
    all_reduce = Trace("all_reduce", 16, {}, (Operation("all_reduce", "world", ranks, size, algorithm="ring"),))
    return {
        "all_reduce": (all_reduce, "fat_tree_k4_400g"),
        "incast": (netsim.load_trace("incast16"), "fat_tree_k4_100g"),
    }


def timed(trace: Trace, topology: str, preset: str, payload: int) -> tuple[int, tuple[float, float] | None]:
    """The time in ps, and by how much it is told to be longer than with usual packets: from, to; None if nothing is."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        result = netsim.simulate(trace, topology, transport=preset, packet={"payload": payload})
    for each in told:
        if found := TOLD.search(str(each.message)):
            sign = 1 if found["how"] == "longer" else -1
            changes = sorted(sign * float(change) / 100 for change in re.findall(r"([-\d.]+)%", found["change"]))
            return int(result.collectives["time_ps"][0]), (changes[0], changes[-1])
    return int(result.collectives["time_ps"][0]), None


def compared(name: str, trace: Trace, topology: str, preset: str, payloads: list[int]) -> tuple[int, int, float]:
    """Print a row for each size. Returns runs, breaches, and by how many points what is told is off at most."""
    usual, _ = timed(trace, topology, preset, USUAL)
    breaches, furthest = 0, 0.0
    for payload in payloads:
        began = time.perf_counter()
        took, told = timed(trace, topology, preset, payload)
        change = took / usual - 1
        row = f"{name:10} {preset:11} {format_size(payload):>7} {format_time(took):>15} {change:+8.1%}"
        if told:
            off = 100 * max(0.0, told[0] - change, change - told[1])
            furthest = max(furthest, off)
            row += f"  told {' to '.join(f'{each:+.1%}' for each in dict.fromkeys(told))}, {off:.1f} points off"
        elif abs(change) > NEAR:
            breaches += 1
            row += "  NOT TOLD"
        print(f"{row}  ({time.perf_counter() - began:.0f} s)", flush=True)
    return len(payloads), breaches, furthest


def main() -> None:
    """Run them all; print a row each and the sum."""
    parser = argparse.ArgumentParser(description="Packets of 1 to 64 KiB beside the usual ones.")
    parser.add_argument("--size", default="1GiB", help="of the all-reduce (default 1GiB)")
    parser.add_argument("--preset", action="append", choices=PRESETS, help="may be repeated (default: all)")
    parser.add_argument("--payload", action="append", help="may be repeated (default: 1KiB to 64KiB)")
    parser.add_argument("--only", choices=["all_reduce", "incast"], help="one of the two workloads")
    parser.add_argument("--on", help="another topology of 16 hosts")
    parser.add_argument("--within", type=float, default=1.0, help="points by which what is told may be off (default 1)")
    choice = parser.parse_args()
    payloads = [parse_size(each) for each in choice.payload] if choice.payload else PAYLOADS
    runs = breaches = 0
    furthest = 0.0
    for name, (trace, topology) in workloads(parse_size(choice.size)).items():
        if choice.only in (None, name):
            for preset in choice.preset or PRESETS:
                counted = compared(name, trace, choice.on or topology, preset, payloads)
                runs, breaches, furthest = runs + counted[0], breaches + counted[1], max(furthest, counted[2])
    print(f"{runs} runs: {breaches} above {NEAR:.0%} without a word; what is told is {furthest:.1f} points off at most")
    sys.exit(breaches > 0 or furthest > choice.within)


if __name__ == "__main__":
    main()
