"""Which operations of a GOAL schedule wait for which: through receives and nodes that do nothing, what those wait for.

A receive is ready from the start: what it waits for, whatever comes after it waits for.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass

import numpy as np

from netsim.traces.goal.nodes import Nodes
from netsim.traces.goal.rank import COMPUTE, RECEIVE, SEND, Goal
from netsim.traces.limits import MAX_CELLS
from netsim.traces.topological_order import Ints


@dataclass(frozen=True, slots=True)
class Needs:
    """Operations by number: `nodes` are their sends and computations, `receives` the receives they meet (-1: none).

    Node n needs the operations `data[begin[n] : end[n]]`.
    """

    nodes: Ints
    receives: Ints
    begin: array[int]
    end: array[int]
    data: array[int]

    def of(self, node: int) -> array[int]:
        """The operations that a node needs."""
        return self.data[self.begin[node] : self.end[node]]

    def waits(self, *, with_self: bool) -> tuple[Ints, Ints]:
        """Who waits for whom: the numbers of both operations."""
        begin, end = (np.frombuffer(each, dtype=np.int64)[self.nodes] for each in (self.begin, self.end))
        counts = end - begin
        waiters = np.repeat(np.arange(len(self.nodes), dtype=np.int32), counts)
        offsets = np.arange(len(waiters)) - np.repeat(np.cumsum(counts) - counts, counts)
        data = np.frombuffer(self.data, dtype=np.int32) if self.data else np.zeros(0, dtype=np.int32)
        awaited = data[np.repeat(begin, counts) + offsets]
        kept = slice(None) if with_self else awaited != waiters
        return waiters[kept], awaited[kept]


def needs_of(nodes: Nodes, order: Ints, senders: Ints, goal: Goal) -> Needs:
    """Number the operations, by where their first node stands at its rank, and find what every node needs."""
    firsts = np.flatnonzero((nodes.kinds == SEND) | (nodes.kinds == COMPUTE))
    firsts = firsts[np.lexsort((nodes.ranks[firsts], firsts - nodes.first[nodes.ranks[firsts]]))]
    operation = np.full(len(nodes.kinds), -1, dtype=np.int32)
    operation[firsts] = np.arange(len(firsts))
    met = np.flatnonzero(senders >= 0)
    operation[met] = operation[senders[met]]
    receives = np.full(len(firsts), -1, dtype=np.int32)
    receives[operation[met]] = met
    return Needs(firsts, receives, *_walked(nodes, order, operation, goal))


def _walked(nodes: Nodes, order: Ints, operations: Ints, goal: Goal) -> tuple[array[int], array[int], array[int]]:
    begin, end = (array("q", bytes(8 * len(order))) for _ in range(2))
    data = array("i")
    starts, awaited = array("q", nodes.starts.astype(np.int64).tobytes()), array("i", nodes.awaited.tobytes())
    operation, started = array("i", operations.tobytes()), nodes.started.tobytes()
    through = ((operations < 0) | (nodes.kinds == RECEIVE)).tobytes()  # what it needs, those after it need
    for node in array("q", order.astype(np.int64).tobytes()):
        begin[node] = len(data)
        at, stop = starts[node], starts[node + 1]
        if stop - at == 1 and not (started[at] or through[awaited[at]]):
            data.append(operation[awaited[at]])
        elif stop > at:
            own = set[int]()
            for edge in range(at, stop):
                other = awaited[edge]
                if started[edge] or through[other]:
                    own.update(data[begin[other] : end[other]])
                if operation[other] >= 0 and not started[edge]:
                    own.add(operation[other])
            data.extend(own)
            if len(data) > MAX_CELLS:
                what = f"the nodes wait for more than {MAX_CELLS:,} others in all"
                raise goal.wrong(int(nodes.places[node]), what, "cut the job into parts")
        end[node] = len(data)
    return begin, end, data
