"""What user code did, written down as a trace, so that a result names all it came from and can be run again."""

from itertools import pairwise
from typing import Any

from netsim.traces import Group, Operation, Trace
from netsim.traces.topological_order import topological_order_of

NOTE = "written down from user code: operations of one rank that overlapped follow one another here"
LONGEST_NAME = 60


class JobRecorder:
    """Who did what in which order."""

    def __init__(self, ranks: int) -> None:
        self.everyone = Group("world", tuple(range(ranks)))
        self._groups: dict[tuple[int, ...], Group] = {}
        self._number: dict[Any, int] = {}  # by key, in the order in which they began
        self._operations: list[Operation] = []
        self._did: list[list[int]] = [[] for _ in range(ranks)]

    def group(self, members: tuple[int, ...] | None) -> Group:
        """The group of these members, under one name for all of them; everybody for None."""
        if members is None or members == self.everyone.ranks:
            return self.everyone
        if members not in self._groups:
            name = "ranks " + ", ".join(map(str, members))
            short = f"{len(members)} {name[: name.rfind(', ', 0, LONGEST_NAME)]}, ... ({len(self._groups)})"
            self._groups[members] = Group(name if len(name) <= LONGEST_NAME else short, members)
        return self._groups[members]

    def note(self, rank: int, key: Any, operation: Operation) -> None:
        """A rank begins its part of the operation that all its members know by this key."""
        if key not in self._number:
            self._number[key] = len(self._operations)
            self._operations.append(operation)
        self._did[rank].append(self._number[key])

    def trace(self, name: str) -> Trace:
        """Everything in an order that is every rank's own."""
        groups = {group.name: group for group in self._groups.values()}
        operations = tuple(self._operations[number] for number in self._in_order())
        return Trace(name, len(self._did), groups, operations, notes=(NOTE,))

    def _in_order(self) -> list[int]:
        """The operations, each after those that its ranks began before; of several the one that began first.

        So it is, too, where ranks began overlapping operations in crossed order.
        """
        behind: list[list[int]] = [[] for _ in self._operations]
        for did in self._did:
            for before, after in pairwise(did):
                behind[after].append(before)
        return topological_order_of(behind, lambda *_: None)
