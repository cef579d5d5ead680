"""One program order for all ranks out of the orders of each, and the streams on which operations may overlap."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from netsim.traces.joining.columns import Ints
from netsim.traces.joining.reports import Call, Findings, Queue
from netsim.traces.joining.uniform_runs import AlikeStep, Stretch
from netsim.traces.topological_order import topological_order
from netsim.traces.trace import DEFAULT_STREAM, Operation, changed


@dataclass(slots=True, eq=False)
class Step:
    """An operation with the calls that report it, by global rank; `guessed` where they may not be one."""

    operation: Operation
    calls: dict[int, list[Call]]
    on_group: bool = False
    guessed: bool = False

    @property
    def ranks(self) -> tuple[int, ...]:
        """The global ranks that take part."""
        return self.operation.ranks

    @property
    def meeting(self) -> tuple[Queue, ...]:
        """The streams of the ranks that meet in it."""
        return tuple((rank, calls[0].stream) for rank, calls in self.calls.items())

    def placed(self, group: str | None, stream: str, **recorded: int) -> Operation:
        """The operation on a group and stream."""
        return changed(self.operation, group=group, stream=stream, **recorded)


AnyStep = Step | AlikeStep
# Calls of operations: the number of the operation, the queue (-1: another call of its rank tells), the place.
Parts = tuple[Ints, Ints, list[Ints]]


def program_order(steps: Sequence[AnyStep], findings: Findings) -> list[AnyStep]:
    """Put steps in one order that keeps each rank's own order on each stream; earlier lines go first where free.

    Where ranks call the same things in opposite orders no such order exists, which is an InputError. Where that may be
    because calls were joined that are not one operation, it is told, and the first line holds.
    """
    if not steps:
        return []
    turns, before, after = _neighbours(_parts(steps))
    turn_of = np.empty_like(turns)
    turn_of[turns] = np.arange(len(turns))

    def cross(turn: int, placed: Sequence[int]) -> Exception | None:
        step = steps[turns[turn]]
        call = min((call for calls in step.calls.values() for call in calls), key=lambda each: each.place)
        if not any(steps[number].guessed for number, over in zip(turns, placed, strict=True) if not over):
            return findings.deadlock(call, f"{call.op} of {call.bytes:,} bytes", "another operation")
        what = "ranks seem to call this and another operation in opposite orders, as calls were joined; this one is"
        findings.tell(call.place, f"{what} kept first: a cut log does not tell which belong together")
        return None

    order = topological_order(len(steps), turn_of[after], turn_of[before], cross)
    return [steps[number] for number in turns[order].tolist()]


def _parts(steps: Sequence[AnyStep]) -> Parts:
    """List the calls of all operations, of which there is one at least."""
    queues: dict[Queue, int] = {}
    found, number = list[list[Ints]](), 0
    for stretch, group in groupby(steps, lambda step: step.stretch if isinstance(step, AlikeStep) else None):
        some = list(group)
        if stretch is not None:
            found += _of_stretch(stretch, [step.turn for step in some if isinstance(step, AlikeStep)], number, queues)
        else:
            found.append(_of_steps([step for step in some if isinstance(step, Step)], number, queues))
        number += len(some)
    step, queue, *place = (np.concatenate(each) for each in zip(*found, strict=True))
    return step, queue, place


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


def _of_steps(steps: Sequence[Step], first: int, queues: dict[Queue, int]) -> list[Ints]:
    rows = []
    for number, step in enumerate(steps, first):
        for rank, calls in step.calls.items():
            queue = queues.setdefault((rank, calls[0].stream), len(queues))
            for call in calls:
                rows.append((number, queue, *call.place))
                queue = -1
    return list(np.array(rows, dtype=np.int64).reshape(-1, 6).T)


def _neighbours(parts: Parts) -> tuple[Ints, Ints, Ints]:
    """The operations in the order of their first calls; and for each two that follow each other on a queue, both."""
    step, queue, place = parts
    rows = np.lexsort([step, *(each for each in reversed(place) if each.size and (each != each[0]).any())])
    step, queue = step[rows], queue[rows]
    _, first = np.unique(step, return_index=True)
    leads = np.flatnonzero(queue >= 0)
    leads = leads[np.argsort(queue[leads], kind="stable")]
    step, queue = step[leads], queue[leads]
    follows = np.flatnonzero(queue[1:] == queue[:-1])
    return np.argsort(first), step[follows], step[follows + 1]


def stream_names(steps: Sequence[AnyStep]) -> list[str]:
    """Name each step's stream: streams of different ranks that meet in one step are one stream of the trace."""
    parent: dict[Queue, Queue] = {}

    def root(queue: Queue) -> Queue:
        while parent.setdefault(queue, queue) != queue:
            parent[queue] = parent[parent[queue]]
            queue = parent[queue]
        return queue

    meetings = [step.meeting for step in steps]
    for first, *others in dict.fromkeys(meetings):  # most steps meet as earlier ones did
        for queue in others:
            parent[root(queue)] = root(first)
    names: dict[Queue, str] = {}
    return [names.setdefault(root(first), f"stream{len(names)}" if names else DEFAULT_STREAM) for first, *_ in meetings]
