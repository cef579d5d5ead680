"""A GOAL schedule while it is read: the nodes of each rank in columns, and who waits for whom among them."""

from array import array
from pathlib import Path

import numpy as np

from netsim.errors import InputError, nearest
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
        self._rank = self._first = 0
        self._forget_labels()

    def forget(self) -> None:
        """Begin with no nodes."""
        self.kinds, self.sizes, self.peers = array("b"), array("q"), array("i")
        self.tags, self.places = array("q"), array("q")
        self.waiters, self.awaited, self.started = array("i"), array("i"), array("b")

    def _forget_labels(self) -> None:
        self._labels: dict[str, int] = {}  # of this rank: their numbers
        self._labelled = array("i")  # by label: its node of the rank, -1 where there is none yet
        self._twice: tuple[str, int] | None = None  # the first label that stands there again, and where
        self._waits = array("q")  # waiter, awaited, place and started, of each

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

    def add(self, word: str, size: int, place: int, *, label: str = "", peer: int = ANY, tag: int = 0) -> None:
        """A send, recv or calc of the rank."""
        if len(self.kinds) >= MAX_STATEMENTS:
            raise self.wrong(place, f"there are more than {MAX_STATEMENTS:,} statements", "cut the job into parts")
        if size > (MAX_UNITS if word == "calc" else MAX_BYTES) or tag > MAX_TAG:
            raise self.wrong(place, f"{word} {size:,} is too much", "is the file damaged?")
        if word != "calc" and (peer >= self.ranks or peer == self._rank):
            what = f"rank {self._rank} cannot {word} {'to' if word == 'send' else 'from'} rank {peer:,}"
            raise self.wrong(place, what, f"name another rank from 0 to {self.ranks - 1:,}")
        if label:
            number = self._number(label)
            if self._labelled[number] >= 0:
                self._twice = self._twice or (label, place)
            self._labelled[number] = len(self.kinds) - self._first
        self.kinds.append(KINDS[word] if size or word != "calc" else NOTHING)
        self.sizes.append(size)
        self.peers.append(peer)
        self.tags.append(tag)
        self.places.append(place)

    def _number(self, label: str) -> int:
        number = self._labels.setdefault(label, len(self._labelled))
        if number == len(self._labelled):
            self._labelled.append(-1)
        return number

    def wait(self, waiter: str, awaited: str, place: int, *, started: bool) -> None:
        """A `requires` or `irequires` between two labels of the rank, which may still come."""
        self._waits.extend((self._number(waiter), self._number(awaited), place, started))
        self._count(len(self.waiters) + len(self._waits) // 4, place)

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
        if self._twice:
            label, place = self._twice
            raise self.wrong(place, f"the label {label[:60]!r} stands there twice", HOW)
        waits, nodes = np.array(self._waits).reshape(-1, 4), np.array(self._labelled)
        ends = nodes[waits[:, :2]]
        for wait, side in np.argwhere(ends < 0)[:1]:
            labels, named = list(self._labels), np.argsort(nodes)[np.count_nonzero(nodes < 0) :][:100]
            label, known = labels[waits[wait, side]], [labels[number] for number in named]
            hint = nearest(label[:MAX_NAME], known) if known else HOW
            raise self.wrong(int(waits[wait, 2]), f"rank {rank} has no label {label[:60]!r}", hint)
        self.waiters.frombytes((ends[:, 0] + self._first).astype(np.int32).tobytes())
        self.awaited.frombytes((ends[:, 1] + self._first).astype(np.int32).tobytes())
        self.started.frombytes(waits[:, 3].astype(np.int8).tobytes())
        self._forget_labels()

    def check(self) -> None:
        """Refuse a schedule in which nobody does anything."""
        if not self.kinds:
            raise InputError("no rank does anything", where=str(self.path), hint="was the file cut? copy it again")
