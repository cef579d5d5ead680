"""The labels of one rank of a GOAL schedule, as numbers: `l12` is 12, as programs write them; others are negative."""

import re
from array import array
from typing import Any

import numpy as np
from numpy.typing import NDArray

UNNAMED = -1
NUMBERED = "l(0|[1-9][0-9]{0,17})"  # whose number is the label's
_NUMBERED = re.compile(NUMBERED)


class Labels:
    """`ids` are the labels of the nodes in order (UNNAMED: none); `waits` are waiter, awaited, place and started."""

    def __init__(self) -> None:
        self.ids, self.waits = array("q"), array("q")
        self._others: dict[str, int] = {}
        self._names: list[str] = []
        self._known: tuple[NDArray[Any], NDArray[Any]] | None = None

    def number(self, label: str) -> int:
        """The number of a label."""
        match = _NUMBERED.fullmatch(label)
        if match:
            return int(match[1])
        number = self._others.setdefault(label, -2 - len(self._names))
        if number == -2 - len(self._names):
            self._names.append(label)
        return number

    def name(self, number: int) -> str:
        """The label of a number."""
        return f"l{number}" if number >= 0 else self._names[-2 - number]

    def first(self, count: int) -> list[int]:
        """The first so many labels of nodes."""
        ids = np.array(self.ids, dtype=np.int64)
        return [int(each) for each in ids[ids != UNNAMED][:count]]

    def _sorted(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The labels of nodes in rising order, and their nodes."""
        if self._known is None:
            ids = np.array(self.ids, dtype=np.int64)
            nodes = np.flatnonzero(ids != UNNAMED)
            nodes = nodes[np.argsort(ids[nodes], kind="stable")]
            self._known = ids[nodes], nodes
        return self._known

    def _told(self) -> NDArray[Any]:
        return np.frombuffer(self.waits or bytes(0), dtype=np.int64).reshape(-1, 4)

    def twice(self) -> int | None:
        """The first node whose label another one before it has."""
        ids, nodes = self._sorted()
        again = nodes[1:][ids[1:] == ids[:-1]]
        return int(again.min()) if again.size else None

    def unknown(self) -> tuple[int, int] | None:
        """The first label in a wait that no node has, and its place."""
        recorded = self._told()
        known = np.isin(recorded[:, :2], self._sorted()[0])
        bad = np.flatnonzero(~known.ravel())
        return (int(recorded[bad[0] // 2, bad[0] % 2]), int(recorded[bad[0] // 2, 2])) if bad.size else None

    def resolved(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """The waits as nodes: who waits, for whom, and whether only for its start."""
        ids, nodes = self._sorted()
        recorded = self._told()
        waiters, awaited = (nodes[np.searchsorted(ids, recorded[:, side])] for side in (0, 1))
        return waiters, awaited, recorded[:, 3]
