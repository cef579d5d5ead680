"""Which calls of the ranks of a communicator are one operation: by operation, size and the numbers of the source.

Numbers that rise from call to call tell calls apart. They hold unless what they join disagrees more than what the calls
alone join (`windows.py`), where a report that is missing costs less than one that contradicts.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from netsim.traces.joining.columns import Ints, calls_alike, op_counts_of, split
from netsim.traces.joining.reports import Call
from netsim.traces.joining.windows import holes, overlap, together, windows

MISSING, OTHER_NUMBER, CONTRADICTING = 2, 2, 3  # what one report costs


class By(Enum):
    """What told which calls belong together."""

    NUMBER = "the numbers of the source"
    TURN = "the calls alone: they have no numbers, or equal ones"
    TURN_AGAINST_NUMBER = "the calls alone: their numbers disagree"
    TURN_OF_ENDS = "sends and receives alone: their ranks give them no numbers, or others"


@dataclass(frozen=True, slots=True)
class LinedUp:
    """For each rank the numbers of the operations that its calls are (they rise), of how many operations."""

    places: Mapping[int, Ints]
    operations: int
    by: By


def line_up(calls: Mapping[int, Sequence[Call]], *, numbered: bool) -> LinedUp:
    """Join the calls of ranks on one communicator; with `numbered` by the numbers of the source whatever they join."""
    hints = {rank: op_counts_of(each) for rank, each in calls.items()}
    if numbered and calls:
        return _lined_up(_by_value(hints))
    what, in_turn = calls_alike(calls), {rank: np.arange(len(each)) for rank, each in calls.items()}
    if len(calls) < 2:
        return _lined_up(in_turn)
    if not _tell(hints.values()):
        return _lined_up(windows(what), By.TURN)
    strict = all((each[1:] > each[:-1]).all() for each in hints.values())
    if strict and _equal(hints.values()) and _equal(what.values()):
        return _lined_up(in_turn)
    both = hints if strict else dict(zip(what, _named(what.values(), hints.values()), strict=True))
    places, by = (_by_value(hints), By.NUMBER) if strict else (windows(both), By.TURN)
    if not (holes(places.values()) or _differing(places, what)):
        return _lined_up(places, by)
    others = windows(what)
    if _cost(places, what, hints) <= _cost(others, what, hints):
        return _lined_up(places, by)
    return _lined_up(others, By.TURN_AGAINST_NUMBER)


def partners(sends: Sequence[Call], receives: Sequence[Call]) -> tuple[dict[int, int], By]:
    """Which of the sends of a rank to another is which of that one's receives from it.

    Each rank counts its calls by itself, so that their numbers tell only where they rise and do not join other calls;
    other sizes under one number are a mismatch only where all numbers agree, as several calls may have one.
    """
    what, hints = calls_alike({0: sends, 1: receives}), [op_counts_of(sends), op_counts_of(receives)]
    score, (here, there) = together(what[0], what[1])
    by = By.TURN_OF_ENDS
    if _tell(hints) and all((each[1:] > each[:-1]).all() for each in hints):
        _, first, second = np.intersect1d(hints[0], hints[1], return_indices=True)
        same = what[0][first] == what[1][second]
        if len(first) and 2 * int(same.sum()) >= score:
            kept = same | _equal(hints)
            here, there, by = first[kept], second[kept], By.NUMBER
    return dict(zip(here.tolist(), there.tolist(), strict=True)), by


def crossed(calls: Mapping[int, Sequence[Call]], lined_up: LinedUp) -> Call | None:
    """The first call by which two ranks differ that call the same in another order, where no cut can be the reason."""
    places, known = lined_up.places, dict[bytes, int]()
    if lined_up.by is By.NUMBER or not holes(places.values()):
        return None
    what = calls_alike(calls)
    for rank, symbols in what.items():
        other = known.setdefault(np.sort(symbols).tobytes(), rank)
        if holes([places[rank], places[other]]) and not overlap(symbols, what[other])[1]:
            return calls[rank][int(np.flatnonzero(symbols != what[other])[0])]
    return None


def _tell(hints: Iterable[Ints]) -> bool:
    """Tell whether numbers may tell calls apart: there are some, they never fall, and they do not stand at 0."""
    some = [each for each in hints if len(each)]
    never_fall = all((each[1:] >= each[:-1]).all() and each[0] >= 0 for each in some)
    return never_fall and any(each[-1] > 0 for each in some)


def _equal(values: Iterable[Ints]) -> bool:
    first, *others = values
    return all(np.array_equal(first, each) for each in others)


def _lined_up(places: Mapping[int, Ints], by: By = By.NUMBER) -> LinedUp:
    return LinedUp(places, 1 + max((int(each.max()) for each in places.values() if len(each)), default=-1), by)


def _by_value(values: Mapping[int, Ints]) -> dict[int, Ints]:
    """Number equal values alike, in rising order."""
    numbers = np.unique(np.concatenate(list(values.values())), return_inverse=True)[1]
    return dict(zip(values, split(numbers, values.values()), strict=True))


def _named(what: Iterable[Ints], hints: Iterable[Ints]) -> list[Ints]:
    """Number calls so that those have equal numbers of which both what they are and their hints are equal."""
    recorded, lengths = np.concatenate(list(what)), list(hints)
    _, op_count = np.unique(np.concatenate(lengths), return_inverse=True)
    return split(recorded * (int(op_count.max(initial=0)) + 1) + op_count, lengths)


def _differing(places: Mapping[int, Ints], values: Mapping[int, Ints]) -> int:
    """Count the reports that differ from what most ranks say of an operation."""
    where, value = (np.concatenate([each[rank] for rank in places]) for each in (places, values))
    _, value = np.unique(value, return_inverse=True)
    said, times = np.unique(where * (int(value.max(initial=0)) + 1) + value, return_counts=True)
    _, first = np.unique(said // (int(value.max(initial=0)) + 1), return_index=True)
    return len(where) - int(np.maximum.reduceat(times, first).sum()) if len(first) else 0


def _cost(places: Mapping[int, Ints], what: Mapping[int, Ints], hints: Mapping[int, Ints]) -> int:
    reports = sum(map(len, places.values()))
    missing = _lined_up(places).operations * len(places) - reports
    return MISSING * missing + CONTRADICTING * _differing(places, what) + OTHER_NUMBER * _differing(places, hints)
