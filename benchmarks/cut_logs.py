"""Cut the logs of a job's ranks at random: is what is left joined as in the whole log?

    python benchmarks/cut_logs.py --samples DIR               # 2,000 cuts, dealt to all logs of several ranks in DIR
    python benchmarks/cut_logs.py --samples DIR --cuts 20000 --seed 7

Each rank loses the first and the last of its calls, any number of them, at each cut; every other time the numbers of
all calls as well, or what tells which communicator of one rank is which of another. What ranks still tell has to be
joined as in the whole log, unless the notes say that the log does not tell. A mismatch that is none is a fault always.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from netsim.errors import InputError
from netsim.traces import format_of, read
from netsim.traces.input_files import counted
from netsim.traces.joining import align as joining
from netsim.traces.joining import pairs
from netsim.traces.joining.columns import Calls
from netsim.traces.joining.reports import Call, Member, Place
from netsim.traces.trace import Trace

READERS = ("nccl.log", "nccl.inspector", "nccl.profiler", "torch.job")  # those whose ranks report each for itself
FALSE = ("where others call", "are sent where", "a deadlock")
CANNOT_TELL = (
    "a cut log does not tell which belong together",
    "ranks were joined by size, calls and order of creation",
)
KINDS = ("as it is", "without numbers", "without identities")
Joined = frozenset[Place]


@dataclass
class Joining:
    """What was joined: calls that are one operation, and ends that are one transfer."""

    collectives: set[Joined] = field(default_factory=set)
    pairs: set[Joined] = field(default_factory=set)
    kept: set[Place] = field(default_factory=set)
    notes: tuple[str, ...] = ()

    def of(self, kept: set[Place]) -> tuple[set[Joined], set[Joined]]:
        """The same of a part of the calls."""
        some = {each & kept for each in self.collectives} - {frozenset()}
        return some, {each for each in self.pairs if each <= kept}


def calls_of(member: Member) -> list[Call]:
    return list(member.recorded)


def cut(members: Sequence[Member], chance: random.Random, kind: str) -> list[Member]:
    """Take from the head and the tail of what each process reports."""
    places: dict[tuple[str, str], list[Place]] = {}
    for member in members:
        places.setdefault(member.process, []).extend(call.place for call in member.recorded)
    kept = set[Place]()
    for some in places.values():
        first, last = sorted(chance.choices(range(len(some) + 1), k=2))
        whole = chance.random()
        kept |= set(sorted(some)[0 if whole < 0.25 else first : None if whole > 0.75 else last])
    left = []
    for member in members:
        rows = [number for number, call in enumerate(member.recorded) if call.place in kept]
        if not rows:
            continue
        bare = {"identity": None, "place": member.recorded[rows[0]].place} if kind == "without identities" else {}
        some = replace(member, calls=[calls_of(member)[row] for row in rows], table=None, **bare)
        if isinstance(member.table, Calls) and kind != "without numbers":
            some.table = member.table.taken(rows)
        if kind == "without numbers":
            some.calls = [replace(call, op_count=-1) for call in some.calls]
            some.numbered = False
        left.append(some)
    return left


@contextmanager
def watched(chance: random.Random | None, kind: str) -> Iterator[Joining]:
    """Cut what readers report, and look on while it is joined."""
    told, align, order, tie = Joining(), joining.align, joining.program_order, pairs._Ties.tie

    def cut_and_align(members: Sequence[Member], *args: Any, **options: Any) -> Trace:
        some = cut(members, chance, kind) if chance else list(members)
        if not some:
            raise InputError("nothing is left")
        told.kept |= {call.place for member in some for call in member.recorded}
        trace = align(some, *args, **options)
        told.notes = trace.notes
        return trace

    def order_of(steps: Sequence[Any], findings: Any) -> Any:
        each = [[call for calls in step.calls.values() for call in calls] for step in steps]
        told.collectives |= {frozenset(call.place for call in calls) for calls in each if calls[0].batch < 0}
        return order(steps, findings)

    def tied(ties: Any, batch: Any, send: Call, other: Any, receive: Call, findings: Any) -> None:
        told.pairs.add(frozenset({send.place, receive.place}))
        tie(ties, batch, send, other, receive, findings)

    with (
        patch.object(joining, "program_order", order_of),
        patch.object(pairs._Ties, "tie", tied),
        patch("netsim.traces.nccl.log.align", cut_and_align),
        patch("netsim.traces.nccl.inspector.align", cut_and_align),
        patch("netsim.traces.nccl.profiler.align", cut_and_align),
        patch("netsim.traces.torch.job.align", cut_and_align),
    ):
        yield told


def tried(paths: Sequence[Path], whole: Joining, seed: str, kind: str) -> str:
    """Cut a job once: "joined", "does not tell" or what is wrong."""
    with watched(random.Random(seed), kind) as told:
        try:
            read(paths, partial=True)
        except InputError as error:
            told.notes = (str(error),)
    if told.notes == ("nothing is left",):
        return "joined"
    for note in told.notes:
        if any(false in note for false in FALSE) and note not in whole.notes:
            return f"a false mismatch: {note}"
    if (told.collectives, told.pairs) == whole.of(told.kept):
        return "joined"
    return (
        "does not tell"
        if any(why in note for why in CANNOT_TELL for note in told.notes)
        else "joined otherwise, and silent"
    )


def jobs(folder: Path) -> Iterator[list[Path]]:
    """The files of each job: those that differ in nothing but a rank."""
    groups: dict[str, list[Path]] = {}
    for path in sorted((each for each in folder.rglob("*") if each.is_file()), key=counted):
        name = str(path)
        for word in ("rank", "worker"):
            head, found, tail = name.rpartition(word)
            name = head + found + tail.lstrip("-_0123456789") if found else name
        groups.setdefault(name, []).append(path)
    yield from groups.values()


def several(paths: Sequence[Path]) -> Joining | None:
    """What is told of a job of several ranks whose reports are joined."""
    try:
        format_of(paths[0])
        with watched(None, KINDS[0]) as told:
            read(paths, partial=True)
    except InputError:
        return None
    return told if any(len(each) > 1 for each in told.collectives | told.pairs) else None


def main() -> int:
    """Cut, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=Path, required=True)
    parser.add_argument("--cuts", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    found = {paths[0].name: (paths, told) for paths in jobs(given.samples) if (told := several(paths))}
    if not found:
        print(f"no log of several ranks in {given.samples}", file=sys.stderr)
        return 1
    results = {name: Counter[str]() for name in found}
    for number in range(given.cuts):
        name = list(found)[number % len(found)]
        kind = KINDS[number // len(found) % len(KINDS)]
        result = tried(*found[name], f"{given.seed} {number}", kind)
        results[name][result if result in ("joined", "does not tell") else f"{result} ({kind}, cut {number})"] += 1
    for name, counts in results.items():
        print(f"{name}: " + ", ".join(f"{times:,} {what}" for what, times in sorted(counts.items())))
    bad = sum(counts.total() - counts["joined"] - counts["does not tell"] for counts in results.values())
    print(f"{given.cuts:,} cuts of {len(found)} jobs: {bad} joined wrongly")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
