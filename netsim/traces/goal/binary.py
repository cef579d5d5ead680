"""GOAL's binary form, as LogGOPSim's txt2bin writes it; everything is little endian.

u64 magic, u32 ranks, u8 cpus, u8 nics, then for each rank u64 start and u64 end, counted from behind the magic. There:
u32 nodes, u32 free nodes, their numbers, the nodes of 39 bytes, and the numbers of the nodes that wait for others.
"""

import struct
from collections.abc import Sequence
from pathlib import Path

from netsim.errors import InputError
from netsim.traces.goal.rank import Goal
from netsim.traces.graphs.graph import ANY
from netsim.traces.limits import MAX_RANKS
from netsim.traces.lines import content

MAGIC, UNFINISHED = 4223, 2342
MAX_FILE = 1 << 30
NODE = struct.Struct("<IbIQIBBIIII")
HEAD = struct.Struct("<IBB")
RANGE = struct.Struct("<QQ")
COUNTS = struct.Struct("<II")
WORDS = {1: "send", 2: "recv", 3: "calc"}
ANYBODY = 0xFFFF_FFFF
CUT = "was the file cut? copy it again, or make it again with txt2bin"


def is_binary(start: bytes) -> bool:
    """Tell whether a file that starts so is a binary GOAL schedule, or one that txt2bin did not finish."""
    return len(start) >= 8 and int.from_bytes(start[:8], "little") in (MAGIC, UNFINISHED)


def read_binary(path: Path) -> Goal:
    """Read a binary schedule; every number in it is checked before it is used."""
    return _Binary(path, content(path, MAX_FILE, "cut the job into parts")).read()


class _Binary:
    """Takes a binary schedule apart."""

    def __init__(self, path: Path, data: bytes) -> None:
        self.path, self.data = path, memoryview(data)[8:]
        if int.from_bytes(data[:8], "little") == UNFINISHED:
            raise InputError("was not finished by txt2bin", where=str(path), hint="make it again with txt2bin")

    def wrong(self, what: str) -> InputError:
        return InputError(what, where=str(self.path), hint=CUT)

    def _take(self, form: struct.Struct, at: int, end: int) -> tuple[int, ...]:
        if at + form.size > end:
            raise self.wrong(f"ends within byte {at + 8:,}")
        return form.unpack_from(self.data, at)

    def read(self) -> Goal:
        size = len(self.data)
        ranks, _, _ = self._take(HEAD, 0, size)
        if not 0 < ranks <= MAX_RANKS:
            raise self.wrong(f"is of {ranks:,} ranks")
        goal = Goal(self.path, ranks, what="node")
        total = 0
        for rank in range(ranks):
            start, end = self._take(RANGE, HEAD.size + rank * RANGE.size, size)
            if not start <= end <= size:
                raise self.wrong(f"holds rank {rank:,} in bytes {start:,} to {end:,}, of {size:,}")
            total += end - start
            if total > size:
                raise self.wrong("holds ranks that overlap")
            goal.begin(rank, 0)
            self._rank(goal, rank, start, end)
        goal.check()
        return goal

    def _rank(self, goal: Goal, rank: int, start: int, end: int) -> None:
        nodes, free = self._take(COUNTS, start, end)
        first = start + COUNTS.size + 4 * free
        appendix = first + nodes * NODE.size
        if appendix > end:
            raise self.wrong(f"ends within rank {rank:,}, of {nodes:,} nodes")
        dependents = (end - appendix) // 4
        numbers: Sequence[int] = struct.unpack_from(f"<{dependents}I", self.data, appendix)
        listed = [NODE.unpack_from(self.data, first + number * NODE.size) for number in range(nodes)]
        for number, node in enumerate(listed):
            _, kind, peer, size, tag, *_ = node
            if kind not in WORDS:
                raise self.wrong(f"holds a node of type {kind} at rank {rank:,}")
            who = ANY if kind == 3 or (kind == 2 and peer == ANYBODY) else peer
            what = ANY if kind == 2 and tag == ANYBODY else tag
            goal.add(WORDS[kind], size, number, peer=who, tag=what)
        for number, node in enumerate(listed):
            for count, at, started in ((node[7], node[8], False), (node[9], node[10], True)):
                if count and (at + count > len(numbers) or max(numbers[at : at + count]) >= nodes):
                    raise self.wrong(f"lets other nodes wait for node {number} of rank {rank:,} that are not there")
                for dependent in numbers[at : at + count] if count else ():
                    goal.link(dependent, number, started=started)
