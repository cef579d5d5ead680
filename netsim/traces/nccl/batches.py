"""Which sends and receives of a log belong to one group (ncclGroupStart ... ncclGroupEnd): they start together.

An INFO log does not mark groups. There, neighbours of one thread, communicator, stream and opCount are one group until
a peer comes again the same way. Where NCCL CALL lines mark the groups of a thread, the marks hold.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field

from netsim.traces.nccl.lines import Reported

Thread = tuple[tuple[str, str], str]  # process and thread


@dataclass(slots=True)
class _Batch:
    """Sends and receives that may still be one group."""

    number: int
    key: Hashable
    ends: set[tuple[str, int]] = field(default_factory=set)


class Batches:
    """Numbers the groups of all threads, call by call."""

    def __init__(self) -> None:
        self.open: dict[tuple[Thread, bool], _Batch] = {}  # groups that may still go on
        self._depth: dict[Thread, int] = {}  # groups inside groups, for threads that mark them
        self._next = 0

    def mark(self, thread: Thread, begins: bool) -> None:
        """Take in that a thread begins or ends a group."""
        depth = max(0, self._depth.get(thread, 0) + (1 if begins else -1))
        self._depth[thread] = depth
        if depth == (1 if begins else 0):
            for by_call in (False, True):
                self.open.pop((thread, by_call), None)

    def number(self, thread: Thread, handle: object, call: Reported) -> int:
        """Number the group of a call; -1 for what is no send or receive."""
        at = (thread, call.by_call)
        if call.op not in ("send", "recv"):
            self.open.pop(at, None)
            return -1
        marked = self._depth.get(thread)
        key = (id(handle), call.stream, None if marked else call.op_count)
        batch, end = self.open.get(at), (call.op, call.root)
        if batch is None or batch.key != key or end in batch.ends or marked == 0:
            batch = self.open[at] = _Batch(self._next, key)
            self._next += 1
        batch.ends.add(end)
        return batch.number
