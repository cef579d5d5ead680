"""Lays the operations of a GOAL schedule on streams so that as few waits as possible have to be written down.

An operation goes on a stream where all that its ranks do there before it is something that they wait for anyway.
(For graphs of other kinds `graphs/graph_trace.py` does the same; here there may be millions.)
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable

from netsim.traces.goal.nodes import Nodes
from netsim.traces.goal.rank import COMPUTE, PS_PER_UNIT
from netsim.traces.goal.waits import Ints, Needs
from netsim.traces.trace import DEFAULT_STREAM, Operation, changed


def laid_out(nodes: Nodes, needs: Needs, order: Ints, *, has_lines: bool) -> tuple[Operation, ...]:
    """The operations in an order in which each comes after those it waits for."""
    streams, made = _Streams(needs, order), _Made(has_lines=has_lines)
    at, receives = needs.nodes[order], needs.receives[order]
    columns = (each[at].tolist() for each in (nodes.kinds, nodes.ranks, nodes.peers, nodes.sizes, nodes.places))
    listed = zip(order.tolist(), at.tolist(), receives.tolist(), *columns, strict=True)
    return tuple(
        made.operation(
            (rank,) if kind == COMPUTE else (rank, peer), size, place, *streams.put(number, node, receive, rank, peer)
        )
        for number, node, receive, kind, rank, peer, size, place in listed
    )


class _Made:
    """Makes operations; those between the same ranks share what is the same."""

    def __init__(self, *, has_lines: bool) -> None:
        self._has_lines = has_lines
        self._like: dict[tuple[int, ...], Operation] = {}
        self._names = [DEFAULT_STREAM]

    def operation(self, ranks: tuple[int, ...], size: int, place: int, stream: int, after: tuple[int, ...]) -> Operation:
        """A computation of one rank, or a send between two."""
        like = self._like.get(ranks)
        if like is None:
            ends = {"src": ranks[0], "dst": ranks[1]} if len(ranks) == 2 else {}
            like = self._like[ranks] = Operation("send" if ends else "compute", None, ranks, **ends)
        while stream >= len(self._names):
            self._names.append(f"stream{len(self._names)}")
        line, name = place if self._has_lines else 0, self._names[stream]
        if len(ranks) == 1:
            return changed(like, duration_ps=size * PS_PER_UNIT, line=line, stream=name, after=after)
        return changed(like, bytes=size, line=line, stream=name, after=after)


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
        needs = {rank: needed} if peer < 0 else {rank: needed, peer: self.needs.of(receive) if receive >= 0 else ()}
        stream = self._chosen(number, needs)
        self.stream[number], self.place[number] = stream, self.next
        self.next += 1
        for each in needs:
            self.last[each, stream] = number
        of, place = self.stream, self.place
        after = sorted(place[each] for each in needed if each != number and of[each] != stream) if needed else ()
        return stream, tuple(after)

    def _chosen(self, number: int, needs: dict[int, Iterable[int]]) -> int:
        of, place = self.stream, self.place
        near = {each for own in needs.values() for each in own if of[each] >= 0}
        nearest = sorted(near, key=place.__getitem__, reverse=True) if len(near) > 1 else near
        for stream in dict.fromkeys([*(of[each] for each in nearest), 0]):
            for rank, own in needs.items():
                last = self.last.get((rank, stream))
                if last is not None and last not in own:
                    break
            else:
                return stream
        self.count += 1
        return self.count - 1
