"""Small faults, put into the code one at a time: the tests that should see each are run, and what survives is printed.

    python benchmarks/mutations.py                    # all of mutations.toml, two at a time
    python benchmarks/mutations.py --only dcqcn --only units
    python benchmarks/mutations.py --list

Each works on a copy of the checkout in a temporary folder; the checkout itself is not touched. A mutation is caught
when a test fails, or when the tests take longer than --seconds (an endless loop is a failure that tests cannot report).
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).resolve().parent.parent
LIST = Path(__file__).with_suffix(".toml")
COPIED = ("netsim", "tests", "topologies", "traces", "benchmarks", "docs")
PASSED, FAILED = 0, 1  # exit codes of pytest; all others mean that the tests did not run
CAUGHT, SURVIVED, BROKEN = "caught", "SURVIVED", "BROKEN"


@dataclass(frozen=True)
class Mutation:
    """In `file`, the one place that reads `old` reads `new`; `tests` should see it. `reason`: why none can."""

    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    reason: str = ""

    @property
    def title(self) -> str:
        """The change in one line."""
        old, new = (" ".join(text.split()) for text in (self.old, self.new))
        return f"{self.file}: {old} -> {new}"

    def applied(self, root: Path) -> str:
        """The mutated text of the file. Raises ValueError where its place is not there exactly once."""
        text = (root / self.file).read_text(encoding="utf-8")
        if text.count(self.old) != 1:
            raise ValueError(f"{self.file} holds {text.count(self.old)} times {self.old!r}; correct {LIST.name}")
        return text.replace(self.old, self.new)


def mutations() -> list[Mutation]:
    """All that are listed."""
    rows = tomllib.loads(LIST.read_text(encoding="utf-8"))["mutation"]
    return [Mutation(**{**row, "tests": tuple(row["tests"])}) for row in rows]


def copy_of_checkout(folder: Path) -> Path:
    """The checkout's files in a new folder."""
    unwanted = shutil.ignore_patterns("__pycache__", ".*", "*.pyc")
    for name in COPIED:
        shutil.copytree(ROOT / name, folder / name, ignore=unwanted)
    for file in ROOT.iterdir():
        if file.is_file():
            shutil.copy2(file, folder / file.name)
    return folder


def run_tests(folder: Path, tests: tuple[str, ...], seconds: float) -> tuple[str, str]:
    """Whether one of the tests fails in a copy, and pytest's last line."""
    options = ["-x", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", "--no-header"]
    environment = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    environment["NETSIM_CACHE_DIR"] = str(folder / "cache")
    command = [sys.executable, "-m", "pytest", *options, *tests]
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return CAUGHT, f"not done after {seconds:.0f} s"
    last = (done.stdout.strip().splitlines() or [done.stderr.strip()[-200:]])[-1]
    return {PASSED: SURVIVED, FAILED: CAUGHT}.get(done.returncode, BROKEN), last


def tried(mutation: Mutation, folder: Path, seconds: float) -> tuple[str, str, float]:
    """What became of a mutation in a copy, which is as before afterwards: verdict, last line, seconds."""
    began = time.monotonic()
    path = folder / mutation.file
    whole = path.read_text(encoding="utf-8")
    try:
        path.write_text(mutation.applied(folder), encoding="utf-8")
        verdict, last = run_tests(folder, mutation.tests, seconds)
    except ValueError as error:
        verdict, last = BROKEN, str(error)
    finally:
        path.write_text(whole, encoding="utf-8")
    return verdict, last, time.monotonic() - began


def all_tried(chosen: list[Mutation], jobs: int, seconds: float) -> dict[str, list[Mutation]]:
    """Try them, `jobs` at a time, a line each. Returns them by verdict."""
    found: dict[str, list[Mutation]] = {CAUGHT: [], SURVIVED: [], BROKEN: []}
    with tempfile.TemporaryDirectory(prefix="mutations-") as place, ThreadPoolExecutor(jobs) as pool:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(jobs):
            copies.put(copy_of_checkout(Path(place) / str(number)))

        def one(mutation: Mutation) -> None:
            folder = copies.get()
            verdict, last, took = tried(mutation, folder, seconds)
            copies.put(folder)
            found[verdict].append(mutation)
            print(f"{verdict:8}  {took:5.0f} s  {mutation.title[:150]}  [{last[:100]}]", flush=True)

        list(pool.map(one, chosen))
    return found


def main() -> None:
    """Try the mutations that are asked for; exit code 1 if one survives without a reason."""
    parser = argparse.ArgumentParser(description="Mutation tests of netsim.")
    parser.add_argument("--only", action="append", metavar="TEXT", help="those whose file or change holds TEXT")
    parser.add_argument("--jobs", type=int, default=2, help="at a time (default 2)")
    parser.add_argument("--seconds", type=float, default=900, help="for the tests of one (default 900)")
    parser.add_argument("--list", action="store_true", help="print them, and try none")
    choice = parser.parse_args()
    chosen = [each for each in mutations() if not choice.only or any(text in each.title for text in choice.only)]
    if choice.list:
        print("\n".join(each.title for each in chosen))
        return
    found = all_tried(chosen, choice.jobs, choice.seconds)
    print(f"\n{len(chosen)} mutations: " + ", ".join(f"{len(each)} {verdict}" for verdict, each in found.items()))
    for each in found[SURVIVED] + found[BROKEN]:
        print(f"  {each.title}: {each.reason or 'no reason known'}")
    sys.exit(1 if found[BROKEN] or any(not each.reason for each in found[SURVIVED]) else 0)


if __name__ == "__main__":
    main()
