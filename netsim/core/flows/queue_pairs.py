"""A connection of several queue pairs: which of them carries which message. Decided above the packets.

To the core each queue pair is a connection of its own, on channel `channel * count + number`; so it has its own route,
window and sequence numbers, as a queue pair with its own UDP source port has.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

HOST_BITS = 21  # of a connection's key: channel and class, source, target
CLASS_BITS = 3


@dataclass(frozen=True)
class Spread:
    """A schedule whose rows are on queue pairs (see ChunkFlows)."""

    ranks: int
    source: Any
    target: Any
    channel: Any
    bytes: Any
    first_after: Any
    after: Any


class QueuePairs:
    """`count` queue pairs per connection: whole messages take them in turn, or each message is split over all of them.

    As NCCL's, with NCCL_IB_SPLIT_DATA_ON_QPS 0 and 1: turns go on from one collective to the next. A split is even, in
    packets of `payload` bytes: a message of fewer packets than queue pairs leaves the last ones out.
    inside(source, target) -> bool[n] says which connections stay in a server: those have no queue pairs.
    """

    def __init__(self, count: int = 1, *, split: bool = False, payload: int = 1, inside: Any = None) -> None:
        self.count, self._split, self._payload, self._inside = count, split, payload, inside
        self._keys, self._turns = np.zeros(0, "i8"), np.zeros(0, "i8")  # by connection, sorted: messages so far

    def spread(self, schedule: Any, hosts: Any, traffic_class: int = 0) -> Any:
        """The same schedule over queue pairs of its class; position p is host hosts[p]."""
        if self.count == 1:
            return schedule
        source, target = np.asarray(hosts)[schedule.source], np.asarray(hosts)[schedule.target]
        several = ~self._inside(source, target) if self._inside else np.ones(len(source), bool)
        if self._split:
            return self._pieces(schedule, several)
        turn = np.zeros(len(source), "i8")
        channel = np.asarray(schedule.channel, "i8")
        turn[several] = self._take_turns(
            source[several], target[several], channel[several] << CLASS_BITS | traffic_class
        )
        channel = channel * self.count + turn
        rest = (schedule.bytes, schedule.first_after, schedule.after)
        return Spread(schedule.ranks, schedule.source, schedule.target, channel, *rest)

    def _take_turns(self, source: Any, target: Any, channel: Any) -> Any:
        """The queue pair of each message, in order of row."""
        keys = ((np.asarray(channel, "i8") << HOST_BITS) + source << HOST_BITS) + target
        once, which, rows = np.unique(keys, return_inverse=True, return_counts=True)
        known = np.union1d(self._keys, once)
        turns = np.zeros(len(known), "i8")
        turns[np.searchsorted(known, self._keys)] = self._turns
        mine = np.searchsorted(known, once)
        order = np.argsort(which, kind="stable")
        nth = np.empty(len(keys), "i8")
        nth[order] = np.arange(len(keys)) - np.repeat(np.cumsum(rows) - rows, rows)
        chosen = (turns[mine][which] + nth) % self.count
        turns[mine] += rows
        self._keys, self._turns = known, turns
        return chosen

    def _pieces(self, schedule: Any, several: Any) -> Spread:
        """Each row as one per queue pair; who waits for a row waits for all its pieces."""
        sizes = np.asarray(schedule.bytes, "i8")
        packets = np.where(several, -(-sizes // self._payload), 1)
        splits = np.minimum(packets, self.count)
        row, number = np.repeat(np.arange(len(sizes)), splits), counted(np.zeros_like(splits), splits)
        each, longer = packets[row] // splits[row], packets[row] % splits[row]
        begin = (each * number + np.minimum(number, longer)) * self._payload
        length = (each + (number < longer)) * self._payload
        length = np.where(several[row], np.minimum(begin + length, sizes[row]) - begin, sizes[row])
        first_after, after = _after(schedule, splits, row)
        channel = np.asarray(schedule.channel, "i8")[row] * self.count + number
        ends = np.asarray(schedule.source)[row], np.asarray(schedule.target)[row]
        return Spread(schedule.ranks, *ends, channel, length, first_after, after)


def _after(schedule: Any, splits: Any, row: Any) -> tuple[Any, Any]:
    """Predecessors (CSR) of every piece: all pieces of its row's predecessors."""
    first, old = np.asarray(schedule.first_after, "i8"), np.asarray(schedule.after, "i8")
    start = np.cumsum(splits) - splits  # first piece of each row
    flat = counted(start[old], splits[old])
    bounds = np.concatenate([[0], np.cumsum(splits[old])])[first]  # of each row's list in `flat`
    waits = np.diff(bounds)[row]
    first_after = np.concatenate([[0], np.cumsum(waits)])
    return first_after, flat[counted(bounds[:-1][row], waits)].astype("i4")


def counted(start: Any, lengths: Any) -> Any:
    """start[0], start[0] + 1, ... (lengths[0] of them), start[1], ...: i8."""
    begin = np.cumsum(lengths) - lengths
    return np.arange(int(lengths.sum())) + np.repeat(start - begin, lengths)


def joined(columns: dict[str, Any], floors: Any, count: int) -> dict[str, Any]:
    """Columns of flows, in order of source, target and queue pair, as columns with one row per connection.

    Counts are added; it starts with the first queue pair to start and is delivered and acknowledged with the last. Its
    queue pairs share a NIC's link, if they leave by the same: the ideal time is no less than what they need there.
    """
    if count == 1:
        return columns
    channel = columns["channel"] // count
    ends = np.stack([columns["source"], columns["target"], channel])
    first = np.flatnonzero(np.concatenate([np.ones(min(1, len(channel)), bool), np.any(np.diff(ends) != 0, axis=0)]))
    if not len(first):
        return columns
    of_ends = {"source": ends[0][first], "target": ends[1][first], "channel": channel[first]}
    how = {"start_ps": np.minimum, **dict.fromkeys(("delivered_ps", "acked_ps", "ideal_ps"), np.maximum)}
    together = np.add.reduceat(floors["first"], first) + np.minimum.reduceat(floors["rest"], first)
    by_one = np.minimum.reduceat(floors["egress"], first) == np.maximum.reduceat(floors["egress"], first)
    whole = {
        name: of_ends[name] if name in of_ends else how.get(name, np.add).reduceat(column, first)
        for name, column in columns.items()
    }
    return whole | {"ideal_ps": np.maximum(whole["ideal_ps"], np.where(by_one, together, 0))}
