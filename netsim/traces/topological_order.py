"""Numbers that wait for each other, put in an order in which each comes after those that it waits for (Kahn 1962)."""

import heapq
from array import array
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[Any]
Stuck = Callable[[int, Sequence[int]], Exception | None]


def topological_order(count: int, waiters: Ints, awaited: Ints, deadlocked: Stuck) -> Ints:
    """The numbers 0..count-1 in order, each as early as it may be; `waiters[k]` waits for `awaited[k]`.

    Where all that are left wait in a cycle, or behind one, `stuck` gets the first of them and a flag for each number, 1
    if it has been placed. It gives the exception to raise, or None if that number is to go first all the same.
    """
    if (awaited < waiters).all():
        return np.arange(count)
    pairs = np.sort(awaited.astype(np.int64) * count + waiters)
    awaited, waiters = np.divmod(pairs[np.diff(pairs, prepend=-1) > 0], count)  # each pair once
    starts = np.searchsorted(awaited, np.arange(count + 1)).tolist()
    dependents = array("i", waiters.astype(np.int32).tobytes())
    left = np.bincount(waiters, minlength=count).tolist()
    ready = [number for number, waits in enumerate(left) if not waits]
    placed, order, foremost = bytearray(count), array("i"), 0
    while len(order) < count:
        if ready:
            number = heapq.heappop(ready)
        else:
            number = foremost = placed.index(0, foremost)
            error = deadlocked(number, placed)
            if error:
                raise error
        placed[number] = 1
        order.append(number)
        for dependent in dependents[starts[number] : starts[number + 1]]:
            left[dependent] -= 1
            if not left[dependent] and not placed[dependent]:
                heapq.heappush(ready, dependent)
    return np.array(order)


def topological_order_of(waits: Sequence[Sequence[int]], deadlocked: Stuck) -> list[int]:
    """The same, of lists: `waits[n]` are the numbers that n waits for."""
    waiters = np.repeat(np.arange(len(waits)), [len(each) for each in waits])
    awaited = np.fromiter(chain.from_iterable(waits), np.int64, len(waiters))
    order: list[int] = topological_order(len(waits), waiters, awaited, deadlocked).tolist()
    return order
