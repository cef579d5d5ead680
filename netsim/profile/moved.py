"""Who sends how much to whom: the traffic matrix that the algorithms' schedules make of a trace's operations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from netsim.collectives import Layout, Request, plan
from netsim.collectives.chunking import WHOLE
from netsim.traces import Operation, Trace

MOST_ROWS = 1 << 25  # chunk flows of one collective, uncut: about 2,000 ranks on a ring of two channels
SUMMED_ABOVE = 1 << 20  # pairs that wait to be added up

Int64s = NDArray[np.int64]


@dataclass(frozen=True)
class Placed:
    """Where ranks run and how collectives are made: the server and the rail of each rank, algorithms by operation."""

    server: NDArray[np.int32]
    rail: NDArray[np.int32]
    algorithms: Mapping[str, str]
    channels: int | None = None

    @classmethod
    def apart(cls, ranks: int) -> Placed:
        """Every rank is a server of its own, every algorithm the usual one."""
        return cls(np.arange(ranks, dtype=np.int32), np.zeros(ranks, dtype=np.int32), {})


@dataclass(frozen=True, eq=False)
class MovedBytes:
    """The matrix by pairs of ranks that exchange anything: source, target, bytes; and what is left out of it."""

    table: pd.DataFrame
    left_out: Mapping[str, int]  # operations by reason

    @property
    def bytes(self) -> int:
        """All bytes that move."""
        return int(self.table["bytes"].sum())

    def leaving(self, server: NDArray[np.int32]) -> int:
        """Bytes that move between ranks of different servers."""
        source, target = self.table["source"].to_numpy(), self.table["target"].to_numpy()
        return int(self.table["bytes"].to_numpy()[server[source] != server[target]].sum())

    def by_rank(self, ranks: int) -> pd.DataFrame:
        """Bytes that each rank sends and receives."""
        ends = {"source": "sent_bytes", "target": "received_bytes"}
        sums = {name: self.table.groupby(end)["bytes"].sum() for end, name in ends.items()}
        return pd.DataFrame(sums, index=range(ranks)).fillna(0).astype("int64")


def traffic(trace: Trace, placed: Placed) -> MovedBytes:
    """Add up the traffic of all operations; of a trace in which not all ranks are seen, only that of the seen ones."""
    pairs, left_out = _Pairs(trace.ranks), Counter[str]()
    keyed = [(_key(operation), operation) for operation in trace.operations if operation.op != "compute"]
    example = dict(keyed)
    for key, times in Counter(key for key, _ in keyed).items():
        operation = example[key]
        if _rows(operation) > MOST_ROWS:
            left_out[f"more than {MOST_ROWS:,} chunk flows in one {operation.op}"] += times
            continue
        for source, target, size in _moved(operation, placed):
            pairs.add(source, target, size * times)
    seen = None if trace.report.seen is None else np.isin(np.arange(trace.ranks), trace.report.seen)
    return MovedBytes(pairs.table(seen), dict(left_out))


def _key(operation: Operation) -> tuple[object, ...]:
    names = ("op", "ranks", "bytes", "root", "sizes", "flows", "src", "dst", "algorithm")
    return tuple(getattr(operation, name) for name in names)


def _rows(operation: Operation) -> int:
    direct = operation.op in ("flows", "send", "all_to_all_v")
    return 0 if direct else 2 * len(operation.ranks) ** 2


def _moved(operation: Operation, placed: Placed) -> Iterator[tuple[Int64s, Int64s, Int64s]]:
    """Global source, global target and bytes of what an operation moves."""
    if operation.op == "send":
        yield _column([operation.src]), _column([operation.dst]), _column([operation.bytes])
    elif operation.op == "flows":
        flows = np.array(operation.flows, dtype=np.int64).reshape(-1, 3)
        yield flows[:, 0], flows[:, 1], flows[:, 2]
    else:
        ranks = _column(operation.ranks)
        if operation.sizes is not None:
            sizes = np.array(operation.sizes, dtype=np.int64)
            source, target = np.nonzero(sizes)
            yield ranks[source], ranks[target], sizes[source, target]
            return
        request = Request(
            op=operation.op,
            ranks=len(ranks),
            bytes=operation.bytes,
            root=operation.root,
            chunk_bytes=WHOLE,  # how a message is cut changes nothing here
            channels=placed.channels,
            layout=Layout(placed.server[ranks], placed.rail[ranks]),
        )
        schedule = plan(request, placed.algorithms.get(operation.op) or operation.algorithm)
        yield ranks[schedule.source], ranks[schedule.target], schedule.bytes


def _column(values: Sequence[int]) -> Int64s:
    return np.array(values, dtype=np.int64)


class _Pairs:
    """Adds up bytes by pair of ranks."""

    def __init__(self, ranks: int) -> None:
        self.ranks, self.waiting = ranks, 0
        self.keys: list[Int64s] = []
        self.sizes: list[Int64s] = []

    def add(self, source: Int64s, target: Int64s, size: Int64s) -> None:
        """Take in bytes from source to target, elementwise; what stays at a rank is no traffic."""
        moves = source != target
        self.keys.append(source[moves] * self.ranks + target[moves])
        self.sizes.append(size[moves])
        self.waiting += int(moves.sum())
        if self.waiting > SUMMED_ABOVE:
            self._sum()

    def _sum(self) -> None:
        keys, place = np.unique(np.concatenate([*self.keys, _column([])]), return_inverse=True)
        total = np.zeros(len(keys), dtype=np.int64)
        np.add.at(total, place, np.concatenate([*self.sizes, _column([])]))
        self.keys, self.sizes, self.waiting = [keys], [total], 0

    def table(self, seen: NDArray[np.bool_] | None) -> pd.DataFrame:
        """The pairs, by source and target; where only some ranks are `seen`, those that one of them is an end of."""
        self._sum()
        source, target = np.divmod(self.keys[0], self.ranks)
        known = slice(None) if seen is None else seen[source] | seen[target]
        columns = {"source": source[known], "target": target[known], "bytes": self.sizes[0][known]}
        return pd.DataFrame(columns, dtype=np.int64)
