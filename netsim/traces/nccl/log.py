"""NCCL debug logs (NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=INIT,COLL): what the ranks of a real job called, in order.

A log is written when a call is enqueued: it holds the order and the sizes of the calls, but no times.
"""

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from netsim.errors import InputError
from netsim.traces.joining.align import align
from netsim.traces.joining.columns import CallRequest, Calls, CallTable
from netsim.traces.joining.reports import PER_RANK, Member, Place
from netsim.traces.limits import MAX_BYTES, MAX_CALLS, MAX_RANKS
from netsim.traces.nccl.account import SETTINGS, Account
from netsim.traces.nccl.batches import Batches
from netsim.traces.nccl.lines import Cut, Destroyed, Event, GroupMark, Init, Reported, Tuned, UnknownCall, Where, events
from netsim.traces.nccl.repeats import Kind, Repeats, is_dense
from netsim.traces.nccl.scan import LogLine, clean_blocks, lines_in
from netsim.traces.recognise import recogniser
from netsim.traces.trace import ROOTED, Trace

DATATYPES = (  # ncclDataType_t: name and bytes by number
    *(("int8", 1), ("uint8", 1), ("int32", 4), ("uint32", 4), ("int64", 8), ("uint64", 8)),
    *(("fp16", 2), ("fp32", 4), ("fp64", 8), ("bf16", 2), ("fp8e4m3", 1), ("fp8e5m2", 1)),
)
HAVE_TYPE_HIDDEN = ("all_gather", "broadcast")  # NCCL 2.7.3 - 2.21.5 logs these as bytes with datatype 0

_NUMBER = re.compile(r"(?:0x)?[0-9a-f]*")
recognises = recogniser("", r"NCCL (?:INFO|CALL|WARN|TRACE|version)|: opCount [0-9a-f]+ sendbuff ")


