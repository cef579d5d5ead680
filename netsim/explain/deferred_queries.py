"""What links carried, where there is too much to keep: questions are noted, and answered in the next run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from netsim.core.state.world import World
from netsim.explain.line import Lines
from netsim.explain.trace_columns import Column
from netsim.explain.trace_filter import NO_SEQUENCE, add_waits, count_bytes, count_marks, find_senders
from netsim.explain.traffic import Traffic

MOST_CELLS = 1 << 27  # of the tables that answer questions in one run; 4 or 8 bytes each
MARKED = 4096  # packets under way whose marks are remembered, of each connection; a power of two

Question = tuple[int, ...]


class Asked(Traffic):
    """Answers what is known by now; else notes the question in `answers.open`, and says that there was nothing."""

    def __init__(self, lines: Lines, answers: Answers) -> None:
        super().__init__(lines)
        self.answers = answers

    def bytes_sent(self, link: int, start_ps: int, end_ps: int) -> int:
        """For times that are sums of those that bytes were counted in."""
        return self.answers.bytes.of(link, start_ps, end_ps)

    def senders(self, link: int, start_ps: int, end_ps: int) -> tuple[Column, Column]:
        """A question per link and time."""
        nobody = np.zeros(0, "i8"), np.zeros(0, "i8")
        found: tuple[Column, Column] = self.answers.of("senders", (link, start_ps, end_ps), nobody)
        return found

    def waiting(self, egress: int, link: int, start_ps: int, end_ps: int) -> int:
        """A question per link, link before it and time."""
        return int(self.answers.of("waits", (egress, start_ps, end_ps, link), 0))

    def slowed(self, connection: int, start_ps: int, end_ps: int) -> tuple[Column, Column, Column]:
        """A question per connection; all losses are there."""
        nothing = np.zeros(1, "i8")
        marks, waits = self.answers.of("marks", (connection, start_ps, end_ps), (nothing, nothing))
        return marks, self._counted(self.losses(connection), start_ps, end_ps), waits


class SentBytes:
    """The bytes of data that each link began to send between some moments, ps."""

    def __init__(self, bounds: list[int], links: int) -> None:
        self.bounds = np.unique(np.array(bounds, "i8"))
        self.sent = np.zeros((len(self.bounds), links), "i8")

    def read(self, world: World, packet_trace: Column) -> None:
        """Rows of the packet trace, i8[n, 4]."""
        count_bytes(packet_trace, self.bounds, self.sent)

    def of(self, link: int, start_ps: int, end_ps: int) -> int:
        """From one of the moments to another, excluded."""
        first, last = np.searchsorted(self.bounds, [start_ps, end_ps])
        return int(self.sent[first:last, link].sum())


class Answers:
    """Questions by kind, with their answers."""

    def __init__(self, counted: SentBytes) -> None:
        self.bytes = counted
        self.known: dict[tuple[str, Question], Any] = {}
        self.open: set[tuple[str, Question]] = set()

    def of(self, kind: str, question: Question, nothing: Any) -> Any:
        """The answer, or `nothing` until there is one."""
        if (kind, question) not in self.known:
            self.open.add((kind, question))
            return nothing
        return self.known[kind, question]

    def begin(self, world: World) -> QueryRound:
        """Ready to answer what is open, as much as there is room for."""
        crossings = Crossings(world)
        room, chosen = MOST_CELLS, list[tuple[str, Question]]()
        for kind, question in sorted(self.open):
            room -= _cells(kind, crossings.width[question[0]] if kind == "senders" else len(world.links))
            if room >= 0 or not chosen:
                chosen.append((kind, question))
        return QueryRound(world, crossings, chosen)

    def take(self, found: QueryRound) -> None:
        """What a round has found."""
        self.known |= found.answers()
        self.open = set()


def _cells(kind: str, width: int) -> int:
    """How much room a question takes."""
    return {"senders": width, "waits": 1, "marks": 4 * width + 2 * MARKED}[kind]


class Crossings:
    """Which connections may cross which link: those with routes over it, or all where switches choose per packet.

    `width` per link is their number; links and places as in sieve.find_senders.
    """

    def __init__(self, world: World) -> None:
        row, ports = world.settings[0], len(world.links)
        count, self.stride = len(world.connections), int(row["stride"])
        connection, hop = np.divmod(np.arange(count * self.stride), self.stride)
        if row["per_packet_routing"]:
            self.links, self.places = np.full(count * self.stride, -1), connection
            self.width, self._connections = np.full(ports, count), None
            return
        self.links = np.where(hop < world.connections["length"][connection], world.hops[: len(hop)].astype("i8"), ports)
        order = np.argsort(self.links, kind="stable")
        self._first = np.searchsorted(self.links[order], np.arange(ports + 1))
        self.width = np.diff(self._first)
        self.places = np.zeros(len(order), "i8")
        self.places[order] = np.arange(len(order)) - np.append(self._first, 0)[self.links[order]]
        self._connections = connection[order]

    def of(self, link: int) -> Column:
        """The connections at a link in order of their places."""
        if self._connections is None:
            return np.arange(self.width[link])
        return self._connections[self._first[link] : self._first[link + 1]]


class QueryRound:
    """Questions that are answered in one run, sorted by what they begin with: a link or a connection."""

    def __init__(self, world: World, crossings: Crossings, chosen: list[tuple[str, Question]]) -> None:
        ports, connections = len(world.links), len(world.connections)
        self._asked = {kind: [each for of, each in chosen if of == kind] for kind in ("senders", "waits", "marks")}
        senders, waits, marks = self._asked.values()
        self._crossings = crossings
        self._cells = np.concatenate([[0], np.cumsum([crossings.width[each[0]] for each in senders])]).astype("i8")
        self._seen = np.full(self._cells[-1], NO_SEQUENCE, "u4")
        self._waits = np.zeros(len(waits), "i8")
        self._marks, self._slow = np.zeros((2, len(marks), ports), "i8")
        self._known = np.zeros((len(marks), MARKED), "i8")
        self._senders, self._waiting = _sorted(senders, ports), _sorted(waits, ports)
        self._marking = _sorted(marks, connections)
        self._came_by = np.array([each[3] for each in waits], "i8")

    def read(self, world: World, packet_trace: Column) -> None:
        """Rows of the packet trace, i8[n, 4]."""
        row, crossings = world.settings[0], self._crossings
        if self._asked["senders"]:
            where = crossings.links, crossings.places, crossings.stride, self._cells
            find_senders(packet_trace, *self._senders, *where, self._seen)
        if self._asked["waits"]:
            first, *times = self._waiting
            route = world.hops, int(row["stride"]), bool(row["per_packet_routing"])
            add_waits(packet_trace, first, self._came_by, *times, *route, self._waits)
        if self._asked["marks"]:
            count_marks(packet_trace, *self._marking, self._known, self._marks, self._slow)

    def answers(self) -> dict[tuple[str, Question], Any]:
        """What was found, by kind and question."""
        give: dict[str, Callable[[int], Any]] = {
            "senders": self._found_senders,
            "waits": lambda q: int(self._waits[q]),
            "marks": lambda q: (self._marks[q].copy(), self._slow[q].copy()),
        }
        return {(kind, each): give[kind](q) for kind, asked in self._asked.items() for q, each in enumerate(asked)}

    def _found_senders(self, q: int) -> tuple[Column, Column]:
        seen = self._seen[self._cells[q] : self._cells[q + 1]]
        there = np.flatnonzero(seen != NO_SEQUENCE)
        connections = self._crossings.of(self._asked["senders"][q][0])[there]
        return connections, seen[there].astype("i8")


def _sorted(asked: list[Question], count: int) -> tuple[Column, Column, Column]:
    """Where the questions about each begin, and their times."""
    table = np.array([each[:3] for each in asked], "i8").reshape(-1, 3)
    return np.searchsorted(table[:, 0], np.arange(count + 1)), table[:, 1].copy(), table[:, 2].copy()
