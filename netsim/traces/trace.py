"""The nouns of a trace: what each rank of a job does, in order."""

import hashlib
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from itertools import repeat
from operator import attrgetter, call
from typing import Any, NamedTuple

from netsim.traces.read_report import ReadReport

WORLD = "world"
DEFAULT_STREAM = "default"

ROOTED = ("broadcast", "reduce", "gather", "scatter")
ON_A_GROUP = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "all_to_all_v", *ROOTED, "barrier")
POINT_TO_POINT = ("send", "flows", "compute")  # and what needs no others at all
OPERATIONS = (*ON_A_GROUP, *POINT_TO_POINT)

Sizes = tuple[tuple[int, ...], ...]
Flows = tuple[tuple[int, int, int], ...]


class Turn(NamedTuple):
    """When a flow of a matrix may go: not before `start_ps`, nor before the flows numbered in `after` are finished.

    A flow that waits starts at the rank where the awaited one ends (then it goes when that is delivered) or starts
    (then it goes when that is acknowledged there). Flows of one source, target and `channel` share a queue pair.
    """

    start_ps: int = 0
    after: tuple[int, ...] = ()
    channel: int = 0


@dataclass(frozen=True, slots=True)
class Group:
    """An ordered list of global ranks that act together: a communicator."""

    name: str
    ranks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that some ranks do: a collective on a group, a send, a matrix of flows, or a time to compute.

    `bytes` is the full buffer of one rank (for all_gather and reduce_scatter: of all parts together); for
    all_to_all_v it is the largest row of `sizes`, for flows their sum. `sizes[i][j]` is what the group's i-th member
    sends to its j-th. `root` is a position in the group; `ranks`, `src`, `dst` and `flows` (source, target, bytes) are
    global ranks. `turns` says of each flow when it may go; without it all start together. `start_ps` means "not
    before". Operations of one rank on different streams may overlap, but for those named in `after`: earlier operations
    of the trace (counted from 0) that a rank must have finished before it begins this one, where it takes part in both;
    only the receiver of a send waits for none.
    """

    op: str
    group: str | None
    ranks: tuple[int, ...]
    bytes: int = 0
    dtype: str = ""
    root: int = 0
    sizes: Sizes | None = None
    flows: Flows = ()
    turns: tuple[Turn, ...] = ()
    src: int = -1
    dst: int = -1
    duration_ps: int = 0
    start_ps: int = 0
    algorithm: str | None = None
    stream: str = DEFAULT_STREAM
    after: tuple[int, ...] = ()
    recorded_start_ps: int | None = None
    recorded_duration_ps: int | None = None
    line: int = field(default=0, compare=False)


_NAMES = tuple(each.name for each in fields(Operation))
_values = attrgetter(*_NAMES)
_SET = {name: getattr(Operation, name).__set__ for name in _NAMES}
_SETS = tuple(_SET.values())


def changed(operation: Operation, **changes: Any) -> Operation:
    """The operation with other values of some fields: `dataclasses.replace`, for millions of them."""
    made = object.__new__(Operation)
    deque(map(call, _SETS, repeat(made), _values(operation)), maxlen=0)  # a frozen __init__ takes twice the time
    for name, value in changes.items():
        _SET[name](made, value)
    return made


@dataclass(frozen=True)
class Trace:
    """A job: its ranks 0 .. ranks-1, its groups, and its operations in the program order of the ranks they name.

    `notes` says in plain sentences what the reader assumed or skipped, `report` the same in numbers. A group named
    "world" always exists.
    """

    name: str
    ranks: int
    groups: dict[str, Group]
    operations: tuple[Operation, ...]
    source: str = ""
    notes: tuple[str, ...] = ()
    report: ReadReport = field(default=ReadReport(), compare=False)

    def __post_init__(self) -> None:
        if WORLD not in self.groups:
            world = Group(WORLD, tuple(range(self.ranks)))
            object.__setattr__(self, "groups", {WORLD: world, **self.groups})

    def __hash__(self) -> int:
        return hash((self.name, self.ranks, self.operations))

    def by_rank(self) -> list[list[int]]:
        """List for each rank the numbers of the operations it takes part in, in program order."""
        parts: list[list[int]] = [[] for _ in range(self.ranks)]
        for number, operation in enumerate(self.operations):
            for rank in operation.ranks:
                parts[rank].append(number)
        return parts

    def digest(self) -> str:
        """Name the content: the same ranks, groups and operations give the same 64 hex digits, whatever the file."""
        content = hashlib.sha256()
        for text in self._content():
            content.update(text.encode() + b"\n")
        return content.hexdigest()

    def _content(self) -> Iterator[str]:
        yield str(self.ranks)
        for name in sorted(self.groups):
            yield repr((name, self.groups[name].ranks))
        for operation in self.operations:
            group = self.groups.get(operation.group or "")
            ranks = "" if group and group.ranks == operation.ranks else repr(operation.ranks)
            yield ranks + repr([getattr(operation, name) for name in _TOLD])
            if operation.turns:
                yield repr([tuple(turn) for turn in operation.turns])
            if operation.after:
                yield repr(operation.after)


_TOLD = tuple(name for name in _NAMES if name not in ("ranks", "turns", "after", "line"))
