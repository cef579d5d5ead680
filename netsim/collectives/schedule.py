"""A collective made concrete: who sends how much to whom, on which channel, after what."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netsim.errors import InputError

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Integers = NDArray[np.integer]

MOST_ROWS = 1 << 28
"""More chunk flows than this, or more dependencies between them, would take about 10 GB and no simulation would finish:
surely a mistake."""


@dataclass(frozen=True, eq=False, slots=True)
class Schedule:
    """Columns of m chunk flows between positions 0..ranks-1 of a group.

    source, target   i4[m]    positions in the group
    channel          i2[m]    connections are (source, target, channel); rows of one connection go in row order
    bytes            i8[m]    always above 0
    first_after      i8[m+1]  row i waits for the rows after[first_after[i]:first_after[i + 1]]
    after            i4[k]    a predecessor ends where the row starts (then the row waits until it is delivered) or
                              starts there (then the row waits until it is acknowledged)
    offset           i8[m]    first byte of the source's buffer that the row carries (a circle: after its end comes its
                              beginning) or of a message packed from all over it; 0 where that means nothing
    reduces          bool[m]  the target adds what it receives to what it holds; otherwise it replaces it

    A row carries what its source holds when it starts. Two rows between the same ranks, one there and one back, on one
    channel and with the same bytes, neither of them after the other, are an exchange (MPI_Sendrecv): what one brings is
    taken in when the other has started.
    """

    op: str
    algorithm: str
    ranks: int
    source: Int32s
    target: Int32s
    channel: NDArray[np.int16]
    bytes: Int64s
    first_after: Int64s
    after: Int32s
    offset: Int64s
    reduces: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.source)

    def predecessors(self, row: int) -> Int32s:
        """The rows that must be finished before `row` starts."""
        return self.after[self.first_after[row] : self.first_after[row + 1]]


class Builder:
    """Collects the rows of one schedule part by part; mostly a part is what one channel adds."""

    def __init__(self, op: str, algorithm: str, ranks: int) -> None:
        self.ranks, self._names = ranks, (op, algorithm, ranks)
        self._columns: dict[str, list[NDArray[np.generic]]] = {name: [] for name in _TYPES}
        self._rows = self._dependencies = 0

    def expect(self, rows: float, dependencies: float = 0) -> None:
        """Raise InputError if so many more are more than any run could carry: to be called before they are made."""
        for count, what in ((self._rows + rows, "chunk flows"), (self._dependencies + dependencies, "dependencies")):
            if count > MOST_ROWS:
                text = f"the schedule would have {int(count):,} {what} or more (limit {MOST_ROWS:,})"
                raise InputError(text, where="collective", hint="use a larger chunk_bytes or fewer channels")

    def add(
        self,
        channel: int | Integers,
        *,
        source: Integers,
        target: Integers,
        size: Integers,
        offset: Integers,
        reduces: NDArray[np.bool_] | bool = False,
        waits: Integers | int = 0,
        after: Integers | tuple[()] = (),
    ) -> None:
        """Append rows; `waits` counts the predecessors of each, `after` lists them, counted from this part's first."""
        self.expect(len(source), len(after))
        rows: dict[str, Any] = {"source": source, "target": target, "channel": channel, "bytes": size}
        rows |= {"offset": offset, "reduces": reduces, "waits": waits}
        for name, column in rows.items():
            self._columns[name].append(np.broadcast_to(np.asarray(column, _TYPES[name]), len(source)))
        self._columns["after"].append(np.asarray(after, np.int32) + np.int32(self._rows))
        self._rows += len(source)
        self._dependencies += len(after)

    def build(self) -> Schedule:
        """The schedule; parts are let go column by column, so that the peak stays near the size of the result."""
        first_after = np.zeros(self._rows + 1, dtype=np.int64)
        np.cumsum(self._join("waits"), out=first_after[1:])
        columns = {name: self._join(name) for name in tuple(self._columns)}
        op, algorithm, ranks = self._names
        return Schedule(op=op, algorithm=algorithm, ranks=ranks, first_after=first_after, **columns)

    def _join(self, name: str) -> NDArray[Any]:
        parts = self._columns.pop(name)
        return np.concatenate(parts) if parts else np.zeros(0, dtype=_TYPES[name])


_TYPES: dict[str, type[np.generic]] = {
    "source": np.int32,
    "target": np.int32,
    "channel": np.int16,
    "bytes": np.int64,
    "offset": np.int64,
    "reduces": np.bool_,
    "waits": np.int32,
    "after": np.int32,
}
