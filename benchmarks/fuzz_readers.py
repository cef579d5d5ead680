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
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from trace_files import MAKERS

from netsim.errors import NetsimError
from netsim.traces import format_of, read, write_native
from netsim.traces.chakra.write import write_chakra
from netsim.traces.goal.write import write_goal_binary

TOO_LONG = 10  # seconds for a file of some kilobytes
LARGEST = 200_000  # bytes of a file to begin with
WORDS = (
    *(b"-1", b"0", b"1e999", b"9" * 19, b"9" * 5000, b"NaN", b"null", b"true", b'""', b"[]", b"{}", b"\x00", b"\xff"),
    *(b"[" * 2000, b'{"a":' * 2000, b"\n", b"\r", b" ", b'"', b"\\u0000", b"\xed\xa0\x80", b"18446744073709551615"),
)


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
        return "" if one_line and error.mend else f"a message that does not help: {str(error)[:200]!r}"
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


def mutated(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """One to eight changes of a file."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        data = rng.choice(CHANGES)(data, others, rng)
    return data[: 4 * LARGEST]


def _span(data: bytes, rng: random.Random, most: int = 200) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.randrange(most))


def _flip(data: bytes, _: list[bytes], rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]


def _remove(data: bytes, _: list[bytes], rng: random.Random) -> bytes:
    start, end = _span(data, rng)
    return data[:start] + data[end:]


def _repeat(data: bytes, _: list[bytes], rng: random.Random) -> bytes:
    start, end = _span(data, rng, 2000)
    return data[:end] + data[start:end] * rng.choice((1, 1, 2, 20)) + data[end:]


def _cut(data: bytes, _: list[bytes], rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _insert(data: bytes, _: list[bytes], rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(WORDS) + data[at:]


def _number(data: bytes, _: list[bytes], rng: random.Random) -> bytes:
    """Another number in place of one."""
    places = [at for at in (rng.randrange(len(data) + 1) for _ in range(50)) if data[at : at + 1].isdigit()]
    if not places:
        return data
    start = end = places[0]
    while data[start - 1 : start].isdigit():
        start -= 1
    while data[end : end + 1].isdigit():
        end += 1
    other = rng.choice((b"0", b"1", b"2", b"-1", b"7", b"4294967296", b"9" * 19, b"1.5", b"null", b"131072"))
    return data[:start] + other + data[end:]


def _swap_lines(data: bytes, _: list[bytes], rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def _splice(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    other = rng.choice(others)
    return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]


Change = Callable[[bytes, list[bytes], random.Random], bytes]
CHANGES: tuple[Change, ...] = (_flip, _remove, _repeat, _cut, _insert, _number, _number, _swap_lines, _splice)


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
