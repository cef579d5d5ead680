"""From a GOAL schedule that is read to a trace: a matrix of flows where nothing is computed, else operations."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np

from netsim.errors import InputError
from netsim.traces.goal.nodes import Nodes, nodes_of, turns
from netsim.traces.goal.rank import COMPUTE, PS_PER_UNIT, SEND, Goal
from netsim.traces.goal.rendezvous import senders
from netsim.traces.goal.waits import Needs, needs_of
from netsim.traces.graphs.graph_trace import EMPTY
from netsim.traces.graphs.streams import Streams
from netsim.traces.input_files import trace_name
from netsim.traces.matrix import matrix
from netsim.traces.read_report import ReadReport
from netsim.traces.topological_order import Ints, topological_order
from netsim.traces.trace import Operation, Trace, Turn, changed

UNIT = "calc counts nanoseconds"
CPUS = "computations of one rank may overlap, on one cpu too, unless they wait for each other"


def trace_of(goal: Goal) -> Trace:
    """The trace of a schedule."""
    nodes, notes = nodes_of(goal), Counter[str]()
    order = turns(nodes, goal)
    met = senders(nodes, order, notes)
    nodes = _with_bytes(nodes, notes)
    needs = needs_of(nodes, order, met, goal)
    computes = bool((nodes.kinds == COMPUTE).any())
    waits = needs.waits(with_self=not computes and len(needs.nodes) > 0)
    places = topological_order(len(needs.nodes), *waits, lambda number, _: _cycle(nodes, needs.nodes[number], goal))
    if computes or not len(needs.nodes):
        made = _operations(nodes, needs, places, has_lines=goal.has_lines)
    else:
        made = (_matrix(nodes, needs, places, waits),)
    assumed = (UNIT, CPUS) if computes else ()
    recorded = tuple(f"{count:,} {what}" for what, count in notes.items() if count)
    records = len(needs.nodes) + int(np.count_nonzero(met >= 0))
    seen = tuple(range(goal.ranks))
    report = ReadReport(lines=len(nodes.kinds), records=records, seen=seen, assumed=assumed, findings=recorded)
    name = trace_name(goal.path, ".goal", ".bin")
    return Trace(name, goal.ranks, {}, made, str(goal.path), (*assumed, *recorded), report)


def _with_bytes(nodes: Nodes, notes: Counter[str]) -> Nodes:
    """Let each transfer carry something, so that others can wait for it."""
    empty = (nodes.kinds == SEND) & (nodes.sizes == 0)
    if not empty.any():
        return nodes
    notes[EMPTY] += int(np.count_nonzero(empty))
    return replace(nodes, sizes=np.where(empty, 1, nodes.sizes))


def _cycle(nodes: Nodes, node: int, goal: Goal) -> InputError:
    what = f"{'send' if nodes.kinds[node] == SEND else 'compute'} {nodes.places[node]}"
    what = f"ranks wait for each other in a cycle: rank {nodes.ranks[node]} never gets to {what}"
    return InputError(what, where=str(goal.path), hint="the job would hang: take out one of the dependencies")


def _matrix(nodes: Nodes, needs: Needs, order: Ints, waits: tuple[Ints, Ints]) -> Operation:
    """Transfers as the flows of one matrix, which wait for those of it that they need."""
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    at = needs.nodes[order]
    ends = list(range(nodes.count))  # each number once in memory
    sources, targets = (map(ends.__getitem__, each[at].tolist()) for each in (nodes.ranks, nodes.peers))
    flows = tuple(zip(sources, targets, nodes.sizes[at].tolist(), strict=True))
    waiters, awaited = place[waits[0]], place[waits[1]]
    rows = np.lexsort((awaited, waiters))
    numbers, awaited = list(range(len(flows))), awaited[rows]
    cuts = np.searchsorted(waiters[rows], np.arange(len(flows) + 1)).tolist()
    free = Turn()
    listed = [
        Turn(0, tuple(numbers[each] for each in awaited[one:other].tolist()), 0) if other > one else free
        for one, other in pairwise(cuts)
    ]
    return Operation("flows", **matrix(flows, listed))


def _operations(nodes: Nodes, needs: Needs, order: Ints, *, has_lines: bool) -> tuple[Operation, ...]:
    """The operations in an order in which each comes after those it waits for, on streams."""
    streams, plain, made = Streams(len(order)), cache(_plain), list[Operation]()
    at, receives = needs.nodes[order], needs.receives[order]
    columns = (order, at, receives, *(each[at] for each in (nodes.ranks, nodes.peers, nodes.sizes, nodes.places)))
    # Memory views make each number when it is asked for; lists would hold millions of them.
    for number, node, receive, rank, peer, size, place in zip(*map(_items, columns), strict=True):
        needed = needs.of(node)
        both = [(rank, needed), (peer, needs.of(receive) if receive >= 0 else _NONE)]
        stream, after = streams.put(number, both if peer >= 0 else both[:1], needed)
        amount = {"duration_ps": size * PS_PER_UNIT} if peer < 0 else {"bytes": size}
        made.append(changed(plain(rank, peer), line=place if has_lines else 0, stream=stream, after=after, **amount))
    return tuple(made)


def _items(column: Ints) -> memoryview[int]:
    return memoryview(np.ascontiguousarray(column))  # type: ignore[arg-type]


def _plain(rank: int, peer: int) -> Operation:
    """A computation of a rank (whose peer is -1), or a send to one: what those of the same ranks share."""
    if peer < 0:
        return Operation("compute", None, (rank,))
    return Operation("send", None, (rank, peer), src=rank, dst=peer)


_NONE = array("i")
