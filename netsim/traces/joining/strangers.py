"""Ranks of which no report tells who they are."""

from collections.abc import Hashable

from netsim.errors import InputError
from netsim.traces.limits import MAX_RANKS


class Strangers:
    """Members of groups of which nothing tells who they are: they take the numbers after those of all others."""

    def __init__(self, first: int) -> None:
        self.first, self.next = first, first
        self.placed: dict[Hashable, tuple[int, ...]] = {}  # a group that comes again has the same members

    def join(self, size: int, known: dict[int, int]) -> tuple[int, ...]:
        """Give all ranks of a communicator of this size, strangers among them."""
        key = (size, tuple(sorted(known.items())))
        if key not in self.placed:
            new_ones = iter(range(self.next, self.next + size))
            ranks = (known[rank] if rank in known else next(new_ones) for rank in range(size))
            self.placed[key] = tuple(ranks)
            self.next += size - len(known)
        if self.next > MAX_RANKS:
            what = f"more than {MAX_RANKS:,} members of groups are unknown"
            raise InputError(what, hint="give the logs of all ranks")
        return self.placed[key]

    def note(self) -> str:
        """Say that they are there."""
        few = f"{len(self.placed)} groups" if len(self.placed) > 1 else "a group"
        return f"the log does not tell who the others in {few} are: they are counted as ranks {self.first} and up"
