"""Carries a schedule out in memory, in a random one of the orders that its dependencies allow."""

import random
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import TypeVar

import numpy as np

from netsim.collectives import Schedule, depths

T = TypeVar("T")
NO_EXCHANGES: Mapping[int, int] = {}


def replay(
    schedule: Schedule,
    read: Callable[[int], T],
    write: Callable[[int, T], None],
    seed: int,
    exchanges: Mapping[int, int] = NO_EXCHANGES,
) -> None:
    """Each row reads at its source when it starts and writes at its target when it arrives, any time later.

    A row may start as soon as all rows it waits for have arrived; nothing else keeps an order, but that a row is not
    taken in before its other half has started, where it is half of an exchange. A schedule that leaves out a dependency
    will read too early in some of the orders.
    """
    draw = random.Random(seed)
    missing = [len(schedule.predecessors(row)) for row in range(len(schedule))]
    acked, delivered = _dependents(schedule)
    ready = [row for row, count in enumerate(missing) if count == 0]
    flying: list[tuple[int, T]] = []
    started, held = set[int](), dict[int, T]()  # held: arrived and not yet taken in
    arrived = 0

    def release(rows: list[int]) -> None:
        for row in rows:
            missing[row] -= 1
            if missing[row] == 0:
                ready.append(row)

    while ready or flying:
        if ready and (not flying or draw.random() < 0.5):
            row = ready.pop(draw.randrange(len(ready)))
            flying.append((row, read(row)))
            started.add(row)
            other = exchanges.get(row)
            flying += [(other, held.pop(other))] if other in held else []
            continue
        row, value = flying.pop(draw.randrange(len(flying)))
        release(acked.pop(row, []))
        if exchanges.get(row, row) in started:
            write(row, value)
            arrived += 1
            release(delivered[row])
        else:
            held[row] = value
    assert arrived == len(schedule), "some rows never became ready"


def _dependents(schedule: Schedule) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """What waits for each row's acknowledgement, at its source, and what waits for its delivery."""
    acked: dict[int, list[int]] = defaultdict(list)
    delivered: dict[int, list[int]] = defaultdict(list)
    for row in range(len(schedule)):
        for awaited in schedule.predecessors(row).tolist():
            side = acked if schedule.source[awaited] == schedule.source[row] else delivered
            side[awaited].append(row)
    return acked, delivered


def exchanges(schedule: Schedule) -> dict[int, int]:
    """The other half of each row of an exchange: there and back, the same bytes, neither after the other.

    Holding one half back until the other has started costs no time: whatever waits for the one waits for all that the
    other waits for, too. A schedule of which that is not true is refused; so is one that leaves open which is whose.
    """
    behind = ancestors(schedule)
    rows: dict[tuple[int, ...], list[int]] = defaultdict(list)
    names = ("source", "target", "channel", "offset", "bytes")
    keys = list(zip(*(getattr(schedule, name).tolist() for name in names), strict=True))
    for row, key in enumerate(keys):
        rows[key].append(row)
    found = {}
    for row, (source, target, *same) in enumerate(keys):
        others = [each for each in rows.get((target, source, *same), ()) if not _ordered(behind, row, each)]
        assert len(others) <= 1, f"rows {others} could be the other half of row {row}"
        found.update(dict.fromkeys([row], *others) if others else {})
    for row, other in found.items():
        assert found[other] == row, f"row {row} could be the other half of several"
    _, delivered = _dependents(schedule)
    for half, other in found.items():
        for row in delivered[half]:
            late = [each for each in schedule.predecessors(other).tolist() if not behind[row] >> each & 1]
            assert not late, f"row {row} waits for row {half}, half of an exchange, but not for rows {late}"
    return found


def ancestors(schedule: Schedule) -> list[int]:
    """The rows that each row waits for, be it by way of others: a bit for each."""
    behind = [0] * len(schedule)
    for row in np.argsort(depths(schedule), kind="stable").tolist():
        for awaited in schedule.predecessors(row).tolist():
            behind[row] |= behind[awaited] | 1 << awaited
    return behind


def _ordered(behind: list[int], one: int, other: int) -> bool:
    return bool(behind[one] >> other & 1 or behind[other] >> one & 1)
