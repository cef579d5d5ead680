"""How fast netsim reads traces, format by format: MB/s and peak memory.

    python benchmarks/readers.py
    python benchmarks/readers.py --only nccl --megabytes 100

Each file is made up first, in a folder for temporary files, and read in a process of its own. A read ends with the
trace of the whole job: joining the ranks is in the time, importing netsim is not. Seconds are of the processor, which
are those of the clock where nothing else runs (a read is one thread). "grown" is what the process holds more at its
peak than before it read.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from trace_files import MAKERS

HOME = Path(__file__).resolve().parent.parent


def main() -> None:
    """Make the files, read them, and print how fast that went."""
    parser = argparse.ArgumentParser(description="The speed of netsim's readers.")
    parser.add_argument("--only", action="append", metavar="TEXT", help="formats whose name holds TEXT")
    parser.add_argument("--megabytes", type=float, default=20, help="of each file (default 20)")
    parser.add_argument("--json", action="store_true", help="print JSON for machines")
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    choice = parser.parse_args()
    if choice.child:
        print(json.dumps(measure([Path(each) for each in choice.child])))
        return
    names = [name for name in MAKERS if not choice.only or any(text in name for text in choice.only)]
    if not names:
        sys.exit(f"no format is called so; there are {', '.join(MAKERS)}")
    rows = []
    if not choice.json:
        print(f"{'format':18}{'MB':>8}{'records':>12}{'CPU s':>10}{'MB/s':>8}{'us/record':>11}{'grown MiB':>11}")
    for name in names:
        rows.append(sample(name, choice.megabytes))
        if not choice.json:
            print(line(rows[-1]), flush=True)
    if choice.json:
        print(json.dumps(rows, indent=2))


def sample(name: str, megabytes: float) -> dict[str, Any]:
    """One format: its files made, and read by another process."""
    with tempfile.TemporaryDirectory() as folder:
        paths = MAKERS[name](megabytes, Path(folder))
        command = [sys.executable, __file__, "--child", *map(str, paths)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{name}: {done.stderr.strip().splitlines()[-1]}")
        size = sum(path.stat().st_size for path in paths) / 1e6
    told: dict[str, Any] = json.loads(done.stdout)
    return {"format": name, "megabytes": size, "megabytes_per_second": size / told["seconds"], **told}


def measure(paths: list[Path]) -> dict[str, Any]:
    """Read in this process."""
    sys.path.insert(0, str(HOME))
    from netsim.traces import format_of, read

    format_of(paths[0])  # loads the reader
    before = peak_bytes()
    began = time.process_time()
    trace = read(paths)
    seconds = time.process_time() - began
    return {"seconds": seconds, "records": trace.report.records, "grown_bytes": peak_bytes() - before}


def peak_bytes() -> int:
    """The most memory this process ever held."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def line(row: dict[str, Any]) -> str:
    """A row of the table."""
    each = 1e6 * row["seconds"] / max(1, row["records"])
    return (
        f"{row['format']:18}{row['megabytes']:8.1f}{row['records']:12,}{row['seconds']:10.2f}"
        f"{row['megabytes_per_second']:8.1f}{each:11.1f}{row['grown_bytes'] / 2**20:11.1f}"
    )


if __name__ == "__main__":
    main()
