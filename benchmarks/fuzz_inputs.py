"""Tries saved runs, topologies and command lines in a process of its own, and watches its time and memory.

    python benchmarks/fuzz_inputs.py --inputs 20000                      # all three kinds, a third each
    python benchmarks/fuzz_inputs.py --only topologies --inputs 100 --first 4711

Whatever is given, a command must end by itself or by Ctrl-C, in less than MOST_MEMORY, with the exit code 0, 1 or 2
and one line where something is wrong; never with a fault in netsim itself. An input is known by its number: `--first N
--inputs 1` tries it again.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import select
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fuzz_commands import KINDS, prepare

PATIENCE = 20  # seconds by the clock until Ctrl-C is pressed
LAST_PATIENCE = 10  # and from then on: on a machine that does much else
MOST_MEMORY = 2 << 30
PAGE = os.sysconf("SC_PAGE_SIZE")
LONGEST_LINE = 2000


def main() -> int:
    """Try so many inputs of each kind, and count what came of them."""
    parser = argparse.ArgumentParser(description="Mutated saved runs, topologies and command lines.")
    parser.add_argument("--only", action="append", choices=KINDS, help="one of the kinds; may be repeated")
    parser.add_argument("--inputs", type=int, default=3000, help="of all kinds together (default 3000)")
    parser.add_argument("--first", type=int, default=0, help="the first input's number")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    choice = parser.parse_args()
    if choice.worker:
        return work(choice.worker[0], Path(choice.worker[1]), choice.seed, choice.first, choice.first + choice.inputs)
    kinds = choice.only or list(KINDS)
    return 1 if sum([fuzz_kind(kind, choice.seed, choice.first, choice.inputs // len(kinds)) for kind in kinds]) else 0


def fuzz_kind(kind: str, seed: int, first: int, inputs: int) -> int:
    """Try the inputs of one kind. Returns how many were faults."""
    counts, faults, began = Counter[str](), 0, time.monotonic()
    at, last = first, first + inputs
    with tempfile.TemporaryDirectory() as folder:
        while at < last:  # a worker that dies is followed by another
            for number, outcome, argv in watched(kind, seed, at, last, Path(folder)):
                at = number + 1
                counts[outcome.partition(":")[0]] += 1
                if outcome.startswith("FAULT"):
                    faults += 1
                    print(f"{kind} {number}: {outcome}  {argv}", flush=True)
    told = ", ".join(f"{count:,} {what}" for what, count in sorted(counts.items()))
    print(f"{kind:14} {sum(counts.values()):7,} inputs in {time.monotonic() - began:.0f} s: {told}", flush=True)
    return faults


def watched(kind: str, seed: int, first: int, last: int, folder: Path) -> Any:
    """A worker's outcomes, as (number, outcome, command); it is ended where it takes too long or too much."""
    options = ["--seed", str(seed), "--first", str(first), "--inputs", str(last - first)]
    command = [sys.executable, __file__, "--worker", kind, str(folder), *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    assert process.stdout is not None
    number, argv, since, pressed, fault = first, "before the first", time.monotonic() + 300, False, ""
    try:
        while not fault:
            if not select.select([process.stdout], [], [], 0.2)[0]:
                pressed, fault = _look(process.pid, since, pressed)
                continue
            line = process.stdout.readline()
            if not line:
                fault = f"FAULT: it died with {process.wait()}" if number < last else "end"
                continue
            told = json.loads(line)
            number = told["number"]
            if "argv" in told:
                argv, since, pressed = told["argv"], time.monotonic(), False
                continue
            ended = "ended by Ctrl-C" if pressed and told["outcome"] == "interrupted" else told["outcome"]
            yield number, ended, argv
            number += 1
        if fault != "end":
            yield number, fault, argv
    finally:
        process.kill()
        process.wait()


def _look(worker: int, since: float, pressed: bool) -> tuple[bool, str]:
    """Whether Ctrl-C has been pressed by now, and what is wrong with the worker."""
    taken = time.monotonic() - since
    if int(Path(f"/proc/{worker}/statm").read_text().split()[1]) * PAGE > MOST_MEMORY:
        return pressed, f"FAULT: more than {MOST_MEMORY:,} bytes"
    if taken > PATIENCE and not pressed:
        os.kill(worker, signal.SIGINT)
        return True, ""
    if taken > PATIENCE + LAST_PATIENCE:
        return pressed, "FAULT: Ctrl-C does not end it"
    return pressed, ""


def work(kind: str, folder: Path, seed: int, first: int, last: int) -> int:
    """Try inputs one after the other, and tell of each before and after."""
    from netsim.cli import main as netsim

    signal.signal(signal.SIGINT, signal.default_int_handler)
    fresh, place = folder / "fresh", folder / "place"
    tell = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    if not fresh.exists():
        draft = folder / "draft"
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir()
        prepare(draft)
        draft.rename(fresh)  # whole, or not there for the next worker
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(fresh, place)
    os.chdir(place)
    for number in range(first, last):
        if kind == "command_lines":
            _put_back(fresh, place)
        rng = random.Random(f"{kind} {seed} {number}")
        argv = KINDS[kind](rng, Path())
        tell.write(json.dumps({"number": number, "argv": argv}) + "\n")
        tell.flush()
        tell.write(json.dumps({"number": number, "outcome": outcome_of(netsim, argv)}) + "\n")
        tell.flush()
    return 0


def _put_back(fresh: Path, place: Path) -> None:
    """The folder as it was before the last command."""
    for path in place.iterdir():
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    shutil.copytree(fresh, place, dirs_exist_ok=True)


def outcome_of(netsim: Any, argv: list[str]) -> str:
    """Run a command in here: "done", "failed", "refused", "interrupted", or what is wrong with netsim."""
    out, err = io.StringIO(), io.StringIO()
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = netsim(argv)
    except BaseException as error:  # main() never raises
        return f"FAULT: {type(error).__name__}: {error}"
    said = err.getvalue()
    lines = [line for line in said.splitlines() if line.strip()]
    if "fault in netsim itself" in said or "Traceback" in said:
        return f"FAULT: {said[-300:]}"
    if code not in (0, 1, 2, 130) or (code and not lines):
        return f"FAULT: exit code {code} and {len(lines)} lines"
    if code and not all(line.startswith("netsim: ") for line in lines):
        return f"FAULT: not only lines of its own: {said[:300]!r}"
    if any(len(line) > LONGEST_LINE for line in lines):
        return f"FAULT: a line of {max(map(len, lines)):,} letters: {max(lines, key=len)[:200]!r}"
    if not stat.S_ISCHR(os.lstat("/dev/null").st_mode):
        return "FAULT: /dev/null is no device any more"
    return {0: "done", 1: "failed", 2: "refused", 130: "interrupted"}[code]


if __name__ == "__main__":
    sys.exit(main())
