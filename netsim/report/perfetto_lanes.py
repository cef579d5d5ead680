"""Lanes for many slices at once, by columns: slices of one lane never overlap, and there are as few as can be."""

from typing import Any

import numpy as np


def lanes_of(track: Any, begin: Any, end: Any) -> Any:
    """The lane of each slice among those of its track, from 0: i8. A track has as many as slices at one time.

    track: integers; begin, end: times; a slice that ends when another begins is no longer there, one without length
    is there for one unit of time. In each track the slice that is n-th to begin takes over the lane of the slice that
    is (n - d)-th to end, d being the number of lanes: that has ended by then, since of the n that began before at most
    d - 1 are still there.
    """
    count = len(track)
    if not count:
        return np.zeros(0, "i8")
    end = np.maximum(end, np.asarray(begin) + 1)
    by_begin, by_end = np.lexsort((begin, track)), np.lexsort((end, track))
    first = np.flatnonzero(np.append(True, np.diff(track[by_begin]) != 0))  # of each track, in both orders
    sizes = np.diff(np.append(first, count))
    nth = np.arange(count) - np.repeat(first, sizes)
    lanes = np.repeat(_most_at_once(track, begin, end, first), sizes)
    before = np.arange(count)  # by slice: the one whose lane it takes over, or itself
    takes_over = nth >= lanes
    before[by_begin[takes_over]] = by_end[np.flatnonzero(takes_over) - lanes[takes_over]]
    while len(some := np.flatnonzero(before[before] != before)):  # each looks twice as far back as before
        before[some] = before[before[some]]
    lane = np.empty(count, "i8")
    lane[by_begin] = nth
    return lane[before]


def _most_at_once(track: Any, begin: Any, end: Any, first: Any) -> Any:
    """The largest number of slices at one time in each track; first: the first slice of each, in order of tracks."""
    change = np.repeat([1, -1], len(track))
    order = np.lexsort((change, np.concatenate([begin, end]), np.concatenate([track, track])))  # ends first
    return np.maximum.reduceat(np.cumsum(change[order]), 2 * first)
