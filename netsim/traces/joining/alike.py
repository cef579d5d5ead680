"""Operations that all seen ranks of a communicator report alike: joined over columns, without an object for each call.

Most of a log is so. What differs, is missing or tells times is joined call by call (`align.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from netsim.traces.joining.columns import Calls, Ints
from netsim.traces.joining.reports import Call, Queue
from netsim.traces.trace import DEFAULT_STREAM, Operation, changed


class Stretch:
    """So many operations of one communicator: the k-th call of each seen rank is the same; `calls` by global rank."""

    def __init__(self, ranks: tuple[int, ...], calls: dict[int, Calls]) -> None:
        self.ranks, self.calls = ranks, calls
        self.first = next(iter(calls.values()))
        self.kinds = self.first.column("kind").tolist()
        self._lines = self.first.column("line").tolist()
        self._made: dict[tuple[int, str | None, str], Operation] = {}

    def steps(self) -> list[AlikeStep]:
        """The operations one by one."""
        return [AlikeStep(self, turn) for turn in range(len(self.kinds))]

    @cached_property
    def meetings(self) -> list[tuple[Queue, ...]]:
        """For each operation the streams of the ranks that meet in it."""
        wishes = self.first.table.wishes
        meeting = list(zip(*(each.column("kind").tolist() for each in self.calls.values()), strict=True))
        known = {
            kinds: tuple((rank, wishes[kind].stream) for rank, kind in zip(self.calls, kinds, strict=True))
            for kinds in set(meeting)
        }
        return [known[kinds] for kinds in meeting]

    def operation(self, turn: int, group: str | None, stream: str) -> Operation:
        """One of them as an operation of the trace."""
        key = (self.kinds[turn], group, stream)
        made = self._made.get(key)
        if made is None:
            op, size, dtype, root, _ = self.first.table.wishes[key[0]]
            made = self._made[key] = Operation(op, group, self.ranks, size, dtype, root, stream=stream)
        return changed(made, line=self._lines[turn])


class AlikeStep:
    """One operation of a stretch: what a `Step` is, of which it makes what is asked for."""

    __slots__ = ("stretch", "turn")
    on_group = True

    def __init__(self, stretch: Stretch, turn: int) -> None:
        self.stretch, self.turn = stretch, turn

    @property
    def ranks(self) -> tuple[int, ...]:
        """The global ranks that take part."""
        return self.stretch.ranks

    @property
    def operation(self) -> Operation:
        """The operation, without group and stream."""
        return self.stretch.operation(self.turn, None, DEFAULT_STREAM)

    @property
    def calls(self) -> Mapping[int, list[Call]]:
        """The calls that report it, by global rank."""
        return {rank: [calls[self.turn]] for rank, calls in self.stretch.calls.items()}

    @property
    def meeting(self) -> tuple[Queue, ...]:
        """The streams of the ranks that meet in it."""
        return self.stretch.meetings[self.turn]

    def placed(self, group: str | None, stream: str) -> Operation:
        """The operation on a group and stream."""
        return self.stretch.operation(self.turn, group, stream)


def alike(calls: Mapping[int, Sequence[Call]]) -> int:
    """How many first calls of all ranks are the same, so that nothing but their turn is needed to join them.

    Where ranks do not make equally many calls, only those count to which the source gives the same numbers, too.
    """
    columns = [each for each in calls.values() if isinstance(each, Calls) and not each.table.starts]
    if len(columns) < len(calls) or not columns:
        return 0
    shortest = min(map(len, columns))
    same = _common([each.what() for each in columns], shortest)
    if same == shortest and all(len(each) == shortest for each in columns):
        return same
    return _common([each.column("hint") for each in columns], same)


def _common(columns: Sequence[Ints], length: int) -> int:
    """How many of the first values are equal in all columns."""
    for each in columns[1:]:
        other = np.flatnonzero(columns[0][:length] != each[:length])
        length = int(other[0]) if len(other) else length
    return length
