"""Calls of an NCCL log whose lines differ from an earlier one only in opCount and buffers: most lines of a long log.

Such a line need not be taken apart: what it says is known from the first of its kind, as long as no communicator has
begun or ended since.
"""

import re
from dataclasses import dataclass, field
from typing import Protocol

from netsim.traces.joining.columns import CallTable
from netsim.traces.nccl.batches import Batches, Thread
from netsim.traces.nccl.lines import Reported
from netsim.traces.nccl.scan import MARK, LogLine

MOST_KINDS = 1 << 16  # lines of different kinds that are remembered at a time
DENSE = 400  # bytes of a block for each call in it, below which it is worth looking at every line
_INFO, _CALL = b": opCount ", b" NCCL CALL nccl"
_POINTER = rb"(?:0x[0-9a-f]{1,16}|\(nil\)) "
_LINE = re.compile(  # INFO: what stands before the first opCount, the opCount, what stands behind the buffers
    # (atomic groups: repeats of a group that are possessive find too little in Python before 3.11.5)
    rb"((?>[^\n:]*(?::(?! opCount )[^\n:]*)*)): opCount ([0-9a-f]{1,15}) "
    + rb"sendbuff %brecvbuff %b([^\n]*+)\n" % (_POINTER, _POINTER)
    # CALL: the name and what stands before it, what stands behind the buffers; or else the line
    + rb"|((?>[^\nN]*(?:N(?!CCL CALL nccl)[^\nN]*)*)(?<= )NCCL CALL nccl\w*)\([0-9a-f]{1,16},[0-9a-f]{1,16},([^\n]*+)\n"
    + rb"|([^\n]*+)\n"
)
Key = tuple[bytes, ...]


@dataclass(slots=True)
class Kind:
    """What all lines of a kind say: its number in the table, and the call as its first line tells it."""

    number: int
    recorded: Reported
    thread: Thread
    handle: object
    is_transfer: bool


class Log(Protocol):
    """What takes lines apart: `line` gives the kind of a line that is one call and nothing else."""

    table: CallTable
    batches: Batches
    changes: int

    def line(self, line: LogLine) -> Kind | None: ...
    def count(self, calls: int) -> None: ...


@dataclass(slots=True)
class _Run:
    """Calls that are not in the table yet."""

    kinds: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    turns: list[int] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)


class Repeats:
    """Takes in blocks of a log, line by line."""

    def __init__(self, log: Log, file: int) -> None:
        self.log, self.batches, self.file = log, log.batches, file
        self.kinds: dict[Key | None, Kind] = {}
        self.changes = log.changes
        self.run = _Run()

    def take(self, first: int, block: bytes) -> None:
        """Take in a block of whole lines; the last one may lack its end."""
        end, kinds, repeat, lines = block.rfind(b"\n") + 1, self.kinds, self._repeat, list[bytes]()
        for number, (head, count, tail, name, given, other) in enumerate(_LINE.findall(block, 0, end), first):
            key: Key | None = (head, tail) if count else (name, given, b"")
            if other:
                if not MARK.search(other):
                    continue
                key = None
            kind = kinds.get(key)
            if kind is not None:
                repeat(kind, int(count, 16) if count else -1, number)
            elif count or name or other:
                lines = lines or block[:end].split(b"\n")
                self._learn(key, LogLine(number, lines[number - first].decode("utf-8", errors="replace"), True))
        self._flush()
        if end < len(block) and MARK.search(block, end):
            number = first + block.count(b"\n")
            self.log.line(LogLine(number, block[end:].decode("utf-8", errors="replace"), False))

    def _learn(self, key: Key | None, line: LogLine) -> None:
        """Have a line taken apart, and remember what is to be done with others of its kind.

        Where a communicator has begun or ended, a pointer may mean another one now: all is forgotten.
        """
        self._flush()
        kind = self.log.line(line)
        if self.changes != self.log.changes or len(self.kinds) >= MOST_KINDS:
            self.changes = self.log.changes
            self.kinds.clear()
        if key is not None and kind is not None:
            self.kinds[key] = kind

    def _repeat(self, kind: Kind, turn: int, number: int) -> None:
        batch, run = -1, self.run
        if kind.is_transfer or self.batches.open:
            kind.recorded.op_count = turn
            batch = self.batches.number(kind.thread, kind.handle, kind.recorded)
        run.kinds.append(kind.number)
        run.lines.append(number)
        run.turns.append(turn)
        run.batches.append(batch)

    def _flush(self) -> None:
        """Put into the table what was taken in without `log.line`."""
        run, self.run = self.run, _Run()
        self.log.table.extend(self.file, run.kinds, run.lines, run.turns, run.batches)
        self.log.count(len(run.kinds))


def is_dense(block: bytes) -> bool:
    """Tell whether a block of a log is mostly calls."""
    return block.count(_INFO) + block.count(_CALL) > len(block) // DENSE
