"""The nouns of alignment: what one rank reports about one communicator, before the ranks' reports are joined."""

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from netsim.errors import InputError

Queue = tuple[int, str]  # a global rank and a stream of its process: what is called there runs in order
PER_RANK = ("all_gather", "reduce_scatter", "all_to_all", "gather", "scatter")  # of which NCCL tells one rank's part
MAX_FINDINGS = 20  # disagreements told one by one; the rest is counted


class Place(NamedTuple):
    """Where a call stands: number of the file, line, and its turn on that line; the order of a rank's program.

    Where a file is not in that order, `line` counts the calls and `shown` is the line to tell.
    """

    file: int
    line: int
    turn: int = 0
    shown: int = 0

    @property
    def recorded(self) -> int:
        """The line to name in a message."""
        return self.shown or self.line


@dataclass(slots=True)
class Call:
    """One call of one rank: an operation of a trace, or one end of a transfer ("send", "recv", whose root is the peer).

    `hint` is the number the source gives the call (-1: none); sends and recvs of one `batch` start together. `row`
    is what it sends to each peer in bytes, where that differs. Times are of the rank's own clock, if it tells any.
    """

    op: str
    bytes: int
    dtype: str
    root: int
    stream: str
    place: Place
    op_count: int = -1
    batch: int = -1
    row: tuple[int, ...] | None = None
    start_ps: int | None = None
    duration_ps: int | None = None

    def request(self) -> tuple[str, int, str, int]:
        """What all ranks of a communicator must agree on."""
        return self.op, self.bytes if self.row is None else -1, self.dtype, self.root


@dataclass(slots=True, eq=False)
class Member:
    """One rank's handle on one communicator, with the calls it made there in order.

    `identity` is equal for all ranks of the communicator and for no other one (None: the source does not say);
    `rank` is the position in the communicator (None: not said); `global_rank` is the rank in the job (-1: not said).
    `ranks` are the ranks in the job of all members, if the source lists them. With `numbered`, calls of the members
    belong together by their hints, not by their turn. Where the calls lie in a table, they are in `table` instead.
    """

    process: tuple[str, str]
    size: int
    place: Place
    identity: Hashable = None
    rank: int | None = None
    global_rank: int = -1
    device: str = ""
    calls: list[Call] = field(default_factory=list)
    ranks: tuple[int, ...] = ()
    numbered: bool = False
    table: Sequence[Call] | None = None

    @property
    def recorded(self) -> Sequence[Call]:
        """The calls, wherever they are."""
        return self.calls if self.table is None else self.table

    def turn(self) -> tuple[object, ...]:
        """Sort key: by the job's rank where known, else by host, process and device as people count (node2, node10)."""
        return (self.global_rank, *map(_as_counted, (*self.process, self.device)), self.place)


def _as_counted(text: str) -> list[tuple[int, int, str]]:
    """Split digits from letters, so that gpu9 stands before gpu10."""
    parts = re.findall(r"[0-9]{1,30}|\D+|\d", text)
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]


class Missing(Enum):
    """What becomes of ranks that the source does not show."""

    REFUSE = "an InputError"
    FILL = "they do the same as the others by symmetry"
    TELL = "what the others report is kept, and that they are missing is told"


@dataclass(slots=True)
class Findings:
    """What the ranks do not agree on and what is `assumed`, told in plain sentences, while they are joined.

    `absent` says what becomes of ranks that are not there; `skipped` counts why something is, `told_by` what told
    which calls belong together.
    """

    files: Sequence[str]
    absent: Missing = Missing.REFUSE
    recorded: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)
    more: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    told_by: Counter[Enum] = field(default_factory=Counter)

    def tell(self, place: Place, what: str) -> None:
        """Tell one disagreement, naming the line where it shows."""
        if len(self.recorded) < MAX_FINDINGS:
            self.recorded.append(f"{self.files[place.file]}:{place.recorded}: {what}")
        else:
            self.more += 1

    def deadlock(self, call: Call, one: str, other: str) -> InputError:
        """Make the error for ranks that call two things in opposite orders."""
        what = f"some ranks call {one} before {other}, and others after it: a deadlock"
        where = f"{self.files[call.place.file]}:{call.place.recorded}"
        return InputError(what, where=where, hint="the job would hang: let all ranks call in one order")

    def notes(self) -> list[str]:
        """All findings as notes."""
        return [*self.recorded, *([f"{self.more:,} more findings like these"] if self.more else [])]
