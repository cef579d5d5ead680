"""Algorithms from MSCCL's XML files: the sends of all thread blocks become chunk flows."""

import hashlib
import warnings
from collections import defaultdict
from contextlib import suppress
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import numpy as np

from netsim.collectives.chunking import share
from netsim.collectives.msccl_proof import prove
from netsim.collectives.msccl_xml import RECEIVES, REDUCES, SENDS, Algorithm, Block, MscclStep, plain_errors, read_xml
from netsim.collectives.request import Request
from netsim.collectives.schedule import Builder, Schedule
from netsim.errors import InputError

SUFFIX = ".xml"

Place = tuple[int, int, int]  # a GPU, a thread block of it, and a step of that
Connection = tuple[int, int, int]  # source, target, channel
End = tuple[Block, MscclStep, Place]  # of a transfer


def is_file(name: str) -> bool:
    """Tell whether an algorithm's name is the path of an MSCCL file."""
    return name.endswith(SUFFIX)


def schedule(request: Request, name: str) -> Schedule:
    """The schedule of a request by the MSCCL file of this path.

    Raises InputError if it is for another collective or group, or does not do what it says it is for.
    """
    algorithm = load(name, request.op)
    if request.ranks != algorithm.gpus:
        hint = "take one that is made for as many"
        raise InputError(f"is made for {algorithm.gpus} GPUs, the group has {request.ranks}", where=name, hint=hint)
    made = _Planner(request, algorithm).schedule()
    if not algorithm.proven and request.bytes:
        prove(algorithm)
        algorithm.proven = True
    return made


def takes(request: Request, name: str, instead: str) -> bool:
    """Tell whether the file is for buffers of this size (minBytes, maxBytes); a warning says what is taken instead."""
    algorithm = load(name, request.op)
    if algorithm.takes(request.bytes):
        return True
    window = f"{algorithm.least:,} bytes" + (f" to {algorithm.most:,}" if algorithm.most else " and more")
    text = f"{name} is for {window} (its minBytes and maxBytes): {request.op} of other sizes takes {instead}"
    warnings.warn(text, stacklevel=2)
    return False


def load(name: str, op: str) -> Algorithm:
    """Read a file, or remember it if it has not changed; InputError if it is for another collective than `op`."""
    path = Path(name)
    with plain_errors(path):
        status = path.stat()
    algorithm = _load(path, status.st_mtime_ns, status.st_size)
    if op != algorithm.op:
        hint = f"write --algorithm {algorithm.op}={name}"
        raise InputError(f"is an algorithm for {algorithm.op}, not for {op}", where=name, hint=hint)
    return algorithm


