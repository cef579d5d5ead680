"""A GOAL schedule while it is read: the nodes of each rank in columns, and who waits for whom among them."""

from array import array
from pathlib import Path

import numpy as np

from netsim.errors import InputError, nearest
from netsim.traces.goal.labels import UNNAMED, Labels
from netsim.traces.graphs.graph import ANY
from netsim.traces.limits import MAX_BYTES, MAX_CELLS, MAX_NAME, MAX_RANKS, MAX_STATEMENTS

PS_PER_UNIT = 1000  # a calc counts nanoseconds, as ATLAHS's do
MAX_UNITS = 10**15  # of a calc: eleven days
MAX_TAG = 1 << 62
NOTHING, COMPUTE, SEND, RECEIVE = range(4)
KINDS = {"send": SEND, "recv": RECEIVE, "calc": COMPUTE}
HOW = "labels are of one rank: l1: send ... and then l2 requires l1"


class Goal:
    """Takes the statements of a schedule one by one; every mistake names its line (or node of a rank).

    Of each node it keeps kind, bytes (of a calc its units), peer, tag and place, some 25 bytes in all; `begun` are
    the ranks and the number of the first node of each, in the order of the file.
    """

    def __init__(self, path: Path, ranks: int, what: str = "line") -> None:
        self.path, self.ranks, self._what = path, ranks, what
        if not 0 < ranks <= MAX_RANKS:
            raise self.wrong(1, f"num_ranks is {ranks:,}", f"give 1 to {MAX_RANKS:,}")
        self.forget()
        self.begun: dict[int, int] = {}
        self.labels = Labels()
        self._rank = self._first = 0

    def forget(self) -> None:
        """Begin with no nodes."""
        self.kinds, self.sizes, self.peers = array("b"), array("q"), array("i")
        self.tags, self.places = array("q"), array("q")
        self.waiters, self.awaited, self.started = array("i"), array("i"), array("b")

    @property
    def has_lines(self) -> bool:
        """Places are lines of the file."""
        return self._what == "line"

    def wrong(self, place: int, what: str, hint: str) -> InputError:
        """The error that names a place in the file."""
        where = f"{self.path}:{place}" if self.has_lines else f"{self.path}: {self._what} {place}"
        return InputError(what, where=where, hint=hint)

    def begin(self, rank: int, place: int) -> None:
        """A rank's statements follow."""
        if not 0 <= rank < self.ranks:
            raise self.wrong(place, f"rank {rank:,} is not below num_ranks", f"name ranks 0 to {self.ranks - 1:,}")
        if rank in self.begun:
            raise self.wrong(place, f"rank {rank:,} stands there twice", "keep one of them")
        self._rank, self._first = rank, len(self.kinds)
        self.begun[rank] = self._first
        self.labels = Labels()

    def add(self, word: str, size: int, place: int, *, label: int = UNNAMED, peer: int = ANY, tag: int = 0) -> None:
        """A send, recv or calc of the rank; `label` is the number of its label."""
        if len(self.kinds) >= MAX_STATEMENTS:
            raise self.wrong(place, f"there are more than {MAX_STATEMENTS:,} statements", "cut the job into parts")
        if size > (MAX_UNITS if word == "calc" else MAX_BYTES) or tag > MAX_TAG:
            raise self.wrong(place, f"{word} {size:,} is too much", "is the file damaged?")
        if word != "calc" and (peer >= self.ranks or peer == self._rank):
            what = f"rank {self._rank} cannot {word} {'to' if word == 'send' else 'from'} rank {peer:,}"
            raise self.wrong(place, what, f"name another rank from 0 to {self.ranks - 1:,}")
        self.kinds.append(KINDS[word] if size or word != "calc" else NOTHING)
        self.sizes.append(size)
        self.peers.append(peer)
        self.tags.append(tag)
        self.places.append(place)
        self.labels.ids.append(label)

    def wait(self, waiter: int, awaited: int, place: int, *, started: bool) -> None:
        """A `requires` or `irequires` between two labels of the rank, which may still come."""
        self.labels.waits.extend((waiter, awaited, place, started))
        self._count(len(self.waiters) + len(self.labels.waits) // 4, place)

    def link(self, waiter: int, awaited: int, *, started: bool) -> None:
        """The same between two nodes of the rank by their numbers."""
        self.waiters.append(self._first + waiter)
        self.awaited.append(self._first + awaited)
        self.started.append(started)
        self._count(len(self.waiters), waiter)

    def _count(self, waits: int, place: int) -> None:
        if waits > MAX_CELLS:
            raise self.wrong(place, f"there are more than {MAX_CELLS:,} dependencies", "cut the job into parts")

    def end(self, rank: int) -> None:
        """The rank is complete: its labels are all known."""
        twice = self.labels.twice()
        if twice is not None:
            label = self.labels.name(self.labels.ids[twice])
            raise self.wrong(self.places[self._first + twice], f"the label {label[:60]!r} stands there twice", HOW)
        unknown = self.labels.unknown()
        if unknown is not None:
            number, place = unknown
            label, known = self.labels.name(number), [self.labels.name(each) for each in self.labels.first(100)]
            hint = nearest(label[:MAX_NAME], known) if known else HOW
            raise self.wrong(place, f"rank {rank} has no label {label[:60]!r}", hint)
        waiters, awaited, started = self.labels.resolved()
        self.waiters.frombytes((waiters + self._first).astype(np.int32).tobytes())
        self.awaited.frombytes((awaited + self._first).astype(np.int32).tobytes())
        self.started.frombytes(started.astype(np.int8).tobytes())
        self.labels = Labels()

    def check(self) -> None:
        """Refuse a schedule in which nobody does anything."""
        if not self.kinds:
            raise InputError("no rank does anything", where=str(self.path), hint="was the file cut? copy it again")
