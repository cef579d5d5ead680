"""One line of an NCCL debug log -> the calls and communicator events it reports (no state between lines).

The lines are those of NCCL's own sources, `src/enqueue.cc`, `src/init.cc` and `src/debug.cc`, from 2.3 to 2.30. Nothing
is anchored at the start of a line: launchers, terminals and other writers put their own text there.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import NamedTuple

OPERATION_OF = {
    "AllReduce": "all_reduce",
    "AllGather": "all_gather",
    "ReduceScatter": "reduce_scatter",
    "Broadcast": "broadcast",
    "Reduce": "reduce",
    "AlltoAll": "all_to_all",
    "Gather": "gather",
    "Scatter": "scatter",
    "Send": "send",
    "Recv": "recv",
}
_NAMES = "|".join(OPERATION_OF)
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_STAMP = r"(?:\[(\d{4}-\d\d-\d\d)[T _](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?\] )?"  # 2.26 and later, where asked for
_PREFIX = re.compile(_STAMP + r"([^\s:\[\]()<>]+):(\d{1,10}):(\d{1,10}) (?:\[(-?\d{1,6})\] )?(?:[\d.]+ )?$")
_PREFIX_REACH = 400  # characters in front of "NCCL INFO" in which host, process and device stand
_NAMED = "|".join(rf"(?<=\b{name}:)" for name in OPERATION_OF)  # seen from the colon, which is quick to find
_START = re.compile(rf":(?:{_NAMED})(?: o(?:p(?:C(?:o(?:u(?:n(?:t)?)?)?)?)?)?(?![\w])| ?$)")
_OTHER = r"(?: (?!{key} )\w{{1,20}} \S{{1,40}}){{0,6}}"  # pairs that netsim does not need, of this or a later version
_WHOLE = re.compile(
    r" opCount ([0-9a-f]{1,16})"
    + _OTHER.format(key="count")
    + r" count (\d{1,19}) datatype (\d{1,4})"
    + _OTHER.format(key="root")
    + r" root (\d{1,9}) comm (0x[0-9a-f]{1,16}) \[nranks=(\d{1,9})\] stream (0x[0-9a-f]{1,16}|\(nil\))"
    + r"(?: task \d{1,9} globalrank (\d{1,9}))?"
)
_CALLED = re.compile(rf"NCCL CALL nccl({_NAMES}|Bcast)\(([\w,]{{1,300}})\)")
_UNKNOWN = re.compile(
    r"\b([A-Za-z]\w{1,40}): opCount [0-9a-f]{1,16} sendbuff |NCCL CALL nccl(\w{1,40})\((?:\w{1,20},){7}\w{1,20}\)"
)
_CALLED_INIT = re.compile(r"NCCL CALL ncclCommInitRank\((0x\w+), ?(\d+), ?(0x\w+), ?(\d+), ?(-?\d+)\)")
_GROUP = re.compile(r"NCCL CALL ncclGroup(Start|End)\(\)")
_TUNED = re.compile(
    r"(?:\b(\w{2,20})(?: \[[\w ]{1,20}\])?: )?(\d{1,19}) Bytes -> (?:Algo|Kernel) (\w{1,60})(?: proto (\w{1,10}))?"
)
ALGORITHM_OF = ("tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat")  # 2.20 - 2.23: numbers
PROTOCOL_OF = ("ll", "ll128", "simple")
_INIT = re.compile(r"comm (0x\w+) rank (\d+) nranks (\d+) ([^\n]{0,400}?)- ?(Init START|Init COMPLETE|COMPLETE)")
_DESTROYED = re.compile(r"comm (0x\w+) rank [^\n]{0,200}?(?:Destroy|Abort) COMPLETE")
_DEVICE = re.compile(r"\[(\d{1,6})\] $")  # of a line whose host and process are lost
_DETAIL = re.compile(r"\b(cudaDev|commId|parent|color|splitCount|childCount) (-?\w+)")


@dataclass(frozen=True, slots=True)
class Where:
    """Who wrote a line: host, process and thread ("" where the line does not begin with them), and current device."""

    host: str
    process: str
    thread: str
    device: str
    time_ns: int = -1  # local time since 1970, where NCCL stamps its lines to the fraction of a second


@dataclass(slots=True)  # not frozen: there may be millions, and freezing takes twice the time to make one
class Reported:
    """A call as one rank reports it: `count` elements of `datatype`; `root` is the peer of a send or recv."""

    writer: Where
    op: str
    op_count: int
    count: int
    datatype: int
    root: int
    comm: str
    nranks: int  # 0 where the line does not say (NCCL CALL)
    stream: str
    global_rank: int  # -1 where the line does not say (all but RCCL)
    by_call: bool  # from an "NCCL CALL" line, which repeats the INFO line


class Init(NamedTuple):
    """A rank has entered a communicator; `details` holds commId, parent, color and the like where they are printed."""

    writer: Where
    comm: str
    rank: int
    nranks: int
    started: bool  # "Init START", which a COMPLETE follows
    details: tuple[tuple[str, str], ...]


class Destroyed(NamedTuple):
    """A communicator has ended; its pointer may come again for another one."""

    writer: Where
    comm: str


class GroupMark(NamedTuple):
    """A thread begins or ends a group of calls (NCCL CALL)."""

    writer: Where
    begins: bool


class Tuned(NamedTuple):
    """What rank 0's NCCL chose for a call: "all_reduce ring simple"; `bytes` is over all ranks for a gather."""

    writer: Where
    choice: str
    bytes: int


