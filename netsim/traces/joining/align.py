"""Joining what each rank reports into one trace: the k-th call on a communicator is one operation for all its ranks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

from netsim.errors import InputError
from netsim.traces.joining.alike import AlikeStep, Stretch, alike
from netsim.traces.joining.columns import Calls, collectives, rising
from netsim.traces.joining.communicators import Communicator, Missing, join, missing, number_ranks
from netsim.traces.joining.order import AnyStep, Step, program_order, stream_names
from netsim.traces.joining.pairs import transfers
from netsim.traces.joining.reports import Call, Findings, Member
from netsim.traces.joining.timing import Timeline, computing, timeline
from netsim.traces.joining.uneven import is_uneven, matrix
from netsim.traces.limits import MAX_OPERATIONS, MAX_PARTS
from netsim.traces.read_report import ReadReport
from netsim.traces.trace import WORLD, Group, Operation, Trace


def align(
    members: Sequence[Member],
    name: str,
    files: Sequence[str],
    notes: list[str],
    *,
    fill: bool,
    partial: bool = False,
    report: ReadReport | None = None,
    world: int = 0,
) -> Trace:
    """Make the trace of a job from the reports of its ranks.

    Ranks that the source does not show are an InputError; with `fill` they do the same as the others by symmetry; with
    `partial` the trace holds what the seen ranks report, which is enough to profile it, and the others are a finding:
    a collective that some of its ranks report counts as of all of them, a send as a send, whoever reports it; what no
    rank reports does not count.
    Everything assumed, and every disagreement between ranks, is told in the trace's notes and in its `report`, which
    goes on from what the reader says in `report`. The job has at least `world` ranks.
    """
    findings, assumed = Findings(files), list[str]()
    absent = Missing.FILL if fill else Missing.TELL if partial else Missing.REFUSE
    communicators, ranks, strangers, steps = _joined_steps(members, findings, assumed, absent)
    ranks = max(ranks, world)
    assumed += _not_covered(steps, ranks) if fill else []
    steps = program_order(steps, findings)
    groups, times = _groups(steps, ranks), timeline(steps)
    assumed += times.assumed
    operations = _operations(steps, {group.ranks: group.name for group in groups.values()}, times, everyone=fill)
    _check_size(len(operations), sum(len(operation.ranks) for operation in operations), files[0])
    report = report or ReadReport()
    told = replace(
        report,
        seen=tuple(sorted({each.ranks[rank] for each in communicators for rank in each.members})),
        unplaced=strangers,
        assumed=(*report.assumed, *assumed),
        findings=(*report.findings, *findings.notes()),
    )
    return Trace(name, ranks, groups, operations, ", ".join(files), (*notes, *assumed, *findings.notes()), told)


def _joined_steps(
    members: Sequence[Member], findings: Findings, assumed: list[str], absent: Missing
) -> tuple[list[Communicator], int, int, list[AnyStep]]:
    """The communicators, how many ranks there are and how many of them are strangers, and the operations."""
    files = findings.files
    try:
        communicators = join(members, assumed)
        _check_complete(communicators, findings, assumed, absent)
        ranks, strangers = number_ranks(communicators, assumed, absent)
        steps = [step for each in communicators for step in _steps(each, findings, absent)]
    except InputError as error:
        where = files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"
        raise InputError(error.what, where=error.where or where, mend=error.mend) from None
    _check_size(len(steps), sum(len(step.ranks) for step in steps), files[0])
    return communicators, ranks, strangers, steps


def _check_size(operations: int, parts: int, where: str) -> None:
    if operations > MAX_OPERATIONS or parts > MAX_PARTS:
        raise InputError("the log holds too many operations", where=where, mend="cut it into parts")


def _check_complete(communicators: list[Communicator], findings: Findings, assumed: list[str], absent: Missing) -> None:
    short = [each for each in communicators if len(each.members) < each.size]
    for communicator in short:
        place = min(member.place for member in communicator.members.values())
        if absent is Missing.REFUSE:
            error = missing(communicator)
            raise InputError(error.what, where=f"{findings.files[place.file]}:{place.told}", mend=error.mend)
        seen = f"{len(communicator.members)} of {communicator.size} ranks of a communicator seen"
        if absent is Missing.FILL:
            assumed.append(f"{seen}: the others do the same by symmetry")
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


def _steps(communicator: Communicator, findings: Findings, absent: Missing) -> list[AnyStep]:
    """Make one communicator's operations from its members' calls."""
    calls = {rank: collectives(member.told) for rank, member in sorted(communicator.members.items())}
    numbered = all(member.numbered for member in communicator.members.values())
    same = 0 if numbered else alike(calls)
    is_rising = numbered or all(rising(each) for each in calls.values())
    steps = list[AnyStep](_alike(communicator, calls, same) if same else ())
    for joined in _line_up({rank: each[same:] for rank, each in calls.items()}, is_rising, numbered=numbered):
        steps.append(_collective(communicator, joined, findings, absent))
    return steps + transfers(communicator, findings, absent)


def _alike(communicator: Communicator, calls: dict[int, Sequence[Call]], same: int) -> list[AlikeStep]:
    columns = {communicator.ranks[rank]: each[:same] for rank, each in calls.items() if isinstance(each, Calls)}
    return Stretch(communicator.ranks, columns).steps()


def _line_up(calls: dict[int, Sequence[Call]], rising: bool, *, numbered: bool) -> list[dict[int, Call]]:
    """Join the k-th calls of all ranks; where they disagree, try the numbers of the source if they are rising."""
    by_turn = _joined({rank: list(range(len(each))) for rank, each in calls.items()}, calls)
    hints = {rank: [call.hint for call in each] for rank, each in calls.items()}
    if numbered:
        return _joined(hints, calls)
    if _disagreements(by_turn, len(calls)) and rising:
        by_hint = _joined(hints, calls)
        if _disagreements(by_hint, len(calls)) < _disagreements(by_turn, len(calls)):
            return by_hint
    return by_turn


def _joined(keys: dict[int, list[int]], calls: Mapping[int, Sequence[Call]]) -> list[dict[int, Call]]:
    joined: dict[int, dict[int, Call]] = {}
    for rank, each in calls.items():
        for key, call in zip(keys[rank], each, strict=True):
            joined.setdefault(key, {})[rank] = call
    return [joined[key] for key in sorted(joined)]


def _disagreements(joined: list[dict[int, Call]], members: int) -> int:
    """Count the reports that differ from the first one or are not there."""
    total = 0
    for calls in joined:
        total += members - len(calls)
        if not _agree(calls):
            first = next(iter(calls.values())).wish()
            total += sum(call.wish() != first for call in calls.values())
    return total


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


def _collective(communicator: Communicator, calls: dict[int, Call], findings: Findings, absent: Missing) -> Step:
    """Make one operation of the reports of all ranks; what most of them say holds."""
    agreed = _agree(calls)
    uneven = not agreed and is_uneven(calls)
    chosen = next(iter(calls.values())) if agreed else _chosen(calls, findings, uneven=uneven)
    if len(calls) < len(communicator.members):
        seen = f"{len(calls)} of {len(communicator.members)} ranks"
        findings.add(chosen, f"{_told(chosen)} is reported by {seen} only; kept for all")
    operation = Operation(
        chosen.op, None, communicator.ranks, chosen.bytes, chosen.dtype, chosen.root, line=chosen.place.told
    )
    if uneven and chosen.op == "all_to_all":
        sizes = matrix({rank: call for rank, call in calls.items() if call.op == chosen.op}, communicator.size, absent)
        operation = replace(operation, op="all_to_all_v", sizes=sizes, bytes=max(map(sum, sizes)))
    return Step(operation, {communicator.ranks[rank]: [call] for rank, call in calls.items()}, on_group=True)


def _chosen(calls: dict[int, Call], findings: Findings, *, uneven: bool) -> Call:
    """The first of the reports that most ranks agree on; those that differ are told."""
    wishes: Counter[Hashable] = Counter(call.wish() for call in calls.values())
    common = wishes.most_common(1)[0][0]
    chosen = next(call for call in calls.values() if call.wish() == common)
    for rank, call in calls.items():
        if call.wish() != common and not (uneven and call.op == chosen.op):
            findings.add(call, f"rank {rank} calls {_told(call)} where others call {_told(chosen)}; the others hold")
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
