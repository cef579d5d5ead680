"""Calls of many ranks in columns: 28 bytes a call, where an object for each would take 400 and a microsecond.

`Calls` reads as a list of `Call`, made where one is asked for; what joins the ranks looks at its columns instead.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence, Sized
from functools import cached_property
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from netsim.traces.joining.reports import Call, Place

MAX_OP_COUNT = (1 << 63) - 1  # a number above it counts as this
Ints = NDArray[Any]  # whole numbers of any width


class CallRequest(NamedTuple):
    """What a call asks for, and the stream it is made on: all but where it stands."""

    op: str
    bytes: int
    dtype: str
    root: int
    stream: str


class CallTable:
    """Takes in calls in the order of their places; each has a kind, which is a request of an owner.

    `requests` holds the request of each kind, which may be changed until the first column is asked for.
    """

    def __init__(self) -> None:
        self.requests: list[CallRequest] = []
        self._kinds: dict[tuple[int, CallRequest], int] = {}
        self._owners: list[int] = []
        self._kind, self._file, self._batch = array("i"), array("i"), array("q")
        self._line, self._hint = array("q"), array("q")
        self.turns: dict[int, int] = {}  # of the few calls that are not the first on their line
        self.starts: dict[int, int] = {}  # ps, of those that tell one

    def __len__(self) -> int:
        return len(self._kind)

    def kind(self, owner: int, request: CallRequest) -> int:
        """The number of a kind."""
        number = self._kinds.setdefault((owner, request), len(self.requests))
        if number == len(self.requests):
            self.requests.append(request)
            self._owners.append(owner)
        return number

    def add(self, kind: int, place: Place, op_count: int, batch: int, start_ps: int | None) -> None:
        """Take in one call."""
        if place.turn:
            self.turns[len(self)] = place.turn
        if start_ps is not None:
            self.starts[len(self)] = start_ps
        self.extend(place.file, [kind], [place.line], [min(op_count, MAX_OP_COUNT)], [batch])

    def extend(self, file: int, kinds: list[int], lines: list[int], hints: list[int], batches: list[int]) -> None:
        """Take in calls of one file, each the first on its line, that tell no times."""
        self._kind.extend(kinds)
        self._file.extend(array("i", (file,)) * len(kinds))
        self._line.extend(lines)
        self._hint.extend(hints)
        self._batch.extend(batches)

    def multiply(self, calls: Calls, ops: Collection[str], by: int, most: int) -> Call | None:
        """Multiply the bytes of one owner's calls of some operations; gives the first call of more than `most`."""
        for kind in np.unique(_view(self._kind)[calls.rows]).tolist():
            request = self.requests[kind]
            self.requests[kind] = request._replace(bytes=request.bytes * (by if request.op in ops else 1))
        kinds = [kind for kind, request in enumerate(self.requests) if request.bytes > most]
        large = np.flatnonzero(np.isin(_view(self._kind)[calls.rows], kinds))
        return calls[int(large[0])] if large.size else None

    @cached_property
    def columns(self) -> dict[str, Ints]:
        """What is known of each call; none may be taken in after."""
        columns = {"kind": self._kind, "file": self._file, "line": self._line}
        return {name: _view(each) for name, each in (columns | {"op_count": self._hint, "batch": self._batch}).items()}

    @cached_property
    def what(self) -> Ints:
        """For each kind a number that is equal where all is that ranks have to agree on."""
        return _numbered([request[:4] for request in self.requests])

    def by_owner(self) -> dict[int, Calls]:
        """The calls of each owner, in their order."""
        if not len(self):
            return {}
        owners = np.array(self._owners)[_view(self._kind)]
        rows = np.argsort(owners, kind="stable")
        found, starts = np.unique(owners[rows], return_index=True)
        parts = np.split(rows, starts[1:])
        return {int(owner): Calls(self, part) for owner, part in zip(found, parts, strict=True)}


def _view(column: array[int]) -> Ints:
    return np.frombuffer(column, dtype=column.typecode) if column else np.zeros(0, np.int64)


