"""Operations that all seen ranks of a communicator report alike: joined over columns, without an object for each call.

Most of a log is so. What differs, is missing or tells times is joined call by call (`align.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from netsim.traces.joining.columns import Calls, Ints
from netsim.traces.joining.line_up import LinedUp
from netsim.traces.joining.reports import Call, Queue
from netsim.traces.trace import DEFAULT_STREAM, Operation, changed


class Stretch:
    """So many operations of one communicator: the k-th call of each seen rank is the same; `calls` by global rank.

    `guessed` where nothing tells that these calls are the same, but that they look so.
    """

    def __init__(self, ranks: tuple[int, ...], calls: dict[int, Calls], *, guessed: bool) -> None:
        self.ranks, self.calls, self.guessed = ranks, calls, guessed
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
        requests = self.first.table.requests
        meeting = list(zip(*(each.column("kind").tolist() for each in self.calls.values()), strict=True))
        known = {
            kinds: tuple((rank, requests[kind].stream) for rank, kind in zip(self.calls, kinds, strict=True))
            for kinds in set(meeting)
        }
        return [known[kinds] for kinds in meeting]

    def operation(self, turn: int, group: str | None, stream: str) -> Operation:
        """One of them as an operation of the trace."""
        key = (self.kinds[turn], group, stream)
        made = self._made.get(key)
        if made is None:
            op, size, dtype, root, _ = self.first.table.requests[key[0]]
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
    def guessed(self) -> bool:
        """Tell whether these calls may not be one operation."""
        return self.stretch.guessed

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


def uniform(calls: Mapping[int, Sequence[Call]], lined_up: LinedUp) -> dict[int, Ints]:
    """For each rank where those of its calls stand that all ranks report, and alike; {} where calls tell times."""
    columns = {rank: each for rank, each in calls.items() if isinstance(each, Calls) and not each.table.starts}
    if len(columns) < len(calls) or not columns:
        return {}
    places = [lined_up.places[rank] for rank in columns]
    same = np.bincount(np.concatenate(places), minlength=lined_up.operations) == len(columns)
    recorded = [each.what()[same[where]] for each, where in zip(columns.values(), places, strict=True)]
    differing = np.logical_or.reduce([each != recorded[0] for each in recorded])
    same[np.flatnonzero(same)[differing]] = False
    return {rank: np.flatnonzero(same[where]) for rank, where in zip(columns, places, strict=True)}
