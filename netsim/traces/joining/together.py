"""Communicators whose calls bear no numbers, lined up together: what ranks call on others tells more than their turns.

Ranks that share several communicators call on them in one order, so that what a rank's log lacks at its head or tail it
lacks on all of them. Calls that are known to be one operation already stand for it.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from netsim.traces.joining.columns import Ints, calls_alike, places_of, split
from netsim.traces.joining.line_up import By, LinedUp
from netsim.traces.joining.reports import Call
from netsim.traces.joining.windows import holes, windows

WORTH = 4  # together has to join one in so many of what is joined alone, more than half where nothing lacks alone
CallsByRank = Mapping[int, Sequence[Call]]  # calls by global rank


def line_up_together(recorded: Sequence[CallsByRank], alone: Sequence[LinedUp]) -> list[LinedUp]:
    """Line up those communicators once more that were joined by their calls alone, with others of the same ranks."""
    groups, found = defaultdict[frozenset[int], list[int]](list), list(alone)
    known = list[int]()
    for number, calls in enumerate(recorded):
        if alone[number].by is By.TURN and len(calls) > 1:
            groups[frozenset(calls)].append(number)
        else:
            known.append(number)
    for ranks, group in sorted(groups.items(), key=lambda each: -len(each[0])):
        anchors = [number for number in known if ranks <= recorded[number].keys()]
        if len(group) + len(anchors) > 1:
            _together(ranks, group, anchors, recorded, found)
        known += group
    return found


def _together(
    ranks: frozenset[int], group: list[int], anchors: list[int], recorded: Sequence[CallsByRank], found: list[LinedUp]
) -> None:
    """Line up the communicators of some ranks, and keep that if it joins about as much as was joined before."""
    what = {number: calls_alike(recorded[number]) for number in group} | {
        number: found[number].places for number in anchors
    }
    first, starts = 0, dict[int, int]()
    for number, symbols in what.items():
        starts[number], first = first, first + 1 + max(int(each.max(initial=-1)) for each in symbols.values())
    calls = {rank: [recorded[number][rank] for number in what] for rank in ranks}
    orders = {rank: np.lexsort(np.concatenate([places_of(each) for each in calls[rank]], axis=1)) for rank in ranks}
    named = {rank: np.concatenate([what[number][rank] + starts[number] for number in what]) for rank in ranks}
    joint = windows({rank: named[rank][orders[rank]] for rank in ranks})
    if holes(joint.values()):
        return
    dealt = {rank: _dealt(joint[rank], orders[rank], calls[rank]) for rank in ranks}
    new_ones = list[LinedUp]()
    for turn in range(len(group)):
        some = [dealt[rank][turn] for rank in ranks]
        values, numbers = np.unique(np.concatenate(some), return_inverse=True)
        new_ones.append(LinedUp(dict(zip(ranks, split(numbers, some), strict=True)), len(values), By.TURN))
    reports = sum(len(each) for number in group for each in recorded[number].values())
    before, after = (sum(each.operations for each in some) for some in ([found[number] for number in group], new_ones))
    whole = all(found[number].operations == len(each) for number in group for each in recorded[number].values())
    if (reports - after) * (2 if whole else WORTH) >= reports - before + whole:
        for number, lined_up in zip(group, new_ones, strict=True):
            found[number] = lined_up


def _dealt(joint: Ints, order: Ints, calls: list[Sequence[Call]]) -> list[Ints]:
    """Deal the operations of a rank's calls to the communicators that they are of."""
    places = np.empty(len(joint), np.int64)
    places[order] = joint
    return split(places, calls)
