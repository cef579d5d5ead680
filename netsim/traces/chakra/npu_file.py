"""One NPU's file of a Chakra job: its nodes, as a graph that other ranks' graphs are joined with."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from netsim.errors import InputError
from netsim.traces.chakra import netsim_attribute
from netsim.traces.chakra import nodes as schema
from netsim.traces.chakra.groups import Groups
from netsim.traces.chakra.json_nodes import is_json, json_nodes
from netsim.traces.chakra.nodes import ChakraNode
from netsim.traces.chakra.wire import BYTES, VARINT, WireError, fields, messages
from netsim.traces.graphs.graph import Node
from netsim.traces.limits import MAX_BYTES, MAX_CELLS, MAX_NODES
from netsim.traces.lines import head
from netsim.traces.trace import ROOTED, Group, Operation
from netsim.units import LARGEST

PS_PER_MICRO = 10**6
MAX_MICROS = -(-LARGEST // 10**6)  # as long as any time: whole microseconds are written rounded up
ON_CPU = "collectives on the CPU side, which stand again on the GPU side"
DANGLING = "dependencies on nodes that are not there, which hold nothing up"
CONTROL = "dependencies of control (ctrl_deps), which drive the replay where a file has no data_deps"
NO_ROOT = "collectives with a root, which Chakra does not name: the first of the group"
OLD = "is of Chakra's old schema (before October 2023), whose numbers mean other collectives today"


def is_old(message: bytes) -> bool:
    """Tell whether a file's first message is a node of the old schema: it starts with its number and its name."""
    try:
        listed = [(number, kind) for number, kind, _ in fields(message)]
    except WireError:
        return False
    return listed[:2] == [(1, VARINT), (2, BYTES)] and all(number <= 32 for number, _ in listed)


def _text(path: Path) -> str:
    return head(path, 1 << 12).decode("utf-8", errors="replace")


class NpuAccount:
    """What is counted over all files."""

    def __init__(self) -> None:
        self.skipped: Counter[str] = Counter()
        self.notes: Counter[str] = Counter()
        self.nodes = self.dependencies = 0