def _numbered(things: Sequence[Hashable]) -> Ints:
    """Number things so that equal ones have equal numbers."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(each, len(numbers)) for each in things], dtype=np.int64)


class Calls(Sequence[Call]):
    """Some calls of a table, in order: the numbers of their rows."""

    def __init__(self, table: CallTable, rows: Ints) -> None:
        self.table, self.rows = table, rows

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, number: int) -> Call: ...
    @overload
    def __getitem__(self, number: slice) -> Calls: ...
    def __getitem__(self, number: int | slice) -> Call | Calls:
        if isinstance(number, slice):
            return Calls(self.table, self.rows[number])
        (call,) = Calls(self.table, self.rows[[number]])
        return call

    def __iter__(self) -> Iterator[Call]:
        table, listed = self.table, (each[self.rows].tolist() for each in self.table.columns.values())
        for row, kind, file, line, op_count, batch in zip(self.rows.tolist(), *listed, strict=True):
            place = Place(file, line, table.turns.get(row, 0))
            op, size, dtype, root, stream = table.requests[kind]
            yield Call(op, size, dtype, root, stream, place, op_count, batch, start_ps=table.starts.get(row))

    def taken(self, numbers: Sequence[int] | Ints) -> Calls:
        """Those at some places of the list."""
        return Calls(self.table, self.rows[np.asarray(numbers, dtype=np.int64)])

    def turns(self) -> Ints:
        """For each call its turn on its line."""
        turns = np.zeros(len(self), np.int64)
        for at, row in enumerate(self.rows.tolist() if self.table.turns else ()):
            turns[at] = self.table.turns.get(row, 0)
        return turns

    def what(self) -> Ints:
        """For each call a number that is equal where ranks agree on what they call."""
        return self.table.what[self.column("kind")]

    def column(self, name: str) -> Ints:
        """A column of the table, for these calls."""
        return self.table.columns[name][self.rows]


def of_kind(calls: Sequence[Call], *, transfers: bool) -> Sequence[Call]:
    """The sends and receives among calls, or the others."""
    if isinstance(calls, Calls):
        return Calls(calls.table, calls.rows[(calls.column("batch") >= 0) == transfers])
    return [call for call in calls if (call.batch >= 0) == transfers]


def wishes_of(calls: Sequence[Call]) -> Sequence[CallRequest | Call]:
    """What the calls ask for, of many alike calls in a table one."""
    if isinstance(calls, Calls):
        return [calls.table.requests[kind] for kind in np.unique(calls.column("kind")).tolist()]
    return calls


def places_of(calls: Sequence[Call]) -> Ints:
    """Where calls stand, as keys of `np.lexsort`: rows of turns, lines and files."""
    if isinstance(calls, Calls):
        return np.stack([calls.turns(), calls.column("line").astype(np.int64), calls.column("file").astype(np.int64)])
    return np.array([call.place[2::-1] for call in calls], np.int64).reshape(-1, 3).T


def op_counts_of(calls: Sequence[Call]) -> Ints:
    """The numbers that the source gives the calls."""
    if isinstance(calls, Calls):
        return calls.column("op_count")
    return np.array([call.op_count for call in calls], np.int64)


def calls_alike(calls: Mapping[int, Sequence[Call]]) -> dict[int, Ints]:
    """For each call of each rank a number that is equal where ranks call the same, or where ends of transfers fit."""
    listed = {rank: each for rank, each in calls.items() if isinstance(each, Calls)}
    if len(listed) == len(calls) and not any((each.column("batch") >= 0).any() for each in listed.values()):
        return {rank: each.what() for rank, each in listed.items()}
    unequal = any(call.row is not None for each in calls.values() for call in each)
    requests = [_told(call, unequal) for each in calls.values() for call in each]
    return dict(zip(calls, split(_numbered(requests), calls.values()), strict=True))


def split(numbers: Ints, like: Iterable[Sized]) -> list[Ints]:
    """Cut numbers into parts that are as long as these."""
    return np.split(numbers, np.cumsum([len(each) for each in like])[:-1])


def _told(call: Call, unequal: bool) -> Hashable:
    """What has to be equal where calls belong together: each rank has its own sizes in an uneven all-to-all."""
    if call.batch >= 0:
        return call.bytes, call.dtype
    return ("all_to_all", call.dtype) if unequal and call.op == "all_to_all" else call.request()
