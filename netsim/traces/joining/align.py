"""Joining what each rank reports into one trace: the k-th call on a communicator is one operation for all its ranks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from netsim.errors import InputError
from netsim.traces.input_files import trace_name
from netsim.traces.joining.columns import Calls, Ints, of_kind
from netsim.traces.joining.communicators import Communicator, join, missing, number_ranks
from netsim.traces.joining.line_up import By, LinedUp, crossed, line_up
from netsim.traces.joining.order import AnyStep, Step, program_order, stream_names
from netsim.traces.joining.pairs import transfers
from netsim.traces.joining.reports import Call, Findings, Member, Missing
from netsim.traces.joining.timing import Timeline, computing, timeline
from netsim.traces.joining.together import line_up_together
from netsim.traces.joining.uniform_runs import Stretch, uniform
from netsim.traces.limits import MAX_CELLS, MAX_OPERATIONS, MAX_PARTS
from netsim.traces.read_report import ReadReport
from netsim.traces.trace import WORLD, Group, Operation, Sizes, Trace

_JOINED = "they are joined where the logs of ranks agree the longest; a cut log does not tell which belong together"
NOTES = {
    By.TURN: f"no numbers tell the calls of a communicator apart: {_JOINED}",
    By.TURN_AGAINST_NUMBER: f"ranks give the same calls of a communicator other numbers: {_JOINED}",
    By.TURN_OF_ENDS: f"no numbers tell which receive is of which send: {_JOINED}",
}


def align(
    members: Sequence[Member],
    paths: Sequence[Path],
    endings: Sequence[str],
    notes: list[str],
    *,
    fill: bool,
    partial: bool = False,
    report: ReadReport | None = None,
    world: int = 0,
) -> Trace:
    """Make the trace of a job from the reports of its ranks, named after the first file without these `endings`.

    Ranks that the source does not show are an InputError; with `fill` they do the same as the others by symmetry; with
    `partial` the trace holds what the seen ranks report, which is enough to profile it, and the others are a finding:
    a collective that some of its ranks report counts as of all of them, a send as a send, whoever reports it; what no
    rank reports does not count. Everything assumed, and every disagreement between ranks, is told in the trace's notes
    and in its `report`, which goes on from what the reader says in `report`. The job has at least `world` ranks.
    """
    name, files = trace_name(paths[0], *endings), [str(path) for path in paths]
    findings = Findings(files, Missing.FILL if fill else Missing.TELL if partial else Missing.REFUSE)
    communicators, ranks, strangers, steps = _joined_steps(members, findings)
    ranks = max(ranks, world)
    assumed = findings.assumed + (_not_covered(steps, ranks) if fill else [])
    steps = program_order(steps, findings)
    groups, times = _groups(steps, ranks), timeline(steps)
    assumed += times.assumed
    operations = _operations(steps, {group.ranks: group.name for group in groups.values()}, times, everyone=fill)
    _check_size(len(operations), sum(len(operation.ranks) for operation in operations), files[0])
    report, skipped = report or ReadReport(), {why: count for why, count in findings.skipped.items() if count}
    notes = [*notes, *(f"{count:,} skipped: {why}" for why, count in sorted(skipped.items()))]
    recorded = replace(
        report,
        skipped={**report.skipped, **skipped},
        seen=tuple(sorted({each.ranks[rank] for each in communicators for rank in each.members})),
        unplaced=strangers,
        assumed=(*report.assumed, *assumed),
        findings=(*report.findings, *findings.notes()),
    )
    return Trace(name, ranks, groups, operations, ", ".join(files), (*notes, *assumed, *findings.notes()), recorded)


def _joined_steps(members: Sequence[Member], findings: Findings) -> tuple[list[Communicator], int, int, list[AnyStep]]:
    """The communicators, how many ranks there are and how many of them are strangers, and the operations."""
    files = findings.files
    try:
        communicators = join(members, findings.assumed)
        _check_complete(communicators, findings)
        ranks, strangers = number_ranks(communicators, findings)
        steps, every = list[AnyStep](), _lined_up(communicators)
        short = any(len(places) < each.operations for each in every for places in each.places.values())
        for each, lined_up in zip(communicators, every, strict=True):
            steps += _steps(each, lined_up, findings)
            steps += transfers(each, findings, short=short)
            findings.told_by[lined_up.by] += 1
    except InputError as error:
        where = files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"
        raise InputError(error.what, where=error.where or where, hint=error.hint) from None
    findings.assumed += [note for by, note in NOTES.items() if findings.told_by[by]]
    _check_size(len(steps), sum(len(step.ranks) for step in steps), files[0])
    return communicators, ranks, strangers, steps


def _check_size(operations: int, parts: int, where: str) -> None:
    if operations > MAX_OPERATIONS or parts > MAX_PARTS:
        what = f"the log holds more than {MAX_OPERATIONS:,} operations, or {MAX_PARTS:,} parts of ranks in them"
        raise InputError(what, where=where, hint="cut out the steps that matter")


def _check_complete(communicators: list[Communicator], findings: Findings) -> None:
    short = [each for each in communicators if len(each.members) < each.size]
    for communicator in short:
        place = min(member.place for member in communicator.members.values())
        if findings.absent is Missing.REFUSE:
            error = missing(communicator)
            raise InputError(error.what, where=f"{findings.files[place.file]}:{place.recorded}", hint=error.hint)
        seen = f"{len(communicator.members)} of {communicator.size} ranks of a communicator seen"
        if findings.absent is Missing.FILL:
            findings.assumed.append(f"{seen}: the others do the same by symmetry")
        else:
            findings.tell(place, f"{seen}{communicator.absent()}: what the others do is not in the log")


def _not_covered(steps: list[AnyStep], ranks: int) -> list[str]:
    """Tell where groups of one size do not reach all ranks: their sisters are not in the log, and are not invented."""
    reached: dict[int, set[int]] = defaultdict(set)
    for step in steps:
        reached[len(step.ranks)].update(step.ranks)
    return [
        f"only {len(some)} of {ranks} ranks are in groups of {size}: the calls of the others are not in the log"
        for size, some in sorted(reached.items())
        if len(some) < ranks
    ]


def _reported(communicator: Communicator) -> dict[int, Sequence[Call]]:
    """The collectives that each member reports, by global rank, where it does."""
    members = sorted(communicator.members.items())
    calls = {communicator.ranks[rank]: of_kind(member.recorded, transfers=False) for rank, member in members}
    return {rank: each for rank, each in calls.items() if len(each)}


def _lined_up(communicators: list[Communicator]) -> list[LinedUp]:
    """Say for each communicator which calls of its ranks are one operation."""
    recorded = [_reported(each) for each in communicators]
    numbered = [all(member.numbered for member in each.members.values()) for each in communicators]
    alone = [line_up(calls, numbered=each) for calls, each in zip(recorded, numbered, strict=True)]
    return line_up_together(recorded, alone)


def _steps(communicator: Communicator, lined_up: LinedUp, findings: Findings) -> list[AnyStep]:
    """Make one communicator's operations from its members' calls."""
    calls, steps = _reported(communicator), list[AnyStep]()
    call = crossed(calls, lined_up)
    if call is not None:
        raise findings.deadlock(call, _told(call), "another operation")
    everybody = len(calls) == len(communicator.members)
    same = uniform(calls, lined_up) if everybody else {}
    short = not everybody or lined_up.operations > min(map(len, calls.values()), default=0)
    guessed = communicator.guessed or (short and lined_up.by is not By.NUMBER)
    columns = {rank: each.taken(same[rank]) for rank, each in calls.items() if isinstance(each, Calls) and same}
    if columns:
        steps += Stretch(communicator.ranks, columns, guessed=guessed).steps()
    against = _Against(findings)
    for joined in _others(communicator, calls, lined_up, same):
        steps.append(_collective(communicator, joined, against, guessed=guessed))
    return steps


def _others(
    communicator: Communicator, calls: dict[int, Sequence[Call]], lined_up: LinedUp, same: dict[int, Ints]
) -> list[dict[int, Call]]:
    """List the operations that ranks do not report alike, each with the calls that report it, by position."""
    position = {rank: number for number, rank in enumerate(communicator.ranks)}
    joined: dict[int, dict[int, Call]] = {}
    for rank, each in calls.items():
        left = np.setdiff1d(np.arange(len(each)), same.get(rank, ()))
        places = lined_up.places[rank][left].tolist()
        for place, call in zip(places, each.taken(left) if isinstance(each, Calls) else each, strict=True):
            joined.setdefault(place, {})[position[rank]] = call
    return [joined[place] for place in sorted(joined)]


def _agree(calls: dict[int, Call]) -> bool:
    """Tell whether all report the same, and the same to every peer: the usual case, told quickly."""
    each = iter(calls.values())
    first = next(each)
    op, size, dtype, root = first.op, first.bytes, first.dtype, first.root
    if first.row is not None:
        return False
    for call in each:
        if call.bytes != size or call.op != op or call.root != root or call.dtype != dtype or call.row is not None:
            return False
    return True


@dataclass(slots=True)
class _Against:
    """What ranks of one communicator call where others call something else."""

    findings: Findings
    recorded: set[tuple[int, Hashable, Hashable]] = field(default_factory=set)

    def add(self, rank: int, call: Call, others: Call) -> None:
        """Tell it; a rank that also calls the two things the other way round waits for ever."""
        if (rank, others.request(), call.request()) in self.recorded:
            raise self.findings.deadlock(call, _told(call), _told(others))
        self.recorded.add((rank, call.request(), others.request()))
        what = f"rank {rank} calls {_told(call)} where others call {_told(others)}; the others hold"
        self.findings.tell(call.place, what)


def _collective(communicator: Communicator, calls: dict[int, Call], against: _Against, *, guessed: bool) -> Step:
    """Make one operation of the reports of all ranks; what most of them say holds."""
    agreed = _agree(calls)
    unequal = not agreed and any(call.row is not None for call in calls.values())
    chosen = next(iter(calls.values())) if agreed else _chosen(calls, against, unequal=unequal)
    if len(calls) < len(communicator.members):
        seen = f"{len(calls)} of {len(communicator.members)} ranks"
        against.findings.tell(chosen.place, f"{_told(chosen)} is reported by {seen} only; kept for all")
    operation = Operation(
        chosen.op, None, communicator.ranks, chosen.bytes, chosen.dtype, chosen.root, line=chosen.place.recorded
    )
    if unequal and chosen.op == "all_to_all":
        same = {rank: call for rank, call in calls.items() if call.op == chosen.op}
        sizes = _sizes(same, communicator.size, against.findings.absent)
        operation = replace(operation, op="all_to_all_v", sizes=sizes, bytes=max(map(sum, sizes)))
    by_rank = {communicator.ranks[rank]: [call] for rank, call in calls.items()}
    return Step(operation, by_rank, on_group=True, guessed=guessed)


def _sizes(calls: dict[int, Call], size: int, absent: Missing) -> Sizes:
    """What the i-th member of an all-to-all sends to the j-th; a rank without sizes sends the same to all.

    Ranks that are not seen send as the first seen one does, turned by their distance to it, where the user wants
    missing ranks filled in; else they send nothing.
    """
    if size * size > MAX_CELLS:
        what = f"an all-to-all of different sizes among {size:,} ranks is too large"
        raise InputError(what, hint="take a part of the job")
    rows = {rank: call.row or (call.bytes // size,) * size for rank, call in calls.items()}
    first = min(rows)
    twice = (rows[first] if absent is Missing.FILL else (0,) * size) * 2
    starts = [(first - rank) % size for rank in range(size)]
    return tuple(rows.get(rank) or twice[start : start + size] for rank, start in enumerate(starts))


def _chosen(calls: dict[int, Call], against: _Against, *, unequal: bool) -> Call:
    """The first of the reports that most ranks agree on; those that differ are told."""
    requests: Counter[Hashable] = Counter(call.request() for call in calls.values())
    common = requests.most_common(1)[0][0]
    chosen = next(call for call in calls.values() if call.request() == common)
    for rank, call in calls.items():
        if call.request() != common and not (unequal and call.op == chosen.op):
            against.add(rank, call, chosen)
    return chosen


def _told(call: Call) -> str:
    return f"{call.op} of {call.bytes:,} bytes {call.dtype}".rstrip() + (f" from root {call.root}" if call.root else "")


def _groups(steps: list[AnyStep], ranks: int) -> dict[str, Group]:
    """Name every list of ranks that a collective runs on."""
    groups = {WORLD: Group(WORLD, tuple(range(ranks)))}
    named = {groups[WORLD].ranks}
    for step in steps:
        if step.on_group and step.ranks not in named:
            named.add(step.ranks)
            name = f"comm{len(groups)}"
            groups[name] = Group(name, step.ranks)
    return groups


def _operations(
    steps: list[AnyStep], names: dict[tuple[int, ...], str], times: Timeline, *, everyone: bool
) -> tuple[Operation, ...]:
    """Name groups and streams, add when each step ran, and put the computing before it."""
    streams, operations = stream_names(steps), list[Operation]()
    before = computing(steps, streams, times, everyone=everyone)
    for number, (step, stream) in enumerate(zip(steps, streams, strict=True)):
        group = names[step.ranks] if step.on_group else None
        operations += before[number]
        operations.append(step.placed(group, stream, **times.recorded(number)))
    return tuple(operations)
