"""NCCL Inspector dumps (JSON objects one after another, one to a line or indented): size and time of collectives.

The inspector writes the latest collective at each interval, so a dump is a sample of what ran: the numbers that NCCL
gives the collectives of a communicator tell how many are missing between.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from netsim.errors import InputError
from netsim.traces.joining.align import align
from netsim.traces.joining.reports import PER_RANK, Call, Member, Place
from netsim.traces.json_stream import JsonWalk
from netsim.traces.limits import MAX_BYTES, MAX_CALLS, MAX_NAME, MAX_RANKS
from netsim.traces.read_report import ReadReport
from netsim.traces.recognise import OBJECT, recogniser
from netsim.traces.torch.calls import PS_PER_US, operation_of, picoseconds, whole
from netsim.traces.trace import Trace

NEAR = 0.01  # how well a reported bandwidth must fit
ONE_WORLD = "communicators of one size, in which no rank is two processes: each is taken as of all ranks"
Key = tuple[str, int, int]  # communicator, its size, rank in it
recognises = recogniser(OBJECT, r'"(?:coll_perf|p2p_perf|inspector_output_format_version)"\s*:')


def read(paths: Sequence[Path], *, fill_missing_ranks: bool = False, partial: bool = False) -> Trace:
    """Read the dumps of one job: a file for each process."""
    dumps = Dumps()
    for path in paths:
        dumps.scan(path)
    members = list(dumps.members.values())
    if not members:
        what = f"there is no collective in this dump of {dumps.events:,} objects"
        hint = "run the job with NCCL_PROFILER_PLUGIN=libnccl-profiler-inspector.so NCCL_INSPECTOR_ENABLE=1"
        raise InputError(what, where=str(paths[0]), hint=hint)
    calls, skipped = sum(len(member.calls) for member in members), dict(dumps.skipped)
    assumed = tuple(dumps.assumed(members))
    report = ReadReport(lines=dumps.events, records=calls, cut=dumps.cut, skipped=skipped, assumed=assumed)
    read_first = f"{calls:,} calls in {dumps.events:,} objects of NCCL Inspector"
    notes = report.notes(read_first, "files end in the middle: what stands before is kept")
    endings = (".jsonl", ".json", ".log")
    return align(members, paths, endings, notes, fill=fill_missing_ranks, partial=partial, report=report)


@dataclass(slots=True, eq=False)
class Dumps:
    """Collects what the dumps of all processes tell."""

    members: dict[tuple[Key, tuple[str, str]], Member] = field(default_factory=dict)
    seen: set[tuple[Key, str, int]] = field(default_factory=set)
    skipped: Counter[str] = field(default_factory=Counter)
    events: int = 0
    cut: int = 0
    files: int = 0
    full_sizes: int = 0  # calls whose bandwidth fits the size as it is told
    above: dict[str, Any] = field(default_factory=dict)  # header and metadata that stand once, above the others
    borrowed: int = 0  # calls that had to take them from there

    def scan(self, path: Path) -> None:
        """Take in one file."""
        walk, self.above = JsonWalk(path, many=True), {}
        for _, value in walk:
            self.events += 1
            where = f"{path}:{walk.line}"
            taken = isinstance(value, dict) and self._take(value, walk.line, where)
            if not taken and not self._only_header(value):
                self.skipped["objects that tell no whole collective"] += 1
            if self.events > MAX_CALLS:
                raise InputError(f"holds more than {MAX_CALLS:,} objects", where=where, hint="give a part of it")
        self.cut += walk.cut
        self.files += 1

    @staticmethod
    def _only_header(value: object) -> bool:
        """Tell whether an object says nothing but to whom those after it belong (Inspector 4.2 may write it once)."""
        listed = list(value.items()) if isinstance(value, dict) else []
        return bool(listed) and all(key in ("header", "metadata") and isinstance(each, dict) for key, each in listed)

    def _take(self, value: dict[str, Any], line: int, where: str) -> bool:
        told_here = {name: value[name] for name in ("header", "metadata") if isinstance(value.get(name), dict)}
        self.above = told_here if "header" in told_here else self.above | told_here
        header, about = self.above.get("header"), self.above.get("metadata")
        kind = "coll" if isinstance(value.get("coll_perf"), dict) else "p2p"
        recorded = value.get(f"{kind}_perf")
        if not isinstance(header, dict) or not isinstance(recorded, dict):
            return False
        key = _key(header)
        name, number = recorded.get(kind), whole(recorded.get(f"{kind}_sn"))
        size = whole(recorded.get(f"{kind}_msg_size_bytes"))
        op = operation_of(name) if isinstance(name, str) else None
        if key is None or op is None or number is None or size is None:
            return False
        if (key, kind, number) in self.seen:
            self.skipped["collectives that were dumped before"] += 1
            return True
        self.seen.add((key, kind, number))
        self.borrowed += "header" not in value
        call = Call(op, size, "", 0, "", Place(self.files, self.events, shown=line), number)
        self._measure(call, recorded, key[1], kind, where)
        if op in ("send", "recv"):
            call.root, call.batch = whole(recorded.get("p2p_peer")) or 0, self.events
            if call.root >= key[1]:
                return False
        process = _process(about if isinstance(about, dict) else {}, self.files)
        identity, size, rank = key
        member = Member(process, size, call.place, identity, rank, numbered=True)
        self.members.setdefault((key, process), member).calls.append(call)
        return True

    def _measure(self, call: Call, recorded: dict[str, Any], ranks: int, kind: str, where: str) -> None:
        """Set times and the full size; the reported bandwidth shows whether the size is already that of all ranks."""
        took = picoseconds(recorded.get(f"{kind}_exec_time_us"), PS_PER_US)
        call.duration_ps = took if took and took > 0 else None
        times = recorded.get("event_trace_ts")
        start = picoseconds(times.get(f"{kind}_start_ts"), PS_PER_US) if isinstance(times, dict) else None
        call.start_ps = start or None
        if call.op not in PER_RANK:
            return
        rate = recorded.get(f"{kind}_algobw_gbs")
        full = False
        if call.duration_ps and isinstance(rate, float | int) and not isinstance(rate, bool):
            full = abs(call.bytes * 1000 / call.duration_ps - rate) < NEAR * rate
        self.full_sizes += full
        call.bytes *= 1 if full else ranks
        if call.bytes > MAX_BYTES:
            what = f"{call.op} of {call.bytes:,} bytes cannot be true"
            raise InputError(what, where=where, hint="remove the object")

    def assumed(self, members: list[Member]) -> list[str]:
        """Put each member's calls in order, and say what has to be assumed."""
        numbers: dict[Hashable, set[int]] = {}
        for member in members:
            member.calls.sort(key=lambda call: call.op_count)
            # Places follow the numbers, so that no later call of a communicator stands before an earlier one.
            for call, place in zip(member.calls, sorted(call.place for call in member.calls), strict=True):
                call.place = place._replace(shown=call.place.shown)
            numbers.setdefault(member.identity, set()).update(call.op_count for call in member.calls if call.batch < 0)
        missing = sum(max(each) - min(each) + 1 - len(each) for each in numbers.values() if each)
        untimed = any(call.start_ps is None for member in members for call in member.calls)
        recorded: dict[str, object] = {
            "the inspector tells neither types of data nor roots: position 0 of the group is the root": True,
            f"{self.borrowed:,} objects without a header are taken to go with the last one above them": self.borrowed,
            f"the dump is a sample: {missing:,} collectives between those it holds are not in it": missing,
            "without NCCL_INSPECTOR_DUMP_VERBOSE=1 starts are not told: no computing between operations": untimed,
            f"sizes of {self.full_sizes:,} calls are of all ranks together, as their bandwidth shows": self.full_sizes,
            ONE_WORLD: _one_world(members),
        }
        return [what for what, holds in recorded.items() if holds]


def _one_world(members: list[Member]) -> bool:
    """Tell whether all communicators can be of the whole job, and if there are several, let them be."""
    places: dict[int, set[tuple[str, str]]] = {}
    for member in members:
        places.setdefault(member.rank or 0, set()).add(member.process)
    same_size = len({member.size for member in members}) == 1
    if len({member.identity for member in members}) == 1 or not same_size:
        return False
    if any(len(processes) > 1 for processes in places.values()):
        return False
    for member in members:
        member.ranks = tuple(range(member.size))
    return True


def _key(header: dict[str, Any]) -> Key | None:
    identity, rank, ranks = header.get("id"), whole(header.get("rank")), whole(header.get("n_ranks"))
    if not isinstance(identity, str | int) or rank is None or ranks is None or not rank < ranks <= MAX_RANKS:
        return None
    return str(identity)[:MAX_NAME], ranks, rank


def _process(about: dict[str, Any], file: int) -> tuple[str, str]:
    host, process = about.get("hostname"), whole(about.get("pid"))
    if not isinstance(host, str) or process is None:
        return "", f"file {file + 1}"
    return host[:MAX_NAME], str(process)
