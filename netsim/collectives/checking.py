"""Proof that a schedule can be carried out: every row goes somewhere and nothing waits for itself."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from netsim.collectives.schedule import Int32s, Int64s, Schedule
from netsim.errors import InputError

Flags = NDArray[np.bool_]

ROWS_AT_ONCE = 1 << 20
IN_A_CYCLE = -1


def check(schedule: Schedule) -> None:
    """Raise InputError for the first row that cannot be carried out: it names the row and the mend.

    Refused are columns that do not fit together, ranks outside the group, self-sends, rows without bytes, rows that
    wait for a row that does not exist or that touches their source at neither end, and rows that wait in a cycle.
    Schedules whose rows wait for earlier rows only, as all of ours do, are checked in one pass over the columns.
    """
    _check_shape(schedule)
    in_order = True
    for rows in _slices(len(schedule)):
        _check_rows(schedule, rows)
        in_order &= _check_waits(schedule, rows)
    if not in_order:
        _check_cycle(schedule)


def depths(schedule: Schedule) -> Int32s:
    """The step of each row (i4[m]): 0 if it waits for nothing, else one more than the latest it waits for.

    Rows in a cycle, and those behind it, have IN_A_CYCLE.
    """
    waiting = np.diff(schedule.first_after)
    first_dependent, dependents = _heirs(schedule)
    depth = np.full(len(schedule), IN_A_CYCLE, dtype=np.int32)
    ready, step = np.flatnonzero(waiting == 0), 0
    while ready.size:
        depth[ready] = step
        counts = first_dependent[ready + 1] - first_dependent[ready]
        skipped = np.repeat(first_dependent[ready] - (np.cumsum(counts) - counts), counts)
        freed = dependents[np.arange(len(skipped)) + skipped]
        np.subtract.at(waiting, freed, 1)
        ready, step = np.unique(freed[waiting[freed] == 0]), step + 1
    return depth


def _heirs(schedule: Schedule) -> tuple[Int64s, Int32s]:
    """The rows that wait for each row (CSR): `after` turned round."""
    waiter = np.repeat(np.arange(len(schedule), dtype=np.int32), np.diff(schedule.first_after))
    first = np.zeros(len(schedule) + 1, dtype=np.int64)
    np.cumsum(np.bincount(schedule.after, minlength=len(schedule)), out=first[1:])
    return first, waiter[np.argsort(schedule.after, kind="stable")]


def _slices(rows: int) -> Iterator[slice]:
    """Stretches of rows short enough that what is computed on the way stays small."""
    return (slice(start, min(start + ROWS_AT_ONCE, rows)) for start in range(0, rows, ROWS_AT_ONCE))


def _check_shape(schedule: Schedule) -> None:
    rows, first = len(schedule), schedule.first_after
    for name in ("target", "channel", "bytes", "offset", "reduces"):
        length = len(getattr(schedule, name))
        if length != rows:
            raise _error(schedule, f"{name} has {length} rows, source has {rows}", "give every column the same length")
    sound = (
        len(first) == rows + 1 and first[0] == 0 and first[-1] == len(schedule.after) and np.all(np.diff(first) >= 0)
    )
    if not sound:
        hint = f"give {rows + 1} ascending numbers from 0 to {len(schedule.after)}, the length of after"
        raise _error(schedule, "first_after does not divide after among the rows", hint)


def _check_rows(schedule: Schedule, rows: slice) -> None:
    source, target, size = schedule.source[rows], schedule.target[rows], schedule.bytes[rows]
    for name, rank in (("source", source), ("target", target)):
        outside = (rank < 0) | (rank >= schedule.ranks)
        _refuse(schedule, rows, outside, f"has a {name} outside the group", f"give 0..{schedule.ranks - 1}")
    _refuse(schedule, rows, source == target, "sends to itself", "leave it out or name another target")
    _refuse(schedule, rows, size <= 0, "carries no bytes", "give 1 byte or more, or leave the row out")
    _refuse(schedule, rows, schedule.offset[rows] < 0, "has a negative offset", "give 0 or more")
    _refuse(schedule, rows, schedule.channel[rows] < 0, "has a negative channel", "give 0 or more")


def _check_waits(schedule: Schedule, rows: slice) -> bool:
    """Check what the rows wait for; True if that is earlier rows only."""
    first = schedule.first_after[rows.start : rows.stop + 1]
    waiter = np.repeat(np.arange(rows.stop - rows.start), np.diff(first))
    after = schedule.after[first[0] : first[-1]]
    missing = (after < 0) | (after >= len(schedule))
    _refuse_waiter(schedule, rows, waiter, missing, "waits for a row that does not exist", "give a row number")
    here = schedule.source[rows][waiter]
    apart = (schedule.target[after] != here) & (schedule.source[after] != here)
    hint = "a row may wait for what its source receives or sends"
    _refuse_waiter(schedule, rows, waiter, apart, "waits for a row that its source neither receives nor sends", hint)
    return bool(np.all(after < waiter + rows.start))


def _check_cycle(schedule: Schedule) -> None:
    depth = depths(schedule)
    deadlocked = np.flatnonzero(depth == IN_A_CYCLE)
    if not deadlocked.size:
        return
    path, row = [], int(deadlocked[0])
    while row not in path:
        path.append(row)
        row = next(int(each) for each in schedule.predecessors(row) if depth[each] == IN_A_CYCLE)
    cycle = [str(each) for each in path[path.index(row) :]]
    shown = [*cycle[:6], "..."] if len(cycle) > 6 else cycle
    what = f"{len(cycle)} rows wait for each other in a cycle: {' after '.join([*shown, cycle[0]])}"
    raise _error(schedule, what, "take one of these out of `after`")


def _refuse(schedule: Schedule, rows: slice, wrong: Flags, what: str, hint: str) -> None:
    for place in np.flatnonzero(wrong)[:1]:
        row = rows.start + int(place)
        ends = f"{schedule.source[row]} -> {schedule.target[row]}, {schedule.bytes[row]} bytes"
        raise _error(schedule, f"row {row} ({ends}) {what}", hint)


def _refuse_waiter(schedule: Schedule, rows: slice, waiter: Int64s, wrong: Flags, what: str, hint: str) -> None:
    for place in np.flatnonzero(wrong)[:1]:
        row, awaited = rows.start + int(waiter[place]), schedule.after[schedule.first_after[rows.start] + place]
        raise _error(schedule, f"row {row} {what}: row {awaited}", hint)


def _error(schedule: Schedule, what: str, hint: str) -> InputError:
    return InputError(what, where=f"{schedule.algorithm} {schedule.op} schedule", hint=hint)
