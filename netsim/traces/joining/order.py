"""One program order for all ranks out of the orders of each, and the streams on which operations may overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from netsim.traces.joining.parts import neighbours, parts
from netsim.traces.joining.reports import Call, Findings, Queue
from netsim.traces.joining.uniform_runs import AlikeStep
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


def program_order(steps: Sequence[AnyStep], findings: Findings) -> list[AnyStep]:
    """Put steps in one order that keeps each rank's own order on each stream; earlier lines go first where free.

    Where ranks call the same things in opposite orders no such order exists, which is an InputError. Where that may be
    because calls were joined that are not one operation, it is told, and the first line holds.
    """
    if not steps:
        return []
    turns, before, after = neighbours(parts(steps), len(steps))
    turn_of = np.empty_like(turns)
    turn_of[turns] = np.arange(len(turns))

    def cross(turn: int, placed: Sequence[int]) -> Exception | None:
        step = steps[turns[turn]]
        call = min((call for calls in step.calls.values() for call in calls), key=lambda each: each.place)
        if not any(steps[number].guessed for number, over in zip(turns, placed, strict=True) if not over):
            return findings.deadlock(call, f"{call.op} of {call.bytes:,} bytes", "another operation")
        what = "ranks seem to call this and another operation in opposite orders, as calls were joined; this one is"
        findings.add(call, f"{what} kept first: a cut log does not tell which belong together")
        return None

    order = topological_order(len(steps), turn_of[after], turn_of[before], cross)
    return [steps[number] for number in turns[order].tolist()]


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
