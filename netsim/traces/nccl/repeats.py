"""Calls of an NCCL log whose lines differ from an earlier one only in opCount and buffers: most lines of a long log.

Such a line need not be taken apart: what it says is known from the first of its kind, as long as no communicator has
begun or ended since.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from netsim.traces.joining.reports import Call, Place
from netsim.traces.nccl.batches import Batches, Thread
from netsim.traces.nccl.lines import Reported
from netsim.traces.nccl.scan import MARK, Line

MOST_KINDS = 1 << 16  # lines of different kinds that are remembered at a time
MOST_WORDS = 1 << 18  # opCounts and pointers that are known to be well formed
DENSE = 400  # bytes of a block for each call in it, below which it is worth looking at every line
_INFO, _CALL = b": opCount ", b" NCCL CALL nccl"
_POINTER = re.compile(rb"0x[0-9a-f]{1,16}|\(nil\)")
_BARE_POINTER = re.compile(rb"[0-9a-f]{1,16}")
_place = tuple.__new__  # a NamedTuple checks its arguments, which takes twice the time
_COUNT = re.compile(rb"[0-9a-f]{1,16}")
Key = tuple[bytes, bytes]


@dataclass(slots=True)
class Kind:
    """What all lines of a kind say, and where their calls go."""

    calls: list[Call]
    first: Call
    told: Reported
    thread: Thread
    handle: object
    is_transfer: bool


class Log(Protocol):
    """What takes lines apart: `line` gives the kind of a line that is one call and nothing else."""

    batches: Batches
    changes: int

    def line(self, line: Line) -> Kind | None: ...
    def count(self, calls: int) -> None: ...


class Repeats:
    """Takes in blocks of a log, line by line."""

    def __init__(self, log: Log, file: int) -> None:
        self.log, self.batches, self.file = log, log.batches, file
        self.kinds: dict[Key | None, Kind] = {}
        self.known: dict[bytes, int] = {}  # opCounts and their values
        self.pointers: set[bytes] = set()
        self.changes = log.changes

    def take(self, first: int, block: bytes) -> None:
        """Take in a block of whole lines; the last one may lack its end."""
        lines = block.split(b"\n")
        rest, repeated, kinds, repeat = lines.pop(), 0, self.kinds, self._repeat
        for number, line in enumerate(lines, first):
            if _INFO in line:
                key, turn = self._informed(line)
            elif _CALL in line:
                key, turn = self._called(line)
            elif MARK.search(line):
                key, turn = None, -1
            else:
                continue
            kind = kinds.get(key)
            if kind is None:
                self._learn(key, Line(number, line.decode("utf-8", errors="replace"), True))
            else:
                repeat(kind, turn, number)
                repeated += 1
        if rest and MARK.search(rest):
            self.log.line(Line(first + len(lines), rest.decode("utf-8", errors="replace"), False))
        self.log.count(repeated)

    def _informed(self, line: bytes) -> tuple[Key | None, int]:
        """The kind of an INFO line and its opCount; None where it has to be taken apart."""
        head, _, rest = line.partition(_INFO)
        parts = rest.split(b" ", 5)
        if len(parts) != 6:
            return None, -1
        count, send_name, send, receive_name, receive, tail = parts
        turn = self.known.get(count)
        if turn is None:
            turn = self._know(count)
        known = (send in self.pointers and receive in self.pointers) or self._are_pointers(send, receive, _POINTER)
        if turn < 0 or not known or send_name != b"sendbuff" or receive_name != b"recvbuff":
            return None, -1
        return (head, tail), turn

    def _called(self, line: bytes) -> tuple[Key | None, int]:
        """The same for a CALL line, which has no opCount."""
        head, _, rest = line.partition(_CALL)
        name, _, rest = rest.partition(b"(")
        parts = rest.split(b",", 2)
        if len(parts) != 3 or not self._are_pointers(parts[0], parts[1], _BARE_POINTER):
            return None, -1
        return (head + _CALL + name, parts[2]), -1

    def _know(self, count: bytes) -> int:
        if not _COUNT.fullmatch(count):
            return -1
        if len(self.known) > MOST_WORDS:
            self.known.clear()
        self.known[count] = turn = int(count, 16)
        return turn

    def _are_pointers(self, one: bytes, other: bytes, shape: re.Pattern[bytes]) -> bool:
        pointers = self.pointers
        if one in pointers and other in pointers:
            return True
        if not (shape.fullmatch(one) and shape.fullmatch(other)):
            return False
        if len(pointers) > MOST_WORDS:
            pointers.clear()
        pointers.update((one, other))
        return True

    def _learn(self, key: Key | None, line: Line) -> None:
        """Have a line taken apart, and remember what is to be done with others of its kind.

        Where a communicator has begun or ended, a pointer may mean another one now: all is forgotten.
        """
        kind = self.log.line(line)
        if self.changes != self.log.changes or len(self.kinds) >= MOST_KINDS:
            self.changes = self.log.changes
            self.kinds.clear()
        if key is not None and kind is not None:
            self.kinds[key] = kind

    def _repeat(self, kind: Kind, turn: int, number: int) -> None:
        first, batch = kind.first, -1
        if kind.is_transfer or self.batches.open:
            kind.told.op_count = turn
            batch = self.batches.number(kind.thread, kind.handle, kind.told)
        place = _place(Place, (self.file, number, 0, 0))
        kind.calls.append(Call(first.op, first.bytes, first.dtype, first.root, first.stream, place, turn, batch))


def is_dense(block: bytes) -> bool:
    """Tell whether a block of a log is mostly calls."""
    return block.count(_INFO) + block.count(_CALL) > len(block) // DENSE