class NpuFile:
    """Reads the nodes of one NPU."""

    def __init__(self, rank: int, path: Path, groups: Groups, account: NpuAccount) -> None:
        self.rank, self.path, self.groups, self.account = rank, path, groups, account

    def wrong(self, number: int, what: str, hint: str) -> InputError:
        """The error that names a node."""
        return InputError(f"node {number} {what}", where=str(self.path), hint=hint)

    def nodes(self) -> list[Node]:
        """Read the file."""
        read: list[ChakraNode] = []
        for each in self._binary() if not is_json(_text(self.path)) else json_nodes(self.path):
            read.append(each)
            self._count(each)
        return self._linked(read)

    def _binary(self) -> Iterator[ChakraNode]:
        stream = messages(self.path)
        first = next(stream, b"")
        try:
            schema.metadata(first)
        except WireError:
            if is_old(first):
                hint = "convert the source again with today's chakra_converter"
                raise InputError(OLD, where=str(self.path), hint=hint) from None
            self._damaged(1, "it is no GlobalMetadata")
        for turn, message in enumerate(stream, 2):
            try:
                made = schema.node(message)
            except WireError as error:
                self._damaged(turn, str(error))
            yield made

    def _damaged(self, turn: int, why: str) -> NoReturn:
        what = f"message {turn:,} is damaged ({why})"
        raise InputError(what, where=str(self.path), hint="copy the file again, or convert its source again")

    def _count(self, each: ChakraNode) -> None:
        account = self.account
        account.nodes += 1
        account.dependencies += len(each.data_deps) + len(each.ctrl_deps)
        if account.nodes > MAX_NODES or account.dependencies > MAX_CELLS:
            what = f"there are more than {MAX_NODES:,} nodes or {MAX_CELLS:,} dependencies"
            raise InputError(what, where=str(self.path), hint="cut the job into parts")

    def _linked(self, read: list[ChakraNode]) -> list[Node]:
        """Name what a node waits for by its place in the file."""
        place_of = {each.id: place for place, each in enumerate(read)}
        if len(place_of) < len(read):
            twice = next(each.id for place, each in enumerate(read) if place_of[each.id] != place)
            raise self.wrong(twice, "stands there twice", "give each node a number of its own")
        # As Chakra's own feeder: control dependencies of converted PyTorch traces run in cycles.
        by_data = any(each.data_deps for each in read)
        made = []
        for each in read:
            awaited = dict.fromkeys(each.data_deps if by_data else each.ctrl_deps)
            self.account.notes[CONTROL] += 0 if by_data else len(awaited)
            after = [place_of[dep] for dep in awaited if dep in place_of]
            self.account.notes[DANGLING] += len(awaited) - len(after)
            made.append(self._node(each, after))
        return made

    def _node(self, each: ChakraNode, after: list[int]) -> Node:
        if each.type == schema.COMM_COLL:
            return self._call(each, after)
        if each.type in (schema.COMM_SEND, schema.COMM_RECV):
            return self._transfer(each, after)
        if each.type not in (schema.METADATA, schema.MEM_LOAD, schema.MEM_STORE, schema.COMP):
            self.account.skipped[f"nodes of type {each.type}"] += 1
            return Node("nothing", each.id, after)
        said = self._said(each)
        if each.type == schema.METADATA or said.helper or (said.number is None and not each.duration_micros):
            return Node("nothing", each.id, after)
        request = Operation("compute", None, (self.rank,), duration_ps=self._duration(each))
        if said.group:
            group = self._group(each, said)
            request = replace(request, group=group.name, ranks=group.ranks)
        return Node("compute", each.id, after, request=said.of(request), turn=said.number)

    def _said(self, each: ChakraNode) -> netsim_attribute.NetsimAttribute:
        return netsim_attribute.recorded(each.attributes, f"{self.path}: node {each.id}", self.groups.ranks)

    def _group(self, each: ChakraNode, said: netsim_attribute.NetsimAttribute) -> Group:
        return self.groups.of(str(each.attributes.get("pg_name", "")), said.group, f"{self.path}: node {each.id}")

    def _duration(self, each: ChakraNode) -> int:
        if each.duration_micros > MAX_MICROS:
            raise self.wrong(each.id, f"takes {each.duration_micros:,} us", "is the file damaged?")
        return min(each.duration_micros * PS_PER_MICRO, LARGEST)

    def _call(self, each: ChakraNode, after: list[int]) -> Node:
        if each.attributes.get("is_cpu_op") and "comm_type" not in each.attributes:
            self.account.skipped[ON_CPU] += 1
            return Node("nothing", each.id, after)
        kind = each.whole("comm_type", -1)
        if kind not in schema.COLLECTIVES:
            raise self.wrong(each.id, f"has comm_type {kind}", "the schema has 0 (ALL_REDUCE) to 9 (BARRIER)")
        dims = each.attributes.get("involved_dim")
        if isinstance(dims, tuple) and not all(dims):
            what = "names some dimensions of a topology (involved_dim), not ranks"
            raise self.wrong(each.id, what, "give its group by pg_name and a comm_group.json")
        op, said = schema.COLLECTIVES[kind], self._said(each)
        group = self._group(each, said)
        # comm_size is what one NPU puts in; a trace counts the full buffer.
        size = self._size(each) * (len(group.ranks) if op in ("all_gather", "gather") else 1)
        recorded = None if said.number is not None else self._duration(each) or None
        request = Operation(op, group.name, group.ranks, 0 if op == "barrier" else size, recorded_duration_ps=recorded)
        self.account.notes[NO_ROOT] += op in ROOTED and said.number is None
        return Node("call", each.id, after, request=said.of(request), turn=said.number)

    def _size(self, each: ChakraNode) -> int:
        size = each.whole("comm_size", 0)
        if not 0 <= size <= MAX_BYTES:
            raise self.wrong(each.id, f"has comm_size {size:,}", f"give 0 to {MAX_BYTES:,} bytes")
        return size

    def _transfer(self, each: ChakraNode, after: list[int]) -> Node:
        sends = each.type == schema.COMM_SEND
        source = each.whole("comm_src", self.rank if sends else -1)
        target = each.whole("comm_dst", -1 if sends else self.rank)
        own, peer = (source, target) if sends else (target, source)
        what = f"goes from rank {source} to rank {target} in the file of rank {self.rank}"
        if own != self.rank or own == peer:
            raise self.wrong(each.id, what, "comm_src and comm_dst must be the file's own rank and another")
        if not 0 <= peer < self.groups.ranks:
            raise self.wrong(each.id, what, f"the files and groups are of {self.groups.ranks} ranks: name all files")
        size, said = self._size(each), self._said(each)
        request = Operation("send", None, (source, target), size, src=source, dst=target)
        kind, tag = "send" if sends else "receive", each.whole("comm_tag", 0)
        return Node(kind, each.id, after, [], peer, size, tag, said.of(request), said.number, said.part)