def read(paths: Sequence[Path], *, fill_missing_ranks: bool = False, partial: bool = False) -> Trace:
    """Read the logs of one job: one file, or one for each process, in any order."""
    log = _Log()
    for path in paths:
        log.read(path)
    members = log.finish(str(paths[0]) if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more")
    hosts = {handle.member.process[0] for handle in log.handles if handle.member.process[0]}
    notes, report = log.account.notes(), log.account.report(len(hosts))
    endings = (".jsonl", ".log")
    return align(members, paths, endings, notes, fill=fill_missing_ranks, partial=partial, report=report)


@dataclass(slots=True, eq=False)
class _Handle:
    """A communicator's pointer in one process, from its creation to its end."""

    member: Member
    number: int
    initialised: bool = False
    destroyed: bool = False
    splits: int = 0
    streams: dict[str, str] = field(default_factory=dict)
    informed: bool = False  # an INFO line tells a call
    called: bool = False  # an NCCL CALL line does

    def owner(self, *, by_call: bool) -> int:
        """The owner of its calls in the table: those that INFO lines tell, and those of NCCL CALL lines."""
        return 2 * self.number + by_call


def _glued(host: str, known: str) -> bool:
    """Tell whether a host is a known one behind the rest of a number that another writer left there."""
    return len(known) > 2 and host.endswith(known) and _NUMBER.fullmatch(host[: -len(known)]) is not None


class _Log:
    """Collects the handles and calls of all processes, line by line."""

    def __init__(self) -> None:
        self.current: dict[tuple[tuple[str, str], str], _Handle] = {}
        self.handles: list[_Handle] = []
        self.table, self.batches = CallTable(), Batches()
        self.hosts: dict[str, list[str]] = {}  # by process number
        self.account = Account()
        self.counts = self.account.counts
        self.place, self.file, self.path, self.whole = Place(0, 0), 0, Path(), True
        self.changes = 0  # of what pointers mean

    def read(self, path: Path) -> None:
        """Take in one file."""
        self.path, repeats = path, Repeats(self, self.file)
        for first, block in clean_blocks(path, self.counts):
            if is_dense(block):
                repeats.take(first, block)
            else:
                for line in lines_in(first, block):
                    self.line(line)
        self.file += 1

    def line(self, line: LogLine) -> Kind | None:
        """Take in one line; gives its kind where it is one call whose fellows can be taken in without this."""
        self.whole, kinds = line.whole, list[Kind | None]()
        for event in events(line.text):
            turn = self.place.turn + 1 if self.place.line == line.number else 0
            self.place = Place(self.file, line.number, turn)
            if isinstance(event, Cut):
                self.account.widths[len(line.text.rstrip("\r"))] += 1
            kinds.append(self._take(event))
        return kinds[0] if len(kinds) == 1 else None

    def count(self, calls: int) -> None:
        """Take in that so many calls came without `line`."""
        self.counts["calls"] += calls
        if self.counts["calls"] > MAX_CALLS:
            what = f"the log holds more than {MAX_CALLS:,} calls"
            raise InputError(what, where=self._where(), hint="cut out the steps that matter")

    def _take(self, event: Event) -> Kind | None:
        process = self._process(event.writer)
        if isinstance(event, Cut):
            self.counts["cut"] += 1
        elif isinstance(event, UnknownCall):
            self.account.unknown[event.by_call][event.name] += 1
        elif isinstance(event, Tuned):
            self.account.tuning[event.choice] += 1
        elif isinstance(event, GroupMark):
            self.batches.mark((process, event.writer.thread), event.begins)
        elif isinstance(event, Destroyed):
            if (process, event.comm) in self.current:
                self.current[process, event.comm].destroyed = True
                self.changes += 1
        elif isinstance(event, Init):
            self._enter(process, event)
        elif self._possible(event):
            return self._call(process, event)
        else:
            self.counts["cut"] += 1
        return None

    def _process(self, writer: Where) -> tuple[str, str]:
        if not writer.host:
            return "", f"file {self.file + 1}" + (f" device {writer.device}" if writer.device else "")
        hosts = self.hosts.setdefault(writer.process, [])
        host = next((each for each in hosts if writer.host == each or _glued(writer.host, each)), None)
        if host is None:
            hosts.append(host := writer.host)
        return host, writer.process

    @staticmethod
    def _possible(call: Reported) -> bool:
        """Tell whether the numbers can be true; mixed lines can look whole."""
        members = call.nranks or MAX_RANKS
        return 0 <= call.root < members <= MAX_RANKS and call.count >= 0

    def _enter(self, process: tuple[str, str], init: Init) -> None:
        """Take in that a rank has entered a communicator; a used pointer that comes again is a new one."""
        if not 0 <= init.rank < init.nranks <= MAX_RANKS:
            self.counts["cut"] += 1
            return
        handle = self.current.get((process, init.comm))
        if handle is None or handle.destroyed or not self._same(handle, init):
            handle = self._new(process, init.comm, init.nranks)
        details = dict(init.details)
        handle.member.rank, handle.member.device = init.rank, details.get("cudaDev", "")
        if not handle.initialised or "commId" in details:
            handle.member.identity = self._identity(process, details)
        handle.initialised = True

    @staticmethod
    def _same(handle: _Handle, init: Init) -> bool:
        if handle.member.size not in (0, init.nranks):
            return False
        return not handle.initialised or (handle.member.rank == init.rank and not (handle.informed or handle.called))

    def _identity(self, process: tuple[str, str], details: dict[str, str]) -> Hashable:
        """What all ranks of the communicator print alike: its id, or how it was split from its parent."""
        if "commId" in details:
            return details["commId"]
        parent = self.current.get((process, details.get("parent", "")))
        if parent is None:
            return None
        parent.splits += 1
        turn = details.get("splitCount") or details.get("childCount") or f"#{parent.splits}"
        return (parent.member.identity or parent.member.size, details.get("color"), turn)

    def _new(self, process: tuple[str, str], comm: str, size: int) -> _Handle:
        handle = _Handle(Member(process, size, self.place), len(self.handles))
        self.changes += (process, comm) in self.current
        self.current[process, comm] = handle
        self.handles.append(handle)
        return handle

    def _call(self, process: tuple[str, str], recorded: Reported) -> Kind | None:
        handle = self.current.get((process, recorded.comm))
        if handle is None or handle.destroyed or recorded.nranks not in (0, handle.member.size):
            handle = self._new(process, recorded.comm, recorded.nranks)
        if recorded.global_rank >= 0:
            handle.member.global_rank = recorded.global_rank
        if handle.member.device == "":
            handle.member.device = recorded.writer.device if not handle.initialised else ""
        handle.called |= recorded.by_call
        handle.informed |= not recorded.by_call
        stream = self._stream(handle, recorded.stream)
        batch = self.batches.number((process, recorded.writer.thread), handle, recorded)
        kind = self.table.kind(handle.owner(by_call=recorded.by_call), self._wish(recorded, stream))
        start_ps = recorded.writer.time_ns * 1000 if recorded.writer.time_ns >= 0 else None
        self.table.add(kind, self.place, recorded.op_count, batch, start_ps)
        self.counts["timed"] += start_ps is not None
        self.count(1)
        if start_ps is not None:
            return None  # each line has its own time
        return Kind(kind, recorded, (process, recorded.writer.thread), handle, recorded.op in ("send", "recv"))

    def _stream(self, handle: _Handle, recorded: str) -> str:
        """Keep each stream's name once; a name on which the file ends may be cut: it is the known one it begins."""
        if not self.whole and recorded not in handle.streams:
            return next((known for known in handle.streams if known.startswith(recorded)), recorded)
        return handle.streams.setdefault(recorded, recorded)

    def _where(self) -> str:
        return f"{self.path}:{self.place.line}"

    def _wish(self, recorded: Reported, stream: str) -> CallRequest:
        if recorded.datatype >= len(DATATYPES):
            what = f"datatype {recorded.datatype} is none that NCCL 2.30 knows"
            raise InputError(what, where=self._where(), hint="remove the line, or ask for netsim to learn the type")
        dtype, width = DATATYPES[recorded.datatype]
        if recorded.datatype == 0 and recorded.op in HAVE_TYPE_HIDDEN:
            dtype = ""
        root = recorded.root if recorded.op in (*ROOTED, "send", "recv") else 0
        return CallRequest(recorded.op, recorded.count * width, dtype, root, stream)

    def finish(self, where: str) -> list[Member]:
        """Give the handles that made calls, with bytes as full buffers."""
        informed = {handle.member.process for handle in self.handles if handle.informed}
        calls = self.table.by_owner()
        for handle in self.handles:
            repeats = handle.member.process in informed
            self.counts["repeats"] += len(calls.get(handle.owner(by_call=True), ())) if repeats else 0
            handle.member.table = calls.get(handle.owner(by_call=not repeats))
        members = [handle.member for handle in self.handles if handle.member.table]
        if not members:
            entered = sum(handle.initialised for handle in self.handles)
            raise self.account.nothing(entered, where)
        for member in members:
            self._full_buffers(member, where)
        return members

    def _full_buffers(self, member: Member, where: str) -> None:
        if not member.size:
            what = "the NCCL CALL lines do not say how many ranks a communicator has"
            raise InputError(what, where=where, hint=SETTINGS)
        assert isinstance(member.table, Calls)
        large = self.table.multiply(member.table, PER_RANK, member.size, MAX_BYTES)
        if large is not None:
            what = f"line {large.place.line}: {large.op} of {large.bytes:,} bytes cannot be true"
            raise InputError(what, where=where, hint="remove the line")
