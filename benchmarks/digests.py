"""Digests of what netsim answers: every built-in trace on every built-in topology under every preset.

    python benchmarks/digests.py --out before.txt
    python benchmarks/digests.py --against before.txt
    python benchmarks/digests.py --only perm16 --only uec

A line for each run: its scenario, then a digest of the values of each table, whatever its columns are called. The ideal
times are a digest of their own, `ideal`. A change that only moves or renames code leaves all lines as they are. The
first run compiles the kernels; all of them take about ten minutes on two cores.
"""

import argparse
import hashlib
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import netsim
from netsim.config import build_scenario, builtin_inputs
from netsim.config.preset_defaults import PRESETS

TABLES = ("collectives", "parts", "flows", "links", "queues")
IDEAL = ("ideal", "slowdown")  # what the names of these columns begin with

Case = tuple[str, str, str]


def main() -> None:
    """Print the digests, or compare them with those of a file."""
    parser = argparse.ArgumentParser(description="Digests of all built-in traces x topologies x presets.")
    parser.add_argument("--only", action="append", default=[], help="runs whose line holds this text; all of several")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--out", type=Path, help="write the lines here")
    parser.add_argument("--against", type=Path, help="a file of an earlier call: exit with 1 if a line differs")
    choice = parser.parse_args()
    wanted = [case for case in cases() if all(text in " ".join(case) for text in choice.only)]
    digest(wanted[0])  # compiles, when the kernels are not in the cache
    with ProcessPoolExecutor(choice.processes) as pool:
        lines = list(shown(pool.map(digest, wanted), len(wanted)))
    if choice.out:
        choice.out.write_text("\n".join(lines) + "\n")
    if choice.against:
        sys.exit(differences(choice.against.read_text().splitlines(), lines))


def cases() -> Iterator[Case]:
    """Every (trace, topology, preset) in which the trace's ranks have hosts."""
    for trace in builtin_inputs.names("traces"):
        ranks = netsim.load_trace(trace).ranks
        for topology in builtin_inputs.names("topologies"):
            if ranks <= netsim.load_topology(topology).build().counts()["hosts"]:
                yield from ((trace, topology, preset) for preset in PRESETS)


def digest(case: Case) -> str:
    """The line of one run."""
    trace, topology, preset = case
    result = netsim.simulate(build_scenario(trace, topology, transport={"preset": preset}))
    floors = hashlib.sha256()
    parts = []
    for name in TABLES:
        table, digest = getattr(result, name), hashlib.sha256()
        for column in table.columns:
            (floors if column.startswith(IDEAL) else digest).update(as_bytes(table[column]))
        parts.append(f"{name}={digest.hexdigest()[:16]}")
    return " ".join([*case, *parts, f"ideal={floors.hexdigest()[:16]}"])


def as_bytes(column: Any) -> bytes:
    """The values of a column, so that equal ones have equal bytes."""
    values = column.to_numpy()
    return "\0".join(map(str, values)).encode() if values.dtype == object else values.tobytes()


def shown(lines: Iterator[str], count: int) -> Iterator[str]:
    """The same lines, printed as they come."""
    for number, line in enumerate(lines, 1):
        print(f"{number}/{count} {line}", flush=True)
        yield line


def differences(before: list[str], after: list[str]) -> int:
    """Say what differs; 1 if anything does."""
    known = {tuple(line.split()[:3]): line.split()[3:] for line in before}
    wrong = 0
    for line in after:
        case, parts = tuple(line.split()[:3]), line.split()[3:]
        changed = [part.split("=")[0] for part, old in zip(parts, known.get(case, parts), strict=True) if part != old]
        if changed or case not in known:
            wrong += 1
            print(" ".join(case), "differs in", ", ".join(changed) or "that it is new")
    print(f"{wrong} of {len(after)} runs differ")
    return int(wrong > 0)


if __name__ == "__main__":
    main()
