"""Which call of which rank stands where, over all operations, in columns: what their order follows from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

import numpy as np

from netsim.traces.joining.columns import Ints
from netsim.traces.joining.reports import Call, Queue
from netsim.traces.joining.uniform_runs import AlikeStep, Stretch


@dataclass(frozen=True, slots=True)
class Parts:
    """Calls of operations: the number of the operation, the queue (-1: another call of its rank tells), the place."""

    step: Ints
    queue: Ints
    place: tuple[Ints, ...]


class _Step(Protocol):
    @property
    def calls(self) -> Mapping[int, list[Call]]: ...


def parts(steps: Sequence[_Step | AlikeStep]) -> Parts:
    """List the calls of all operations, of which there is one at least."""
    queues: dict[Queue, int] = {}
    found, number = list[list[Ints]](), 0
    for stretch, group in groupby(steps, lambda step: step.stretch if isinstance(step, AlikeStep) else None):
        some = list(group)
        if stretch is not None:
            found += _of_stretch(stretch, [step.turn for step in some if isinstance(step, AlikeStep)], number, queues)
        else:
            found.append(_of_steps(some, number, queues))
        number += len(some)
    step, queue, *place = (np.concatenate(each) for each in zip(*found, strict=True))
    return Parts(step, queue, tuple(place))


def _of_stretch(stretch: Stretch, turns: list[int], first: int, queues: dict[Queue, int]) -> list[list[Ints]]:
    requests, numbers = stretch.first.table.requests, np.arange(first, first + len(turns))
    listed = []
    for rank, all_calls in stretch.calls.items():
        calls = all_calls.taken(turns)
        kinds = calls.column("kind")
        queue_of = np.zeros(len(requests), np.int64)
        for kind in np.unique(kinds).tolist():
            queue_of[kind] = queues.setdefault((rank, requests[kind].stream), len(queues))
        file, line = (calls.column(name).astype(np.int64) for name in ("file", "line"))
        listed.append([numbers, queue_of[kinds], file, line, calls.turns(), np.zeros(len(turns), np.int64)])
    return listed


def _of_steps(steps: Sequence[_Step], first: int, queues: dict[Queue, int]) -> list[Ints]:
    rows = []
    for number, step in enumerate(steps, first):
        for rank, calls in step.calls.items():
            queue = queues.setdefault((rank, calls[0].stream), len(queues))
            for call in calls:
                rows.append((number, queue, *call.place))
                queue = -1
    return list(np.array(rows, dtype=np.int64).reshape(-1, 6).T)


def neighbours(parts: Parts, steps: int) -> tuple[Ints, Ints, Ints]:
    """The operations in the order of their first calls; and for each two that follow each other on a queue, both."""
    keys = [parts.step, *(each for each in reversed(parts.place) if each.size and (each != each[0]).any())]
    rows = np.lexsort(keys)
    step, queue = parts.step[rows], parts.queue[rows]
    _, first = np.unique(step, return_index=True)
    leads = np.flatnonzero(queue >= 0)
    leads = leads[np.argsort(queue[leads], kind="stable")]
    step, queue = step[leads], queue[leads]
    follows = np.flatnonzero(queue[1:] == queue[:-1])
    return np.argsort(first), step[follows], step[follows + 1]
