"""A GOAL schedule while it is read: the nodes of each rank and the labels by which they wait for each other."""

from __future__ import annotations

from pathlib import Path

from netsim.errors import InputError, nearest
from netsim.traces.graphs.graph import ANY, Graph, Joiner, Node
from netsim.traces.graphs.graph_trace import operations
from netsim.traces.limits import MAX_BYTES, MAX_CELLS, MAX_NAME, MAX_OPERATIONS, MAX_RANKS
from netsim.traces.read_report import ReadReport
from netsim.traces.trace import Operation, Trace

PS_PER_UNIT = 1000  # a calc counts nanoseconds, as ATLAHS's do
MAX_UNITS = 10**15  # eleven days
KINDS = {"send": "send", "recv": "receive", "calc": "compute"}
UNIT = "calc counts nanoseconds"
CPUS = "computations of one rank may overlap, on one cpu too, unless they wait for each other"
HOW = "labels are of one rank: l1: send ... and then l2 requires l1"


class Goal:
    """Takes the statements of a schedule one by one; every mistake names its line (or node of a rank)."""

    def __init__(self, path: Path, ranks: int, what: str = "line") -> None:
        self.path, self.ranks, self._what = path, ranks, what
        if not 0 < ranks <= MAX_RANKS:
            raise self.wrong(1, f"num_ranks is {ranks:,}", f"give 1 to {MAX_RANKS:,}")
        self.graph: Graph = {rank: [] for rank in range(ranks)}
        self.nodes = self.waits = 0
        self._seen: set[int] = set()
        self._rank = 0
        self._labels: dict[str, int] = {}
        self._open: list[tuple[str, str, int, bool]] = []
        self.computes = False

    def wrong(self, place: int, what: str, mend: str) -> InputError:
        """The error that names a place in the file."""
        where = f"{self.path}:{place}" if self._what == "line" else f"{self.path}: {self._what} {place}"
        return InputError(what, where=where, mend=mend)

    def begin(self, rank: int, place: int) -> None:
        """A rank's statements follow."""
        if not 0 <= rank < self.ranks:
            raise self.wrong(place, f"rank {rank:,} is not below num_ranks", f"name ranks 0 to {self.ranks - 1:,}")
        if rank in self._seen:
            raise self.wrong(place, f"rank {rank:,} stands there twice", "keep one of them")
        self._seen.add(rank)
        self._rank, self._labels, self._open = rank, {}, []

    def add(self, word: str, size: int, place: int, *, label: str = "", peer: int = ANY, tag: int = 0) -> None:
        """A send, recv or calc of the rank."""
        self.nodes += 1
        if self.nodes > 2 * MAX_OPERATIONS:
            raise self.wrong(place, f"there are more than {2 * MAX_OPERATIONS:,} statements", "cut the job into parts")
        if size > (MAX_UNITS if word == "calc" else MAX_BYTES):
            raise self.wrong(place, f"{word} {size:,} is too much", "is the file damaged?")
        if word != "calc" and (peer >= self.ranks or peer == self._rank):
            what = f"rank {self._rank} cannot {word} {'to' if word == 'send' else 'from'} rank {peer:,}"
            raise self.wrong(place, what, f"name another rank from 0 to {self.ranks - 1:,}")
        if label and self._labels.setdefault(label, len(self.graph[self._rank])) < len(self.graph[self._rank]):
            raise self.wrong(place, f"the label {label[:60]!r} stands there twice", HOW)
        node = Node(KINDS[word], place, peer=peer, bytes=size, tag=tag)
        line = place if self._what == "line" else 0
        if word == "calc":
            node.kind = "compute" if size else "nothing"
            self.computes |= size > 0
            node.wish = Operation("compute", None, (self._rank,), duration_ps=size * PS_PER_UNIT, line=line)
        elif word == "send":
            node.wish = Operation("send", None, (self._rank, peer), size, src=self._rank, dst=peer, line=line)
        self.graph[self._rank].append(node)

    def wait(self, waiter: str, awaited: str, place: int, *, started: bool) -> None:
        """A `requires` or `irequires` between two labels of the rank, which may still come."""
        self._open.append((waiter, awaited, place, started))
        self._count(place)

    def link(self, waiter: int, awaited: int, *, started: bool) -> None:
        """The same between two nodes of the rank by their numbers."""
        node = self.graph[self._rank][waiter]
        (node.started if started else node.after).append(awaited)
        self._count(waiter)

    def _count(self, place: int) -> None:
        self.waits += 1
        if self.waits > MAX_CELLS:
            raise self.wrong(place, f"there are more than {MAX_CELLS:,} dependencies", "cut the job into parts")

    def end(self, rank: int) -> None:
        """The rank is complete: its labels are all known."""
        for waiter, awaited, place, started in self._open:
            for label in (waiter, awaited):
                if label not in self._labels:
                    known = nearest(label[:MAX_NAME], list(self._labels)[:100]) if self._labels else HOW
                    raise self.wrong(place, f"rank {rank} has no label {label[:60]!r}", known)
            node = self.graph[rank][self._labels[waiter]]
            (node.started if started else node.after).append(self._labels[awaited])

    def check(self) -> None:
        """Refuse a schedule in which nobody does anything."""
        if not self.nodes:
            raise InputError("no rank does anything", where=str(self.path), mend="was the file cut? copy it again")


def trace_of(goal: Goal) -> Trace:
    """The trace of a schedule: a matrix of flows where nothing is computed, else sends and computations."""
    joiner = Joiner(goal.graph, lambda rank, node, what, mend: goal.wrong(node.place, what, mend))
    joiner.join()
    made = operations(joiner, str(goal.path))
    assumed = (UNIT, CPUS) if goal.computes else ()
    told = tuple(f"{count:,} {what}" for what, count in joiner.notes.items() if count)
    report = ReadReport(
        lines=goal.nodes, records=len(joiner.of_node), seen=tuple(goal.graph), assumed=assumed, findings=told
    )
    name = goal.path.name.removesuffix(".gz")
    name = name.removesuffix(".goal").removesuffix(".bin") or goal.path.name
    return Trace(name, goal.ranks, {}, made, str(goal.path), (*assumed, *told), report)
