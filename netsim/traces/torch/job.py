"""Joining what PyTorch's files tell, one file for each rank, into the trace of a job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from netsim.errors import InputError
from netsim.traces.fields import shown
from netsim.traces.joining.align import align
from netsim.traces.joining.reports import Call, Member, Place
from netsim.traces.limits import MAX_BYTES, MAX_CALLS, MAX_RANKS
from netsim.traces.read_report import ReadReport
from netsim.traces.torch.calls import RankCall, RankFile, Ranks
from netsim.traces.trace import ROOTED, Trace

WORLD_GROUPS = ("", "0", "default_pg")  # names of the group of all ranks
_RANK = "put the rank into the file's name, like trace.rank3.json"


def reader(
    scan: Callable[[Path], RankFile], what: str, file_word: str = "", hint: str = "", *, numbered: bool = False
) -> Callable[..., Trace]:
    """Make the `read` of a format of one file for each rank, which `scan` reads; `what` is its name for people.

    A file without a call is an InputError with this hint, unless `scan` refuses it (no `file_word`). With `numbered`,
    calls of different ranks are joined by the number their source gives them, not by their turn.
    """

    def read(paths: Sequence[Path], *, fill_missing_ranks: bool = False, partial: bool = False) -> Trace:
        files = [scan(path) for path in paths]
        for file in files:
            if file_word and not file.recorded:
                empty = f"there is no collective in this {file_word} of {file.events:,} entries"
                raise InputError(empty, where=str(file.path), hint=hint)
        return _trace_of(files, what, numbered=numbered, fill=fill_missing_ranks, partial=partial)

    return read


def _trace_of(files: Sequence[RankFile], what: str, *, numbered: bool, **options: bool) -> Trace:
    _check_ranks(files)
    groups = _Groups(files)
    members: list[Member] = []
    skipped, records = Counter[str](), 0
    for number, file in enumerate(files):
        skipped.update(file.skipped)
        for member in _members(number, file, groups, skipped, numbered):
            records += len(member.calls)
            members.append(member)
        if records > MAX_CALLS:
            hint = "profile fewer steps"
            raise InputError(f"there are more than {MAX_CALLS:,} calls", where=str(file.path), hint=hint)
    events, cut = sum(file.events for file in files), sum(file.cut for file in files)
    assumed = _assumed(files, groups)
    report = ReadReport(lines=events, records=records, cut=cut, skipped=dict(skipped), assumed=assumed)
    read_first = f"{records:,} calls of {len(files):,} rank{'s' if len(files) > 1 else ''} in {events:,} {what}"
    notes = report.notes(read_first, "files or events end in the middle: what stands before is kept")
    paths = [file.path for file in files]
    return align(members, paths, (".jsonl", ".json"), notes, report=report, world=groups.world, **options)


def _assumed(files: Sequence[RankFile], groups: _Groups) -> tuple[str, ...]:
    """Everything assumed, each thing once."""
    streams = {recorded.stream for file in files for recorded in file.recorded}
    if streams == {""} and len(groups.callers) > 1:
        groups.assumed.append("streams are not told: the calls of a rank follow one another, on all groups")
    return tuple(dict.fromkeys([*(note for file in files for note in file.assumed), *groups.assumed]))


def _check_ranks(files: Sequence[RankFile]) -> None:
    seen: dict[int, Path] = {}
    for file in files:
        if file.rank is None:
            raise InputError("does not say which rank it is of", where=str(file.path), hint=_RANK)
        if file.rank in seen:
            what = f"is of rank {file.rank}, and so is {seen[file.rank]}"
            raise InputError(what, where=str(file.path), hint=f"give one file of each rank of one run, or {_RANK}")
        seen[file.rank] = file.path


class _Groups:
    """The global ranks of each group, from what the files say of them, and from who calls on them where they do not."""

    def __init__(self, files: Sequence[RankFile]) -> None:
        self.assumed: list[str] = []
        self.callers: dict[str, set[int]] = {}
        sizes: dict[str, int] = {}
        for file in files:
            for recorded in file.recorded:
                self.callers.setdefault(recorded.group, set()).add(file.rank or 0)
                sizes[recorded.group] = max(sizes.get(recorded.group, 0), _size_by(recorded))
        self.sizes = sizes
        self.world = max(max(file.world, (file.rank or 0) + 1) for file in files)
        named = [max(ranks) + 1 for file in files for ranks in file.groups.values()]
        whole = [sizes[name] for name in WORLD_GROUPS if name in sizes]
        self.world = min(max([self.world, *named, *whole]), MAX_RANKS)
        self.guessed: dict[str, Ranks] = {}

    def of(self, file: RankFile, name: str) -> Ranks:
        """Give the ranks of a group that this file names."""
        ranks = file.groups.get(name) or self.guessed.get(name) or self._guess(file, name)
        if file.rank not in ranks:
            what = f"rank {file.rank} calls on process group {name!r}, which is said to hold other ranks"
            raise InputError(what, where=str(file.path), hint="give the files of one run, with the right ranks")
        return ranks

    def _guess(self, file: RankFile, name: str) -> Ranks:
        callers, size = self.callers[name], self.sizes[name]
        if file.cut and not (file.world and name in WORLD_GROUPS):
            what = f"ends in the middle, and what is left does not tell the ranks of process group {shown(name)}"
            raise InputError(what, where=str(file.path), hint="give the whole file")
        if name in WORLD_GROUPS:
            ranks = tuple(range(self.world))
            recorded = f"process group {name!r} is taken" if name else "calls name no process group: they are taken"
            self.assumed.append(f"{recorded} as of all {self.world:,} ranks")
        elif size > len(callers):
            what = f"process group {name!r} has {size} ranks, of which {len(callers)} report, and no file lists them"
            raise InputError(what, where=str(file.path), hint="give the files of all ranks")
        else:
            ranks = tuple(sorted(callers))
            recorded = f"process group {name!r} is taken as of the ranks that call on it"
            self.assumed.append(f"{recorded} ({', '.join(map(str, ranks[:8]))}{', ...' if len(ranks) > 8 else ''})")
        self.guessed[name] = ranks
        return ranks


def _size_by(recorded: RankCall) -> int:
    """The size of a group by what a call gives and gets; 0 where that does not tell."""
    if recorded.op == "all_to_all":
        return len(recorded.splits)
    parts = {"all_gather": (recorded.sent, recorded.received), "reduce_scatter": (recorded.received, recorded.sent)}
    part, total = parts.get(recorded.op, (0, 0))
    return total // part if part and total % part == 0 and total // part <= MAX_RANKS else 0


def _members(number: int, file: RankFile, groups: _Groups, skipped: Counter[str], numbered: bool) -> list[Member]:
    """Make one rank's members of the groups on which it calls."""
    rank, members, groups_of = file.rank or 0, dict[str, Member](), dict[str, Ranks]()
    for turn, recorded in enumerate(sorted(file.recorded, key=lambda each: each.order)):
        ranks = groups_of.get(recorded.group, ())
        if not ranks:
            ranks = groups_of[recorded.group] = groups.of(file, recorded.group)
        peer = _peer(recorded, ranks)
        if peer is None:
            skipped[f"{recorded.op} without its other end"] += 1
            continue
        place = Place(number, turn, shown=recorded.line)
        if recorded.group not in members:
            member = Member(("rank", str(rank)), len(ranks), place, (recorded.group, ranks), ranks.index(rank), rank)
            member.ranks, member.numbered = ranks, numbered
            members[recorded.group] = member
        members[recorded.group].calls.append(_call(recorded, len(ranks), peer, place, str(file.path), turn))
    if any(recorded.op in ROOTED and recorded.peer < 0 for recorded in file.recorded):
        file.assumed.append("the root of some calls is not told: position 0 of the group is taken")
    return list(members.values())


