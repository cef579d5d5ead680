"""Single chunk flows of a run, as columns: what a result's table of flows adds up per connection and collective."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Chunks:
    """Chunk flows in order of collective and of their row in its schedule; sizes in bytes, times in ps, counts.

    source, target    global ranks
    start_ps          when it waited for nothing more, as in the table of flows
    sent_ps           when its first bit left its NIC
    delivered_ps      last data byte at the receiver; acked_ps: last ACK at the sender
    step              1 for one that waits for no other, else one more than that of the one that it waited for longest
    sent_again        packets, as in the table of flows; dropped counts copies of what had arrived too, and marked each
                      packet that came with a mark
    later, earlier    rows: `later` waited for `earlier`; as many as there are such pairs
    in_all            chunk flows of all collectives that were asked for, also those that are left out here
    pairs_in_all      likewise pairs of one that waited for another
    """

    collective: Any
    source: Any
    target: Any
    channel: Any
    bytes: Any
    packets: Any
    start_ps: Any
    sent_ps: Any
    delivered_ps: Any
    acked_ps: Any
    step: Any
    sent_again: Any
    dropped: Any
    marked: Any
    later: Any
    earlier: Any
    in_all: int
    pairs_in_all: int

    def __len__(self) -> int:
        return len(self.collective)

    def first_sent(self, most: int) -> Chunks:
        """Those that were sent first, and the pairs among them: of either as many as wanted."""
        if len(self) <= most and len(self.later) <= most:
            return self
        kept = np.sort(np.argsort(self.sent_ps, kind="stable")[:most])
        number = np.full(len(self), -1, "i8")
        number[kept] = np.arange(len(kept))
        pairs = np.flatnonzero((number[self.later] >= 0) & (number[self.earlier] >= 0))
        pairs = np.sort(pairs[np.argsort(self.sent_ps[self.later[pairs]], kind="stable")[:most]])
        rows = {name: getattr(self, name)[kept] for name in COLUMNS}
        return replace(self, **rows, later=number[self.later[pairs]], earlier=number[self.earlier[pairs]])


PAIRS = ("later", "earlier")
COLUMNS = tuple(each.name for each in fields(Chunks) if each.name not in (*PAIRS, "in_all", "pairs_in_all"))


def steps_of(later: Any, earlier: Any, free_ps: Any, count: int) -> Any:
    """The step of each of `count` chunk flows: i8; free_ps: when each pair's `earlier` set its `later` free."""
    order = np.lexsort((free_ps, later))
    is_last = np.append(np.diff(later[order]) != 0, True)[: len(order)]
    last = order[is_last]
    cause = np.full(count, -1, "i8")
    cause[later[last]] = earlier[last]
    depth = (cause >= 0).astype("i8")
    while len(some := np.flatnonzero(cause >= 0)):  # each looks twice as far back as before
        back = cause[some]
        depth[some], cause[some] = depth[some] + depth[back], cause[back]
    return depth + 1
