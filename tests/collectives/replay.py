"""Carries a schedule out in memory, in a random one of the orders that its dependencies allow."""

import random
from collections.abc import Callable
from typing import TypeVar

from netsim.collectives import Schedule

T = TypeVar("T")


def replay(schedule: Schedule, read: Callable[[int], T], write: Callable[[int, T], None], seed: int) -> None:
    """Each row reads at its source when it starts and writes at its target when it arrives, any time later.

    A row may start as soon as all rows it waits for have arrived; nothing else keeps an order. A schedule that leaves
    out a dependency will read too early in some of the orders.
    """
    draw = random.Random(seed)
    missing = [len(schedule.predecessors(row)) for row in range(len(schedule))]
    dependents: list[list[int]] = [[] for _ in missing]
    for row in range(len(schedule)):
        for awaited in schedule.predecessors(row).tolist():
            dependents[awaited].append(row)
    ready = [row for row, count in enumerate(missing) if count == 0]
    flying: list[tuple[int, T]] = []
    arrived = 0
    while ready or flying:
        if ready and (not flying or draw.random() < 0.5):
            row = ready.pop(draw.randrange(len(ready)))
            flying.append((row, read(row)))
            continue
        row, value = flying.pop(draw.randrange(len(flying)))
        write(row, value)
        arrived += 1
        for dependent in dependents[row]:
            missing[dependent] -= 1
            if missing[dependent] == 0:
                ready.append(dependent)
    assert arrived == len(schedule), "some rows never became ready"
