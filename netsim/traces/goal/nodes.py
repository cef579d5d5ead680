"""The nodes of a whole GOAL schedule in columns, rank by rank, and in what order those of each rank come."""

from __future__ import annotations

from array import array
from dataclasses import dataclass

import numpy as np

from netsim.traces.goal.rank import Goal
from netsim.traces.topological_order import Ints, Stuck, topological_order


@dataclass(frozen=True, slots=True)
class Nodes:
    """Columns by node; node n waits for `awaited[starts[n] : starts[n + 1]]`, for their start where `started`.

    `count` is how many ranks there are, `first` the number of each rank's first node.
    """

    count: int
    kinds: Ints
    sizes: Ints
    peers: Ints
    tags: Ints
    places: Ints
    ranks: Ints
    first: Ints
    starts: Ints
    awaited: Ints
    started: Ints


def nodes_of(goal: Goal) -> Nodes:
    """The nodes of a schedule that is read; the schedule's own columns are given up."""
    begun = np.array(list(goal.begun.items()), dtype=np.int64)
    counts = np.diff(begun[:, 1], append=len(goal.kinds))
    ranks = np.repeat(begun[:, 0], counts).astype(np.int32)
    order = np.argsort(ranks, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    kinds, sizes, peers = (_view(each)[order] for each in (goal.kinds, goal.sizes, goal.peers))
    tags, places = (_view(each)[order] for each in (goal.tags, goal.places))
    starts, awaited, started = _sorted(place[_view(goal.waiters)], place[_view(goal.awaited)], goal)
    goal.forget()
    first = np.searchsorted(ranks[order], np.arange(goal.ranks + 1))
    return Nodes(goal.ranks, kinds, sizes, peers, tags, places, ranks[order], first, starts, awaited, started)


def _sorted(waiters: Ints, awaited: Ints, goal: Goal) -> tuple[Ints, Ints, Ints]:
    """The waits by who waits: where those of each node start, for whom it waits, and whether only for the start."""
    by_waiter = np.argsort(waiters, kind="stable")
    starts = np.searchsorted(waiters[by_waiter], np.arange(len(goal.kinds) + 1))
    return starts, awaited[by_waiter].astype(np.int32), _view(goal.started)[by_waiter]


def _view(column: array[int]) -> Ints:
    return np.frombuffer(column, dtype=column.typecode) if column else np.zeros(0, dtype=np.int64)


def turns(nodes: Nodes, goal: Goal) -> Ints:
    """The nodes so that each comes after those of its rank that it waits for, and otherwise stays where it is."""
    order = np.arange(len(nodes.kinds))
    waiters = np.repeat(order, np.diff(nodes.starts))
    for rank in np.unique(nodes.ranks[waiters[nodes.awaited >= waiters]]).tolist():
        first, end = int(nodes.first[rank]), int(nodes.first[rank + 1])
        edges = slice(nodes.starts[first], nodes.starts[end])
        cycle = _cycle(nodes, goal, first)
        own = topological_order(end - first, waiters[edges] - first, nodes.awaited[edges] - first, cycle)
        order[first:end] = own + first
    return order


def _cycle(nodes: Nodes, goal: Goal, first: int) -> Stuck:
    hint = "take out one of the dependencies between them"
    what = "waits for itself by way of others"
    return lambda number, _: goal.wrong(int(nodes.places[first + number]), what, hint)
