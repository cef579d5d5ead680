"""Joining what each rank reports into one trace: the k-th call on a communicator is one operation for all its ranks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import replace
from itertools import pairwise

from netsim.errors import InputError
from netsim.traces.communicators import Communicator, join, missing, number_ranks
from netsim.traces.limits import MAX_OPERATIONS, MAX_PARTS
from netsim.traces.order import Step, program_order, stream_names
from netsim.traces.pairs import transfers
from netsim.traces.reports import Call, Findings, Member
from netsim.traces.trace import WORLD, Group, Operation, Trace


def align(members: Sequence[Member], name: str, files: Sequence[str], notes: list[str], *, fill: bool) -> Trace:
    """Make the trace of a job from the reports of its ranks.

    Ranks that the source does not show are an InputError, or with `fill` do the same as the others by symmetry.
    Everything assumed, and every disagreement between ranks, is told in the trace's notes.
    """
    findings = Findings(files)
    try:
        communicators = join(members, notes)
        _check_complete(communicators, files, notes, fill)
        ranks = number_ranks(communicators, notes, fill)
        steps = [step for each in communicators for step in _steps(each, findings, fill)]
    except InputError as error:
        where = files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"
        raise InputError(error.what, where=error.where or where, mend=error.mend) from None
    if len(steps) > MAX_OPERATIONS or sum(len(step.ranks) for step in steps) > MAX_PARTS:
        raise InputError("the log holds too many operations", where=files[0], mend="cut it into parts")
    notes += _not_covered(steps, ranks) if fill else []
    steps = program_order(steps, findings)
    groups = _groups(steps, ranks)
    operations = _operations(steps, {group.ranks: group.name for group in groups.values()})
    return Trace(name, ranks, groups, operations, ", ".join(files), (*notes, *findings.notes()))


def _check_complete(communicators: list[Communicator], files: Sequence[str], notes: list[str], fill: bool) -> None:
    short = [each for each in communicators if len(each.members) < each.size]
    for communicator in short:
        if not fill:
            first = min(member.place for member in communicator.members.values())
            error = missing(communicator)
            raise InputError(error.what, where=f"{files[first.file]}:{first.line}", mend=error.mend)
        seen = len(communicator.members)
        notes.append(f"{seen} of {communicator.size} ranks of a communicator seen: the others do the same by symmetry")


def _not_covered(steps: list[Step], ranks: int) -> list[str]:
    """Tell where groups of one size do not reach all ranks: their sisters are not in the log, and are not invented."""
    reached: dict[int, set[int]] = defaultdict(set)
    for step in steps:
        reached[len(step.ranks)].update(step.ranks)
    return [
        f"only {len(some)} of {ranks} ranks are in groups of {size}: the calls of the others are not in the log"
        for size, some in sorted(reached.items())
        if len(some) < ranks
    ]


def _steps(communicator: Communicator, findings: Findings, fill: bool) -> list[Step]:
    """Make one communicator's operations from its members' calls."""
    collectives = {
        rank: [call for call in member.calls if call.batch < 0] for rank, member in sorted(communicator.members.items())
    }
    joined = _line_up(collectives)
    steps = [_collective(communicator, calls, findings) for calls in joined]
    return steps + transfers(communicator, findings, fill)


def _line_up(calls: dict[int, list[Call]]) -> list[dict[int, Call]]:
    """Join the k-th calls of all ranks; where they disagree, try the numbers that the source gave the calls."""
    by_turn = _joined({rank: list(range(len(each))) for rank, each in calls.items()}, calls)
    hints = {rank: [call.hint for call in each] for rank, each in calls.items()}
    rising = all(all(a < b for a, b in pairwise(each)) for each in hints.values())
    if _disagreements(by_turn, len(calls)) and rising:
        by_hint = _joined(hints, calls)
        if _disagreements(by_hint, len(calls)) < _disagreements(by_turn, len(calls)):
            return by_hint
    return by_turn


def _joined(keys: dict[int, list[int]], calls: dict[int, list[Call]]) -> list[dict[int, Call]]:
    joined: dict[int, dict[int, Call]] = {}
    for rank, each in calls.items():
        for key, call in zip(keys[rank], each, strict=True):
            joined.setdefault(key, {})[rank] = call
    return [joined[key] for key in sorted(joined)]


def _disagreements(joined: list[dict[int, Call]], members: int) -> int:
    """Count the reports that differ from the first one or are not there."""
    total = 0
    for calls in joined:
        first = next(iter(calls.values())).wish()
        total += members - len(calls) + sum(call.wish() != first for call in calls.values())
    return total


def _collective(communicator: Communicator, calls: dict[int, Call], findings: Findings) -> Step:
    """Make one operation of the reports of all ranks; what most of them say holds."""
    wishes: Counter[Hashable] = Counter(call.wish() for call in calls.values())
    common = wishes.most_common(1)[0][0]
    chosen = next(call for call in calls.values() if call.wish() == common)
    for rank, call in calls.items():
        if call.wish() != common:
            findings.add(call, f"rank {rank} calls {_told(call)} where others call {_told(chosen)}; the others hold")
    if len(calls) < len(communicator.members):
        seen = f"{len(calls)} of {len(communicator.members)} ranks"
        findings.add(chosen, f"{_told(chosen)} is reported by {seen} only; kept for all")
    operation = Operation(
        chosen.op, None, communicator.ranks, chosen.bytes, chosen.dtype, chosen.root, line=chosen.place.line
    )
    return Step(operation, {communicator.ranks[rank]: [call] for rank, call in calls.items()}, on_group=True)


def _told(call: Call) -> str:
    return f"{call.op} of {call.bytes:,} bytes {call.dtype}".rstrip() + (f" from root {call.root}" if call.root else "")


def _groups(steps: list[Step], ranks: int) -> dict[str, Group]:
    """Name every list of ranks that a collective runs on."""
    groups = {WORLD: Group(WORLD, tuple(range(ranks)))}
    named = {groups[WORLD].ranks}
    for step in steps:
        if step.on_group and step.ranks not in named:
            named.add(step.ranks)
            name = f"comm{len(groups)}"
            groups[name] = Group(name, step.ranks)
    return groups


def _operations(steps: list[Step], names: dict[tuple[int, ...], str]) -> tuple[Operation, ...]:
    streams = stream_names(steps)
    return tuple(
        replace(step.operation, group=names[step.ranks] if step.on_group else None, stream=stream)
        for step, stream in zip(steps, streams, strict=True)
    )
