"""From a trace to the graphs of its ranks: the other way round, for writing Chakra and GOAL."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from netsim.errors import InputError
from netsim.traces.graphs.graph import Graph, Node, Part
from netsim.traces.topological_order import topological_order_of
from netsim.traces.trace import Operation, Trace, Turn

CONVERT = "let `netsim convert` turn collectives into flows"
MANY = 8  # nodes of one operation at a rank, above which what comes next waits for a node that waits for all of them


@dataclass(frozen=True, slots=True)
class Flow:
    """A transfer of an operation: its number there, who to whom, and the flows of the operation it waits for.

    Of each of those it says whether it arrives at this one's source, or starts there. `part` is None for a send.
    """

    number: int
    source: int
    target: int
    bytes: int
    after: tuple[tuple[int, bool], ...] = ()
    part: Part | None = None


def flows_of(operation: Operation) -> Iterator[Flow]:
    """The transfers that an operation is made of, where it is not a collective that others know by name."""
    if operation.op == "send":
        yield Flow(0, operation.src, operation.dst, operation.bytes)
    for number, (source, target, size) in enumerate(operation.flows):
        turn = operation.turns[number] if operation.turns else Turn()
        after = tuple((each, operation.flows[each][1] == source) for each in turn.after)
        yield Flow(number, source, target, size, after, Part(number, turn.start_ps, turn.channel))


def graphs_of(trace: Trace, has: Collection[str], program: str, hint: str = CONVERT) -> Graph:
    """The nodes of all ranks, for a program that `has` some operations; InputError for an operation of another kind."""
    for operation in trace.operations:
        if operation.op not in has:
            raise InputError(f"{program} has no {operation.op}", where=trace.source or trace.name, hint=hint)
    return Unraveller(trace).graphs()


class Unraveller:
    """Walks through a trace and gives each rank its nodes; each transfer has a tag of its own.

    Receives wait for nothing: a rank is ready for what comes, and sends only when it has come to it.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.graph: Graph = {rank: [] for rank in range(trace.ranks)}
        self._tails: dict[tuple[int, str], list[int]] = {}  # the last nodes of a rank on a stream
        self._ends: dict[tuple[int, int], list[int]] = {}  # the last nodes of a rank in an operation that is awaited
        self._awaited = {number for operation in trace.operations for number in operation.after}
        self._tags = 0

    def graphs(self) -> Graph:
        """The nodes of all ranks."""
        for number, operation in enumerate(self.trace.operations):
            if operation.op in ("send", "flows"):
                self._transfers(number, operation)
            else:
                for rank in operation.ranks:
                    kind = "compute" if operation.op == "compute" else "call"
                    node = self._add(rank, Node(kind, 0, self._before(rank, operation), request=operation, turn=number))
                    self._close(rank, number, operation, [node])
        return self.graph

    def _add(self, rank: int, node: Node) -> int:
        self.graph[rank].append(node)
        return len(self.graph[rank]) - 1

    def _before(self, rank: int, operation: Operation) -> list[int]:
        """What the rank's part of an operation waits for; the receiver of a send waits for no other stream."""
        before = list(self._tails.get((rank, operation.stream), ()))
        if operation.op != "send" or rank == operation.src:
            for awaited in operation.after:
                before += self._ends.get((rank, awaited), ())
        return list(dict.fromkeys([*before, *self._delay(rank, operation.start_ps)]))

    def _delay(self, rank: int, start_ps: int) -> list[int]:
        """A node that ends when something may start, and waits for nothing; none where it may start at once."""
        if not start_ps:
            return []
        request = Operation("compute", None, (rank,), duration_ps=start_ps)
        return [self._add(rank, Node("delay", 0, request=request))]

    def _close(self, rank: int, number: int, operation: Operation, nodes: list[int]) -> None:
        if len(nodes) > MANY:
            nodes = [self._add(rank, Node("nothing", 0, nodes))]
        self._tails[rank, operation.stream] = nodes
        if number in self._awaited:
            self._ends[rank, number] = nodes

    def _transfers(self, number: int, operation: Operation) -> None:
        before = {rank: self._entered(rank, operation) for rank in operation.ranks}
        done = _Done()
        flows = list(flows_of(operation))
        for flow in _in_turn(flows):
            start_ps = flow.part.start_ps if flow.part else 0
            own = [*before[flow.source], *self._delay(flow.source, start_ps), *done.awaited(flow)]
            send = Node("send", 0, own, [], flow.target, flow.bytes, self._tags, operation, number, flow.part)
            receive = Node("receive", 0, [], [], flow.source, flow.bytes, self._tags, operation, number, flow.part)
            done.add(flow, self._add(flow.source, send), self._add(flow.target, receive))
            self._tags += 1
        sources = {flow.source for flow in flows}
        for rank in operation.ranks:
            # What comes next at a rank that sends nothing must still wait for what came before.
            earlier = [] if rank in sources else before[rank]
            self._close(rank, number, operation, list(dict.fromkeys([*done.last[rank], *earlier])))

    def _entered(self, rank: int, operation: Operation) -> list[int]:
        """What all flows of a rank wait for, as one node where they would be many."""
        before = self._before(rank, operation)
        return [self._add(rank, Node("nothing", 0, before))] if len(before) > MANY else before


class _Done:
    """The nodes of an operation's flows so far; `last` are those of each rank that nothing later at it waits for."""

    def __init__(self) -> None:
        self.last: dict[int, dict[int, None]] = defaultdict(dict)
        self._sent: dict[int, int] = {}  # by flow: its node at the source
        self._received: dict[int, int] = {}
        self._ahead: dict[tuple[int, int, int], int] = {}  # by source, target and channel: the flow that went last

    def awaited(self, flow: Flow) -> list[int]:
        """The nodes at a flow's source that it waits for: receives, or sends of its own."""
        nodes = [self._received.get(each, -1) if arrives else self._sent.get(each, -1) for each, arrives in flow.after]
        for node in nodes:
            self.last[flow.source].pop(node, None)
        return nodes

    def add(self, flow: Flow, sent: int, received: int) -> None:
        """Take in a flow; the one ahead of it on its queue pair need not be waited for any more."""
        connection = flow.source, flow.target, flow.part.channel if flow.part else 0
        ahead = self._ahead.get(connection)
        if ahead is not None:
            self.last[flow.source].pop(self._sent[ahead], None)
            self.last[flow.target].pop(self._received[ahead], None)
        self._ahead[connection] = flow.number
        self._sent[flow.number], self._received[flow.number] = sent, received
        self.last[flow.source][sent] = None
        self.last[flow.target][received] = None


def _in_turn(flows: list[Flow]) -> list[Flow]:
    """Each flow after those that it waits for."""
    waits = [[awaited for awaited, _ in flow.after] for flow in flows]
    cycle = InputError("flows wait for each other in a cycle", hint="take out one of their `after`")
    return [flows[number] for number in topological_order_of(waits, lambda *_: cycle)]