class Cut(NamedTuple):
    """A call whose line is cut off or mixed with another: it must be counted, never guessed."""

    writer: Where
    op: str


class UnknownCall(NamedTuple):
    """A call in the form of the others, of a name that netsim does not know (PutSignal): to be counted."""

    writer: Where
    name: str
    by_call: bool


_NOBODY = Where("", "", "", "")
Event = Reported | Init | Destroyed | GroupMark | Tuned | Cut | UnknownCall


def events(text: str) -> Iterator[Event]:
    """Yield what one line reports, from left to right."""
    text = (_ANSI.sub("", text) if "\x1b" in text else text).replace("\r", " ").rstrip()
    for match in _START.finditer(text):
        yield _collective(text, match)
    if ": opCount " in text or "NCCL CALL" in text:
        for match in _UNKNOWN.finditer(text):
            name = match[1] or match[2]
            if name not in OPERATION_OF and name != "Bcast":
                yield UnknownCall(_writer(text, match.start(match.lastindex or 0)), name, by_call=match[1] is None)
    if " COMPLETE" in text or "Init START" in text:
        yield from _communicators(text)
    if "NCCL CALL" in text:
        yield from _called(text)
    if " Bytes -> " in text:
        yield from _tuned(text)


def _collective(text: str, match: re.Match[str]) -> Event:
    colon = match.start()
    name = next(name for name in OPERATION_OF if text.endswith(name, 0, colon))
    writer, op = _writer(text, colon), OPERATION_OF[name]
    whole = _WHOLE.match(text, colon + 1)
    if whole is None:
        return Cut(writer, op)
    turn, count, datatype, root, comm, nranks, stream, global_rank = whole.groups()
    numbers = int(turn, 16), int(count), int(datatype), int(root)
    return Reported(writer, op, *numbers, comm, int(nranks), stream, int(global_rank or -1), by_call=False)


def _communicators(text: str) -> Iterator[Event]:
    for match in _INIT.finditer(text):
        writer = _writer(text, match.start())
        details = tuple(_DETAIL.findall(match[4]))
        rank, nranks = int(match[2][:10]), int(match[3][:10])
        yield Init(writer, match[1], rank, nranks, match[5] == "Init START", details)
    for match in _DESTROYED.finditer(text):
        yield Destroyed(_writer(text, match.start()), match[1])


def _called(text: str) -> Iterator[Event]:
    for match in _CALLED_INIT.finditer(text):
        comm, nranks, unique, rank, device = match.groups()
        details = (("commId", unique), ("cudaDev", device))
        yield Init(_writer(text, match.end()), comm, int(rank[:10]), int(nranks[:10]), False, details)
    for match in _GROUP.finditer(text):
        yield GroupMark(_writer(text, match.end()), match[1] == "Start")
    for match in _CALLED.finditer(text):
        name = "Broadcast" if match[1] == "Bcast" else match[1]
        writer, given = _writer(text, match.end()), match[2].split(",")
        try:
            _, _, count, datatype, _, root, comm, stream = given
            numbers = int(count[:20]), int(datatype[:5]), int(root[:10])
        except ValueError:
            yield Cut(writer, OPERATION_OF[name])
            continue
        yield Reported(writer, OPERATION_OF[name], -1, *numbers, comm, 0, stream, -1, by_call=True)


def _tuned(text: str) -> Iterator[Event]:
    for match in _TUNED.finditer(text):
        name, size, algorithm, protocol = match.groups()
        chosen = [OPERATION_OF.get(name or "", ""), _named(algorithm, ALGORITHM_OF), _named(protocol, PROTOCOL_OF)]
        yield Tuned(_writer(text, match.start()), " ".join(filter(None, chosen)), int(size))


def _named(given: str | None, names: tuple[str, ...]) -> str:
    """Name what is given by number in some versions and by name in others."""
    if given and given.isdecimal():
        return names[int(given[:3])] if int(given[:3]) < len(names) else f"number {given}"
    return (given or "").lower()


def _writer(text: str, before: int) -> Where:
    """Find the last host:process:thread in front of a place; another writer's beginning may stand before it."""
    mark = text.rfind("NCCL ", 0, before)
    return _who(text[max(0, mark - _PREFIX_REACH) : mark]) if mark >= 0 else _NOBODY


@lru_cache(maxsize=1 << 14)
def _who(text: str) -> Where:
    match = _PREFIX.search(text)
    if match is None:
        alone = _DEVICE.search(text)
        return Where("", "", "", alone[1]) if alone else _NOBODY
    day, *clock, host, process, thread, device = match.groups()
    return Where(host, process, thread, device or "", _time(day, *clock) if day and clock[3] else -1)


def _time(day: str, hour: str, minute: str, second: str, fraction: str) -> int:
    days = _days(day)
    seconds = ((days * 24 + int(hour)) * 60 + int(minute)) * 60 + int(second)
    return seconds * 10**9 + int(fraction.ljust(9, "0")) if days >= 0 else -1


@lru_cache(maxsize=64)
def _days(day: str) -> int:
    """Count the days since 1970 to a date; -1 where there is no such date."""
    try:
        return (date.fromisoformat(day) - date(1970, 1, 1)).days
    except ValueError:
        return -1