def digest(name: str) -> str:
    """SHA-256 of a file's content (hex): what the algorithm is, wherever it lies. Raises InputError as `load` does."""
    path = Path(name)
    with plain_errors(path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@lru_cache(maxsize=16)
def _load(path: Path, changed: int, size: int) -> Algorithm:
    return read_xml(path)


class _Planner:
    """Makes one row of each send, and lets it wait for what its GPU has received by then.

    The k-th send on a connection is the k-th receive there. A block does its steps in order, so a send waits for all
    receives of the steps before it and of the steps they depend on. It waits for no earlier send: those have only to
    be on their way, and rows of one connection go in order anyway.
    """

    def __init__(self, request: Request, algorithm: Algorithm) -> None:
        self.request, self.algorithm = request, algorithm
        self.sent: dict[Connection, list[End]] = defaultdict(list)
        self.received: dict[Connection, list[End]] = defaultdict(list)
        self.owner: dict[tuple[str, Connection], Block] = {}
        self.row_sent: dict[Place, int] = {}
        self.row_received: dict[Place, int] = {}
        self.rows: list[tuple[Connection, MscclStep, bool]] = []
        self.after: list[list[int]] = []

    def schedule(self) -> Schedule:
        if self.request.bytes:
            self._match()
            for gpu, blocks in self.algorithm.blocks.items():
                self._waits(gpu, blocks)
        start, size = share(self.request.bytes, self.algorithm.chunks, np.arange(self.algorithm.chunks))
        chunks = [(self._chunk(connection[0], step), step.count) for connection, step, _ in self.rows]
        sizes = [int(np.take(size, range(at, at + count), mode="wrap").sum()) for at, count in chunks]
        source, target, channel = np.array([connection for connection, *_ in self.rows], np.int64).reshape(-1, 3).T
        builder = Builder(self.request.op, self.algorithm.name, self.request.ranks)
        builder.add(
            channel,
            source=source,
            target=target,
            size=np.array([max(each, 1) for each in sizes], np.int64),  # less than a byte still has to arrive
            offset=np.array([int(start[at]) for at, _ in chunks], np.int64),
            reduces=np.array([reduces for *_, reduces in self.rows], np.bool_),
            waits=np.array([len(each) for each in self.after], np.int64),
            after=np.array([awaited for each in self.after for awaited in each], np.int32),
        )
        return builder.build()

    def _chunk(self, gpu: int, step: MscclStep) -> int:
        """The chunk of the full buffer that a send starts with; an all-gather's input is the rank's own part of it."""
        own = gpu * self.algorithm.chunks // self.algorithm.gpus
        base = own if step.buffer == "i" and self.algorithm.op == "all_gather" else 0
        return (base + step.offset) % self.algorithm.chunks

    def _match(self) -> None:
        """Make the row of each send, which its receive takes in."""
        for gpu, blocks in self.algorithm.blocks.items():
            for block in blocks.values():
                for turn, step in enumerate(block.steps):
                    end = (block, step, (gpu, block.id, turn))
                    if step.type in SENDS:
                        self._end("send", self.sent, (gpu, block.send, block.channel), end)
                    if step.type in RECEIVES:
                        self._end("recv", self.received, (block.recv, gpu, block.channel), end)
        for connection in sorted({*self.sent, *self.received}):
            sends, receives = self.sent[connection], self.received[connection]
            if len(sends) != len(receives):
                source, target, channel = connection
                what = f"gpu {source} sends {len(sends)} times on chan {channel} to gpu {target}"
                what += f", which receives {len(receives)} times"
                line = (sends or receives)[0][0].line
                raise self.algorithm.wrong(line, what, "each send needs a receive of the same channel")
            for (_, step, sent), (_, taken, received) in zip(sends, receives, strict=True):
                if step.count != taken.count:
                    what = f"{step.count} chunks are sent where line {taken.line} receives {taken.count}"
                    raise self.algorithm.wrong(step.line, what, "give both the same cnt")
                self.row_sent[sent] = self.row_received[received] = len(self.rows)
                self.rows.append((connection, step, taken.type in REDUCES))
                self.after.append([])

    def _end(self, side: str, ends: dict[Connection, list[End]], connection: Connection, end: End) -> None:
        block = end[0]
        if self.owner.setdefault((side, connection), block) is not block:
            source, target, channel = connection
            what = f"two thread blocks {side} between gpu {source} and gpu {target} on chan {channel}"
            raise self.algorithm.wrong(block.line, what, "give them different channels")
        ends[connection].append(end)

    def _waits(self, gpu: int, blocks: dict[int, Block]) -> None:
        """Do a GPU's steps, each after the one ahead of it in its block and the one it depends on."""
        order = TopologicalSorter[Place]()
        for block in blocks.values():
            for turn, step in enumerate(block.steps):
                order.add((gpu, block.id, turn), *self._awaited(gpu, blocks, block, turn, step))
        with suppress(CycleError):  # steps outside of the cycle are done all the same
            order.prepare()
        known: dict[Place, dict[Connection, int]] = {}  # the last row of each connection that has arrived by then
        while ready := order.get_ready():
            for place in ready:
                block = blocks[place[1]]
                step, here = block.steps[place[2]], dict[Connection, int]()
                for awaited in self._awaited(gpu, blocks, block, place[2], step):
                    here |= {each: max(row, here.get(each, -1)) for each, row in known[awaited].items()}
                if place in self.row_received:
                    here[block.recv, gpu, block.channel] = self.row_received[place]
                if place in self.row_sent:
                    self.after[self.row_sent[place]] = sorted(here.values())
                known[place] = here
            order.done(*ready)
        for block in blocks.values():
            for turn, step in enumerate(block.steps):
                if (gpu, block.id, turn) not in known:
                    what = "the step waits for itself by way of others"
                    raise self.algorithm.wrong(step.line, what, "check its depid and deps")

    def _awaited(self, gpu: int, blocks: dict[int, Block], block: Block, turn: int, step: MscclStep) -> list[Place]:
        """The steps that a step follows."""
        ahead = [(gpu, block.id, turn - 1)] if turn else []
        if step.dep is None:
            return ahead
        number, its_turn = step.dep
        if number not in blocks or its_turn >= len(blocks[number].steps):
            what = f"the step depends on step {its_turn} of tb {number}, which its gpu does not have"
            raise self.algorithm.wrong(step.line, what, "check its depid and deps")
        return [*ahead, (gpu, number, its_turn)]
