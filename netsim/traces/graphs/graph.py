"""What ranks do as graphs: each rank has nodes that wait for others of its own, and sends and receives meet.

Chakra and GOAL describe jobs so. `join` makes operations of the nodes: a send and its receive are one, the calls of
all members of a group are one.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from netsim.errors import InputError
from netsim.traces.limits import MAX_CELLS
from netsim.traces.topological_order import Stuck, topological_order_of
from netsim.traces.trace import Operation

ANY = -1  # as the peer or tag of a receive

Key = tuple[int, int]  # a rank and the number of a node there


class Part(NamedTuple):
    """A flow of an operation: its number there, and what its Turn says besides whom it waits for."""

    number: int
    start_ps: int = 0
    channel: int = 0


@dataclass(slots=True)
class Node:
    """One thing a rank does: "send", "receive", "compute", "call" (its part of a collective) or "nothing".

    `after` are the nodes of the same rank that must be finished first, `started` those that must have started.
    `request` is the operation that a call, a compute or a send stands for. Where the file tells the number of that
    operation in the trace it was made from, that is `turn`; `part` says which flow of it a send is, if of several.
    `place` is the line or number by which a person finds the node.
    """

    kind: str
    place: int
    after: list[int] = field(default_factory=list)
    started: list[int] = field(default_factory=list)
    peer: int = ANY
    bytes: int = 0
    tag: int = 0
    request: Operation | None = None
    turn: int | None = None
    part: Part | None = None


Graph = dict[int, list[Node]]  # by rank
Wrong = Callable[[int, Node, str, str], InputError]  # (rank, node, what, mend)


@dataclass(slots=True)
class Joined:
    """The nodes of all ranks that are one operation."""

    nodes: list[Key]
    request: Operation

    @property
    def is_send(self) -> bool:
        """A send and its receive; the first node is the send."""
        return self.request.op == "send"


class Joiner:
    """Finds which nodes of different ranks belong together; counts what it had to assume or leave out in `notes`."""

    def __init__(self, graph: Graph, wrong: Wrong) -> None:
        self.graph, self._wrong = graph, wrong
        self.notes: Counter[str] = Counter()
        self.joined: list[Joined] = []
        self.of_node: dict[Key, int] = {}
        self.needs: dict[Key, tuple[int, ...]] = {}  # of a node: the operations that it waits for

    def join(self) -> None:
        """Fill `joined` and `of_node`; a cycle among the nodes of a rank is an InputError."""
        sends = Sends()
        receives: list[Key] = []
        calls: dict[Hashable, dict[int, list[Key]]] = {}
        for rank, number in self._in_order():
            node = self.graph[rank][number]
            if node.kind == "send":
                sends.add((rank, number), node)
            elif node.kind == "receive":
                receives.append((rank, number))
            elif node.kind != "nothing":
                assert node.request is not None
                if node.request.op == "compute" and node.turn is None:
                    self.joined.append(Joined([(rank, number)], node.request))
                    continue
                key = node.request.ranks if node.turn is None else node.turn
                calls.setdefault(key, {}).setdefault(rank, []).append((rank, number))
        for parts in calls.values():
            self._calls(parts)
        self._transfers(sends, receives)
        self._number()

    def _in_order(self) -> Iterator[Key]:
        for rank in sorted(self.graph):
            nodes = self.graph[rank]
            for number in topological_order_of([[*node.after, *node.started] for node in nodes], self._cycle(rank)):
                yield rank, number

    def _cycle(self, rank: int) -> Stuck:
        hint = "take out one of the dependencies between them"
        return lambda number, _: self._wrong(rank, self.graph[rank][number], "waits for itself by way of others", hint)

    def _calls(self, parts: dict[int, list[Key]]) -> None:
        """Join the k-th calls of all ranks; what the first of them says holds where they do not agree."""
        for turn in range(max(map(len, parts.values()))):
            keys = [listed[turn] for listed in parts.values() if turn < len(listed)]
            requests = [self.graph[rank][number].request for rank, number in keys]
            (common, _), *others = Counter(requests).most_common()
            assert common is not None
            if others and common.op != "compute":
                self.notes["operations that ranks report differently: what most of them say holds"] += 1
            if len(keys) < len(parts):
                self.notes["operations that not all ranks report, which still take part"] += 1
            self.joined.append(Joined(keys, common))

    def _transfers(self, sends: Sends, receives: list[Key]) -> None:
        for exact in (True, False):  # those that name their source and tag take theirs first
            for rank, number in receives:
                node = self.graph[rank][number]
                if exact != (node.peer != ANY and node.tag != ANY):
                    continue
                sent = sends.take(rank, node)
                if sent is not None:
                    self.notes["receives take from any source or tag: the first send that fits"] += not exact
                    self._transfer(sent, (rank, number))
                else:
                    self.notes["receives that nobody sends to, left out"] += 1
        for sent in sends.left():
            self.notes["sends that nobody receives, kept"] += 1
            self._transfer(sent, None)

    def _transfer(self, sent: Key, received: Key | None) -> None:
        node = self.graph[sent[0]][sent[1]]
        assert node.request is not None
        if received and self.graph[received[0]][received[1]].bytes != node.bytes:
            self.notes["transfers of which sender and receiver give different sizes: the sender's holds"] += 1
        self.joined.append(Joined([sent, *([received] if received else [])], node.request))

    def _number(self) -> None:
        """Number the operations by the file's own numbers, else by where their first node stands at its rank."""

        def turn(joined: Joined) -> tuple[int, int, int]:
            rank, number = joined.nodes[0]
            node = self.graph[rank][number]
            return number if node.turn is None else node.turn, node.part.number if node.part else number, rank

        self.joined.sort(key=turn)
        self.of_node = {key: number for number, joined in enumerate(self.joined) for key in joined.nodes}

    # --- who waits for whom ------------------------------------------------------------------------------------------

    def waits(self) -> list[list[int]]:
        """For each operation those that it waits for, by the graphs of its ranks; and fill `needs`.

        A receive is ready from the start: what it waits for, whatever comes after it waits for.
        """
        needs = self.needs
        listed: list[dict[int, None]] = [{} for _ in self.joined]
        cells = 0
        for rank, number in self._in_order():
            node = self.graph[rank][number]
            own = self._needed(rank, node, needs)
            needs[rank, number] = own
            cells += len(own)
            if cells > MAX_CELLS:
                what = f"the nodes wait for more than {MAX_CELLS:,} others in all"
                raise self._wrong(rank, node, what, "cut the job into parts")
            if node.kind not in ("receive", "nothing"):
                listed[self.of_node[rank, number]].update(dict.fromkeys(own))
        return [list(each) for each in listed]

    def _needed(self, rank: int, node: Node, needs: dict[Key, tuple[int, ...]]) -> tuple[int, ...]:
        """The operations that a node waits for; through nodes that are no operation, what those wait for."""
        own: dict[int, None] = {}
        for number in node.after:
            other = self.graph[rank][number]
            joined = self.of_node.get((rank, number))
            if joined is None or other.kind == "receive":
                own.update(dict.fromkeys(needs[rank, number]))
            if joined is not None:
                own[joined] = None
        for number in node.started:
            own.update(dict.fromkeys(needs[rank, number]))
        return tuple(own)


class Sends:
    """The sends that no receive has taken yet, by source, target and tag."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[int, int, int], deque[Key]] = defaultdict(deque)
        self._to: dict[int, set[tuple[int, int]]] = defaultdict(set)  # by target: sources and tags

    def add(self, key: Key, node: Node) -> None:
        self._waiting[key[0], node.peer, node.tag].append(key)
        self._to[node.peer].add((key[0], node.tag))

    def take(self, target: int, node: Node) -> Key | None:
        """Take the first send that a receive fits; of several sources the lowest."""
        if node.peer != ANY and node.tag != ANY:
            fitting = [(node.peer, node.tag)]
        else:
            fitting = sorted(e for e in self._to[target] if node.peer in (ANY, e[0]) and node.tag in (ANY, e[1]))
        for source, tag in fitting:
            waiting = self._waiting.get((source, target, tag))
            if waiting:
                taken = waiting.popleft()
                if not waiting:
                    self._to[target].discard((source, tag))
                return taken
        return None

    def left(self) -> Iterator[Key]:
        for waiting in self._waiting.values():
            yield from waiting
