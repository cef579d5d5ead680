"""Mutated files for every reader, for as long as one likes: whatever happens must be a trace or an InputError.

    python benchmarks/fuzz_readers.py              # a minute for each reader, on small files made up here
    python benchmarks/fuzz_readers.py --only goal --seconds 10 --seed 7
    python benchmarks/fuzz_readers.py --samples ../shared/samples  # on real files instead

A file that makes a reader fail otherwise, or take longer than ten seconds, is kept in the folder that --keep names.
"""

import argparse
import faulthandler
import gzip
import random
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fuzz_bytes import LARGEST, mutated
from trace_files import MAKERS

from netsim.errors import NetsimError
from netsim.traces import format_of, read, write_native
from netsim.traces.chakra.write import write_chakra
from netsim.traces.goal.write import write_goal_binary

TOO_LONG = 10  # seconds for a file of some kilobytes


def main() -> None:
    """Fuzz one reader after another, and count what came of it."""
    parser = argparse.ArgumentParser(description="Mutated files for netsim's readers.")
    parser.add_argument("--only", action="append", metavar="TEXT", help="formats whose name holds TEXT")
    parser.add_argument("--seconds", type=float, default=60, help="for each format (default 60)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--samples", type=Path, metavar="DIR", help="a folder of real files, in folders of any names")
    parser.add_argument("--keep", type=Path, default=Path("fuzz_found"), metavar="DIR", help="where failing files go")
    choice = parser.parse_args()
    signal.signal(signal.SIGPROF, _too_long)
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        seeds = _of_samples(choice.samples) if choice.samples else _made_up(Path(folder))
        for name, files in sorted(seeds.items()):
            if not choice.only or any(text in name for text in choice.only):
                faults += fuzz(name, files, choice.seconds, random.Random(choice.seed), Path(folder), choice.keep)
    sys.exit(1 if faults else 0)


def fuzz(name: str, files: list[bytes], seconds: float, rng: random.Random, folder: Path, keep: Path) -> int:
    """Mutate the files of a format until the time is over. Returns how many kinds of faults were found."""
    counts, seen = Counter[str](), dict[str, Path]()
    ends = time.monotonic() + seconds
    path = folder / "job.rank0.x"
    while time.monotonic() < ends:
        data = mutated(rng.choice(files), files, rng)
        path.write_bytes(gzip.compress(data, 1) if rng.random() < 0.02 else data)
        fault = tried(path, counts, fill=rng.random() < 0.7)
        if fault and fault not in seen:
            keep.mkdir(parents=True, exist_ok=True)
            seen[fault] = keep / f"{name}.{len(seen)}.rank0.x"
            seen[fault].write_bytes(path.read_bytes())
            print(f"{name}: {fault}  ({seen[fault]})", flush=True)
    told = ", ".join(f"{count:,} {what}" for what, count in sorted(counts.items()))
    print(f"{name:18} {sum(counts.values()):8,} files in {seconds:.0f} s: {told}", flush=True)
    return len(seen)


def tried(path: Path, counts: Counter[str], *, fill: bool) -> str:
    """Read a file. Returns what is wrong with the reader: "" where a trace or a plain message came of it."""
    signal.setitimer(signal.ITIMER_PROF, TOO_LONG)  # of the processor's time, not of the clock's
    try:
        read(path, fill_missing_ranks=fill, partial=not fill)
    except NetsimError as error:
        counts["refused"] += 1
        one_line = "\n" not in str(error) and len(str(error)) < 2000
        return "" if one_line and error.hint else f"a message that does not help: {str(error)[:200]!r}"
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        counts["faults"] += 1
        place = traceback.extract_tb(error.__traceback__)[-1]
        own = [each for each in traceback.extract_tb(error.__traceback__) if "/netsim/" in each.filename][-1]
        return f"{type(error).__name__} in {Path(own.filename).name}:{own.lineno} ({place.name}): {str(error)[:100]}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    counts["read"] += 1
    return ""


def _too_long(*_: object) -> None:
    raise TimeoutError(f"took longer than {TOO_LONG} s")


def _made_up(folder: Path) -> dict[str, list[bytes]]:
    """Small files of every format."""
    seeds = {name: [path.read_bytes() for path in make(0.002, folder)] for name, make in MAKERS.items()}
    (folder / "job.jsonl").write_text(
        '{"netsim": 1, "ranks": 4}\n{"op": "all_reduce", "group": "world", "bytes": 64}\n'
        '{"op": "send", "src": 0, "dst": 1, "bytes": 9}\n{"op": "compute", "ranks": [0], "duration": "1us"}\n'
    )
    trace = read(folder / "job.jsonl")
    seeds["chakra"] += [path.read_bytes() for path in write_chakra(trace, folder / "job.et") if path.suffix == ".et"]
    sends = read(MAKERS["goal"](0.002, folder))
    write_goal_binary(sends, folder / "job.bin")
    seeds["goal_binary"] = [(folder / "job.bin").read_bytes()]
    write_native(trace, folder / "again.jsonl")
    seeds["native"].append((folder / "again.jsonl").read_bytes())
    return seeds


def _of_samples(folder: Path) -> dict[str, list[bytes]]:
    """The files of a folder that are not too large, by the format they are of."""
    seeds: dict[str, list[bytes]] = {}
    for path, data in _unpacked(folder):
        try:
            seeds.setdefault(format_of(path), []).append(data[:LARGEST])
        except NetsimError:
            continue
    return seeds


def _unpacked(folder: Path) -> Iterator[tuple[Path, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            yield path, gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


if __name__ == "__main__":
    faulthandler.enable()
    main()