def _peer(recorded: RankCall, ranks: Ranks) -> int | None:
    """The position in the group of the root or of the other end; None for a transfer that does not tell it."""
    peer = recorded.peer
    if recorded.global_peer >= 0 and recorded.global_peer in ranks:
        peer = ranks.index(recorded.global_peer)
    if recorded.op in ("send", "recv"):
        return peer if 0 <= peer < len(ranks) else None
    return peer if recorded.op in ROOTED and 0 <= peer < len(ranks) else 0


def _call(recorded: RankCall, ranks: int, peer: int, place: Place, path: str, turn: int) -> Call:
    size = recorded.full_bytes(ranks)
    if size > MAX_BYTES:
        what = f"{recorded.op} of {size:,} bytes cannot be true"
        raise InputError(what, where=f"{path}:{recorded.line}", hint="remove the call")
    dtype = "" if recorded.op == "barrier" else recorded.dtype
    batch = -1 if recorded.op not in ("send", "recv") else recorded.batch if recorded.batch >= 0 else MAX_CALLS + turn
    call = Call(recorded.op, size, dtype, peer, recorded.stream, place, recorded.seq, batch)
    call.row, call.start_ps, call.duration_ps = recorded.row(ranks), recorded.start_ps, recorded.duration_ps
    return call
