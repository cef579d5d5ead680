"""Lays operations on streams so that as few waits as possible have to be written down.

An operation goes on a stream where all that its ranks do there before it is something that they wait for anyway.
"""

from array import array
from collections.abc import Collection, Iterable, Sequence

from netsim.traces.trace import DEFAULT_STREAM

Needs = Sequence[tuple[int, Collection[int]]]  # the ranks of an operation, and the operations that each waits for


class Streams:
    """Which stream each operation is on, and what each rank did last on each; new streams take no name of `taken`."""

    def __init__(self, count: int, taken: Collection[str] = ()) -> None:
        self.place = array("i", bytes(4 * count))
        self.stream: list[str | None] = [None] * count
        self.last: dict[tuple[int, str], int] = {}  # by rank and stream
        self.taken, self.next, self.made = taken, 0, 0

    def put(
        self, number: int, needs: Needs, waits: Iterable[int], named: str | None = None
    ) -> tuple[str, tuple[int, ...]]:
        """Put an operation on a stream, if need be a `named` one; gives it and those of `waits` on other streams."""
        of, place = self.stream, self.place
        stream = self._chosen(needs) if named is None else named
        of[number], place[number] = stream, self.next
        self.next += 1
        for rank, _ in needs:
            self.last[rank, stream] = number
        after = [place[each] for each in waits if of[each] != stream]
        return stream, tuple(sorted(after)) if after else ()

    def _chosen(self, needs: Needs) -> str:
        of, lasts = self.stream, self.last
        near = [each for _, own in needs for each in own if of[each] is not None]
        if len(near) > 1:
            near = sorted(set(near), key=self.place.__getitem__, reverse=True)
        for stream in dict.fromkeys([*(of[each] or "" for each in near), DEFAULT_STREAM]):
            for rank, own in needs:
                last = lasts.get((rank, stream), -1)
                if last >= 0 and last not in own:
                    break
            else:
                return stream
        return self._new()

    def _new(self) -> str:
        while True:
            self.made += 1
            name = f"stream{self.made}"
            if name not in self.taken:
                return name
