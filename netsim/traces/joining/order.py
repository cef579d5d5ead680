"""One program order for all ranks out of the orders of each, and the streams on which operations may overlap."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from netsim.traces.joining.reports import Call, Findings, Place
from netsim.traces.trace import DEFAULT_STREAM, Operation

Queue = tuple[int, str]  # a global rank and a stream of its process: what is called there runs in order


@dataclass(slots=True, eq=False)
class Step:
    """An operation with the calls that report it, by global rank."""

    operation: Operation
    calls: dict[int, list[Call]]
    on_group: bool = False
    queues: dict[Queue, Place] = field(init=False)  # where each rank reports it, by rank and stream

    def __post_init__(self) -> None:
        self.queues = {(rank, calls[0].stream): calls[0].place for rank, calls in self.calls.items()}

    @property
    def ranks(self) -> tuple[int, ...]:
        """The global ranks that take part."""
        return self.operation.ranks

    def first(self) -> Place:
        """Where the step is reported first."""
        return min([call.place for calls in self.calls.values() for call in calls])


def program_order(steps: Sequence[Step], findings: Findings) -> list[Step]:
    """Put steps in one order that keeps each rank's own order on each stream; earlier lines go first where free.

    Where ranks call the same things in opposite orders no such order exists: that is told, and the first line holds.
    """
    ahead, behind = _neighbours(steps)
    waits_for = [len(each) for each in ahead]
    turns = sorted(range(len(steps)), key=lambda number: steps[number].first())
    turn_of = {number: turn for turn, number in enumerate(turns)}
    ready = [turn for turn, number in enumerate(turns) if not waits_for[number]]
    heapq.heapify(ready)
    done, ordered = [False] * len(steps), list[Step]()
    stuck = iter(turns)
    while len(ordered) < len(steps):
        if ready:
            number = turns[heapq.heappop(ready)]
        else:
            number = next(each for each in stuck if not done[each])
            call = min((call for calls in steps[number].calls.values() for call in calls), key=lambda each: each.place)
            findings.add(call, "ranks call this and another operation in opposite orders: a real job would hang")
        if done[number]:
            continue
        done[number] = True
        ordered.append(steps[number])
        for after in behind[number]:
            waits_for[after] -= 1
            if not waits_for[after] and not done[after]:
                heapq.heappush(ready, turn_of[after])
    return ordered


def _neighbours(steps: Sequence[Step]) -> tuple[list[set[int]], list[set[int]]]:
    """List for each step the steps directly ahead of it and behind it on any rank's stream."""
    queues: dict[Queue, list[tuple[Place, int]]] = defaultdict(list)
    for number, step in enumerate(steps):
        for queue, place in step.queues.items():
            queues[queue].append((place, number))
    ahead: list[set[int]] = [set() for _ in steps]
    behind: list[set[int]] = [set() for _ in steps]
    for line in queues.values():
        line.sort()
        before = line[0][1]
        for _, after in line[1:]:
            ahead[after].add(before)
            behind[before].add(after)
            before = after
    return ahead, behind


def stream_names(steps: Sequence[Step]) -> list[str]:
    """Name each step's stream: streams of different ranks that meet in one step are one stream of the trace."""
    parent: dict[Queue, Queue] = {}

    def root(queue: Queue) -> Queue:
        while parent.setdefault(queue, queue) != queue:
            parent[queue] = parent[parent[queue]]
            queue = parent[queue]
        return queue

    meetings = [tuple(step.queues) for step in steps]
    for first, *others in dict.fromkeys(meetings):  # most steps meet as earlier ones did
        for queue in others:
            parent[root(queue)] = root(first)
    names: dict[Queue, str] = {}
    return [names.setdefault(root(first), f"stream{len(names)}" if names else DEFAULT_STREAM) for first, *_ in meetings]
