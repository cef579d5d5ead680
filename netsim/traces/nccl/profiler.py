"""Traces of NCCL's example profiler plugin: Chrome events, one to a line, in older builds not quite JSON."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from netsim.errors import InputError
from netsim.traces.joining.align import align
from netsim.traces.joining.reports import PER_RANK, Call, Member, Place
from netsim.traces.limits import MAX_BYTES, MAX_CALLS, MAX_NAME, MAX_RANKS
from netsim.traces.lines import raw_lines
from netsim.traces.read_report import ReadReport
from netsim.traces.recognise import LIST, OBJECT, recogniser
from netsim.traces.torch.calls import PS_PER_US, operation_of, picoseconds, type_of, whole
from netsim.traces.trace import Trace

LONGEST = 1 << 16  # bytes of a line; an event has a few hundred
_TYPE = {"half": "float16", "float": "float32", "double": "float64", "char": "int8", "int": "int32"}
_BARE = re.compile(r"(:\s*)((?:0x)[0-9a-fA-F]+|nccl\w+)(?=\s*[,}])")
_WANTED = re.compile(rb'"cat"\s*:\s*"(?:COLL|P2P)"')
_BEGINS = re.compile(rb'"ph"\s*:\s*"b"')
Event = dict[str, Any]
recognises = recogniser(
    rf"{LIST}|{OBJECT}", r'"cat"\s*:\s*"(?:GROUP|GROUP_API|COLL|COLL_API|P2P|P2P_API|PROXY|KERNEL_LAUNCH|GPU)"'
)


def read(paths: Sequence[Path], *, fill_missing_ranks: bool = False, partial: bool = False) -> Trace:
    """Read the traces of one job: a file for each process."""
    traces = Traces()
    for path in paths:
        traces.scan(path)
    members = traces.finish(str(paths[0]))
    calls = sum(len(member.calls) for member in members)
    assumed = (
        "the profiler does not tell how many ranks a communicator has: as many as the highest rank in it asks for",
        "times are of NCCL's work on the host, from each process's start",
    )
    skipped, cut = dict(traces.skipped), traces.cut
    report = ReadReport(lines=traces.events, records=calls, cut=cut, skipped=skipped, assumed=assumed)
    notes = report.notes(f"{calls:,} calls in {traces.events:,} events of NCCL's profiler", "lines are not whole")
    endings = (".jsonl", ".json")
    return align(members, paths, endings, notes, fill=fill_missing_ranks, partial=partial, report=report)


@dataclass(slots=True, eq=False)
class Traces:
    """Collects the calls of all processes."""

    members: dict[tuple[str, int, tuple[str, str]], Member] = field(default_factory=dict)
    highest: dict[str, int] = field(default_factory=lambda: defaultdict(int))  # rank named, by communicator
    running: dict[tuple[object, ...], Call] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
    events: int = 0
    cut: int = 0
    files: int = 0

    def scan(self, path: Path) -> None:
        """Take in one file, line by line."""
        for line, raw in raw_lines(path, LONGEST):
            if not _WANTED.search(raw):
                self.skipped["events that are no collective or transfer"] += _BEGINS.search(raw) is not None
                self.events += b'"ph"' in raw
                continue
            text = raw.decode("utf-8", errors="replace").strip().strip("[],").strip()
            if not text.startswith("{"):
                self.cut += bool(text) and '"ph"' in text
                continue
            event = _event(text)
            if event is None:
                self.cut += 1
                continue
            self.events += 1
            self._take(event, line, f"{path}:{line}")
            if self.events > 16 * MAX_CALLS:
                raise InputError("holds too many events", where=f"{path}:{line}", hint="give a part of it")
        self.running.clear()
        self.files += 1

    def _take(self, event: Event, line: int, where: str) -> None:
        kind, phase, args = event.get("cat"), event.get("ph"), event.get("args")
        if kind not in ("COLL", "P2P"):
            return
        key = (kind, str(event.get("id")), str(event.get("pid")))
        at = picoseconds(event.get("ts"), PS_PER_US)
        if phase == "e":
            begun = self.running.pop(key, None)
            if begun is not None and begun.start_ps is not None and at is not None and at >= begun.start_ps:
                begun.duration_ps = at - begun.start_ps
            return
        call = self._call(event, args if isinstance(args, dict) else {}, line, where) if phase == "b" else None
        if call is None:
            self.skipped["calls that do not tell enough"] += phase == "b"
            return
        call.start_ps = at or None
        self.running[key] = call

    def _call(self, event: Event, args: Event, line: int, where: str) -> Call | None:
        name, comm, dtype = event.get("name"), args.get("CommHash"), args.get("Datatype")
        rank, count = whole(args.get("Rank")), whole(args.get("Count"))
        op = operation_of(name) if isinstance(name, str) else None
        if op is None or rank is None or count is None or not isinstance(comm, str | int) or not isinstance(dtype, str):
            return None
        peer = whole(args.get("Peer")) if op in ("send", "recv") else whole(args.get("Root")) or 0
        if peer is None or max(peer, rank) >= MAX_RANKS:
            return None
        plain = dtype.lower().removeprefix("nccl")
        kind, width = type_of(_TYPE.get(plain, plain), where)
        number = whole(args.get("SeqNum"))
        place = Place(self.files, line, self.events, shown=line)
        call = Call(op, count * width, kind, peer, "", place, -1 if number is None else number)
        call.batch = self.events if op in ("send", "recv") else -1
        identity = str(comm)[:MAX_NAME]
        self.highest[identity] = max(self.highest[identity], rank, peer)
        owner = (f"file {self.files + 1}", str(event.get("pid"))[:MAX_NAME])
        self.members.setdefault((identity, rank, owner), Member(owner, 0, place, identity, rank)).calls.append(call)
        return call

    def finish(self, where: str) -> list[Member]:
        """Give all members, with full buffers."""
        if not self.members:
            what = f"there is no collective or transfer among {self.events:,} events of NCCL's profiler"
            hint = "run the job with NCCL_PROFILER_PLUGIN=example NCCL_PROFILE_EVENT_MASK=all"
            raise InputError(what, where=where, hint=hint)
        for (identity, *_), member in self.members.items():
            member.size = self.highest[identity] + 1
            for call in member.calls:
                call.bytes *= member.size if call.op in PER_RANK else 1
                if call.bytes > MAX_BYTES:
                    what = f"line {call.place.line}: {call.op} of {call.bytes:,} bytes cannot be true"
                    raise InputError(what, where=where, hint="remove the event")
        return list(self.members.values())


def _event(text: str) -> Event | None:
    """Read one event; older builds leave the quotes of some values out."""
    for each in (text, _BARE.sub(r'\1"\2"', text)):
        try:
            value = json.loads(each)
        except (ValueError, RecursionError):
            continue
        return value if isinstance(value, dict) else None
    return None
