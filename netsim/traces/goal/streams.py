"""Lays the operations of a GOAL schedule on streams so that as few waits as possible have to be written down.

An operation goes on a stream where all that its ranks do there before it is something that they wait for anyway.
(For graphs of other kinds `graphs/graph_trace.py` does the same; here there may be millions.)
"""

from __future__ import annotations

from array import array

import numpy as np

from netsim.traces.goal.nodes import Nodes
from netsim.traces.goal.rank import PS_PER_UNIT
from netsim.traces.goal.waits import Needs
from netsim.traces.topological_order import Ints
from netsim.traces.trace import DEFAULT_STREAM, Operation, changed


def laid_out(nodes: Nodes, needs: Needs, order: Ints, *, has_lines: bool) -> tuple[Operation, ...]:
    """The operations in an order in which each comes after those it waits for."""
    streams, made = _Streams(needs, order), _Made(has_lines=has_lines)
    at, receives = needs.nodes[order], needs.receives[order]
    # Memory views make each number when it is asked for; lists would hold millions of them.
    columns = [_items(each[at]) for each in (nodes.ranks, nodes.peers, nodes.sizes, nodes.places)]
    listed = zip(_items(order), _items(at), _items(receives), *columns, strict=True)
    return tuple(
        made.operation(rank, peer, size, place, *streams.put(number, node, receive, rank, peer))
        for number, node, receive, rank, peer, size, place in listed
    )


def _items(column: Ints) -> memoryview[int]:
    return memoryview(np.ascontiguousarray(column))  # type: ignore[arg-type]


class _Made:
    """Makes operations; those between the same ranks share what is the same."""

    def __init__(self, *, has_lines: bool) -> None:
        self._has_lines = has_lines
        self._like: dict[tuple[int, int], Operation] = {}
        self._names = [DEFAULT_STREAM]

    def operation(self, rank: int, peer: int, size: int, place: int, stream: int, after: tuple[int, ...]) -> Operation:
        """A computation of a rank (whose peer is -1), or a send to one."""
        like = self._like.get((rank, peer)) or self._new(rank, peer)
        while stream >= len(self._names):
            self._names.append(f"stream{len(self._names)}")
        line, name = place if self._has_lines else 0, self._names[stream]
        if peer < 0:
            return changed(like, duration_ps=size * PS_PER_UNIT, line=line, stream=name, after=after)
        return changed(like, bytes=size, line=line, stream=name, after=after)

    def _new(self, rank: int, peer: int) -> Operation:
        made = Operation("compute", None, (rank,))
        if peer >= 0:
            made = Operation("send", None, (rank, peer), src=rank, dst=peer)
        self._like[rank, peer] = made
        return made


class _Streams:
    """Which stream each operation is on, and what each rank did last on each."""

    def __init__(self, needs: Needs, order: Ints) -> None:
        self.needs = needs
        self.place = array("i", bytes(4 * len(order)))
        self.stream = array("i", b"\xff" * 4 * len(order))  # -1: not put yet
        self.last: dict[tuple[int, int], int] = {}  # by rank and stream
        self.next, self.count = 0, 1

    def put(self, number: int, node: int, receive: int, rank: int, peer: int) -> tuple[int, tuple[int, ...]]:
        """Put an operation on a stream; gives that and whom it waits for on others."""
        needed = self.needs.of(node)
        needs = [(rank, needed)]
        if peer >= 0:
            needs.append((peer, self.needs.of(receive) if receive >= 0 else _NONE))
        stream, of, place = self._chosen(needs), self.stream, self.place
        of[number], place[number] = stream, self.next
        self.next += 1
        for each, _ in needs:
            self.last[each, stream] = number
        after = [place[each] for each in needed if of[each] != stream]
        return stream, tuple(sorted(after)) if after else ()

    def _chosen(self, needs: list[tuple[int, array[int]]]) -> int:
        of, lasts = self.stream, self.last
        near = [each for _, own in needs for each in own if of[each] >= 0]
        if len(near) > 1:
            near = sorted(set(near), key=self.place.__getitem__, reverse=True)
        streams = [of[each] for each in near]
        streams.append(0)
        for stream in streams if len(streams) < 3 else dict.fromkeys(streams):
            for rank, own in needs:
                last = lasts.get((rank, stream), -1)
                if last >= 0 and last not in own:
                    break
            else:
                return stream
        self.count += 1
        return self.count - 1


_NONE = array("i")
