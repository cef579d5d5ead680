"""The native trace: JSON lines (`.jsonl`, `.jsonl.gz`), a header and then the operations in program order."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from netsim.errors import InputError, nearest
from netsim.traces.fields import Fields, parse_object, shown
from netsim.traces.input_files import only_file, trace_name
from netsim.traces.limits import MAX_CELLS, MAX_LINE, MAX_LINES, MAX_OPERATIONS, MAX_PARTS, MAX_RANKS
from netsim.traces.lines import text_lines
from netsim.traces.matrix import read_matrix
from netsim.traces.trace import DEFAULT_STREAM, ON_A_GROUP, OPERATIONS, ROOTED, WORLD, Group, Operation, Sizes, Trace

VERSION = 1
HEADER = '{"netsim": 1, "ranks": 16}'
HEADER_KEYS = ("netsim", "ranks", "groups", "name", "notes")
WHEN = ("op", "start", "stream", "after", "recorded")
KEYS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(ON_A_GROUP, (*WHEN, "algorithm", "group", "bytes", "dtype")),
    **dict.fromkeys(ROOTED, (*WHEN, "algorithm", "group", "bytes", "dtype", "root")),
    "all_to_all_v": (*WHEN, "algorithm", "group", "sizes", "dtype"),
    "barrier": (*WHEN, "algorithm", "group"),
    "send": (*WHEN, "algorithm", "src", "dst", "bytes", "dtype"),
    "flows": (*WHEN, "algorithm", "flows"),
    "compute": (*WHEN, "group", "ranks", "duration"),
}


def recognises(start: str) -> bool:
    """Tell whether a file that starts so is a native trace."""
    return start.lstrip("\ufeff \t\r\n").startswith("{") and '"netsim"' in start.lstrip().split("\n", 1)[0]


def read(paths: Sequence[Path]) -> Trace:
    """Read one native trace."""
    return _Reader(only_file(paths, "a native trace", "holds all ranks")).read()


class _Reader:
    """Reads one file; counts what it has taken in, so that a hostile file ends in a message."""

    def __init__(self, path: Path) -> None:
        self.path, self.parts, self.cells = path, 0, 0
        self.ranks, self.groups = 0, dict[str, Group]()

    def read(self) -> Trace:
        objects = self._objects()
        header = next(objects, None)
        if header is None:
            raise InputError("holds blank lines only", where=str(self.path), hint=f"the first line must be {HEADER}")
        name, notes = self._header(header[1])
        operations: list[Operation] = []
        for line, fields in objects:
            operations.append(self._operation(line, fields, len(operations)))
            self._count(fields, operations)
        return Trace(name, self.ranks, self.groups, tuple(operations), str(self.path), notes)

    def _objects(self) -> Iterator[tuple[int, Fields]]:
        for line, text in text_lines(self.path, MAX_LINE, MAX_LINES, "cut the trace into parts", errors="strict"):
            where = f"{self.path}:{line}"
            yield line, Fields(parse_object(text, where), where)

    def _header(self, fields: Fields) -> tuple[str, tuple[str, ...]]:
        if "netsim" not in fields:
            raise fields.wrong("the header is missing", f"the first line must be like {HEADER}")
        fields.only(HEADER_KEYS, "the header")
        if fields.values["netsim"] is True or fields.values["netsim"] != VERSION:
            found = shown(fields.values["netsim"])
            raise fields.wrong(f"version {found} of the format is unknown", f'write "netsim": {VERSION}')
        self.ranks = fields.whole("ranks", "16", 1, MAX_RANKS)
        groups = fields.values.get("groups", {})
        if not isinstance(groups, dict):
            raise fields.wrong('"groups" must be an object', 'write "groups": {"tp": [0, 1, 2, 3]}')
        self.groups = {WORLD: Group(WORLD, tuple(range(self.ranks)))}
        for name, listed in groups.items():
            self._group(fields, name, listed)
        name = fields.text("name", '"my job"') if "name" in fields else trace_name(self.path, ".jsonl")
        notes = fields.values.get("notes", [])
        if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
            raise fields.wrong('"notes" must be a list of texts', 'write "notes": ["..."]')
        return name, tuple(notes)

    def _group(self, fields: Fields, name: str, listed: object) -> None:
        fields.check_text(name, "a group's name", '"tp"')
        ranks = fields.ranks(listed, f"group {shown(name)}", self.ranks)
        if name == WORLD and ranks != self.groups[WORLD].ranks:
            raise fields.wrong(f'the group "{WORLD}" always holds all ranks in order', "choose another name for it")
        self.groups[name] = Group(name, ranks)
        self.parts += len(ranks)
        self._check_parts(fields)

    def _operation(self, line: int, fields: Fields, number: int) -> Operation:
        if "netsim" in fields:
            raise fields.wrong("a second header stands here", "keep one header: the first line")
        op = fields.text("op", '"all_reduce"')
        if op not in KEYS:
            raise fields.wrong(f"unknown operation {shown(op)}", nearest(op, OPERATIONS))
        fields.only(KEYS[op], op)
        what = self._who(fields, op)
        return Operation(op=op, line=line, **what, **_when(fields), after=_after(fields, number))

    def _count(self, fields: Fields, operations: list[Operation]) -> None:
        self.parts += len(operations[-1].ranks)
        self.cells += len(operations[-1].flows) + sum(map(len, operations[-1].sizes or ()))
        self.cells += sum(len(turn.after) for turn in operations[-1].turns) + len(operations[-1].after)
        self._check_parts(fields)
        if len(operations) > MAX_OPERATIONS or self.cells > MAX_CELLS:
            what = f"the trace holds more than {MAX_OPERATIONS:,} operations or {MAX_CELLS:,} flows and sizes"
            raise fields.wrong(what, "cut it into parts")

    def _check_parts(self, fields: Fields) -> None:
        if self.parts > MAX_PARTS:
            what = f"the operations and groups so far name more than {MAX_PARTS:,} ranks in all"
            raise fields.wrong(what, "cut the trace into parts")

    # --- who takes part, and with how much ----------------------------------------------------------------------------

    def _who(self, fields: Fields, op: str) -> dict[str, Any]:
        """Give the keyword arguments of Operation that belong to this kind of operation."""
        if op == "flows":
            return read_matrix(fields, self.ranks)
        if op == "send":
            src = fields.rank(fields.take("src", "0"), '"src"', self.ranks)
            dst = fields.rank(fields.take("dst", "1"), '"dst"', self.ranks)
            if src == dst:
                raise fields.wrong(f"a send goes from rank {src} to itself", "name two different ranks")
            ends = {"group": None, "ranks": (src, dst), "src": src, "dst": dst}
            return {**ends, "bytes": fields.size("bytes"), **_dtype(fields)}
        if op == "compute":
            return {**self._computing(fields), "duration_ps": fields.time("duration")}
        group = self._named(fields)
        return {"group": group.name, "ranks": group.ranks, **_dtype(fields), **_volume(fields, op, len(group.ranks))}

    def _named(self, fields: Fields) -> Group:
        name = fields.text("group", f'"{WORLD}"')
        if name not in self.groups:
            what = f"there is no group {shown(name)}"
            raise fields.wrong(what, f"{nearest(name, list(self.groups)[:100])} (groups stand in the header)")
        return self.groups[name]

    def _computing(self, fields: Fields) -> dict[str, Any]:
        if "group" in fields and "ranks" in fields:
            raise fields.wrong('both "group" and "ranks" are given', "keep one of them")
        if "group" in fields:
            group = self._named(fields)
            return {"group": group.name, "ranks": group.ranks}
        return {"group": None, "ranks": fields.ranks(fields.take("ranks", "[0, 1]"), '"ranks"', self.ranks)}


def _volume(fields: Fields, op: str, members: int) -> dict[str, Any]:
    if op == "barrier":
        return {}
    if op == "all_to_all_v":
        sizes = _sizes(fields, members)
        return {"sizes": sizes, "bytes": max(map(sum, sizes))}
    root = fields.whole("root", "0", 0, members - 1) if "root" in fields else 0
    return {"bytes": fields.size("bytes"), "root": root}


def _dtype(fields: Fields) -> dict[str, str]:
    return {"dtype": fields.text("dtype", '"bf16"')} if "dtype" in fields else {}


def _sizes(fields: Fields, members: int) -> Sizes:
    example = "[[0, 4096], [4096, 0]]"
    rows = fields.items("sizes", example, MAX_CELLS)
    if len(rows) != members or any(not isinstance(row, list) or len(row) != members for row in rows):
        what = f'"sizes" must be {members} rows of {members} sizes, one row for each member of the group'
        raise fields.wrong(what, f"for a group of two write {example}")
    return tuple(tuple(fields.check_size(size, "a size", "4096") for size in row) for row in rows)


def _when(fields: Fields) -> dict[str, Any]:
    """Read the keys that every operation may have."""
    recorded = fields.values.get("recorded", {})
    if not isinstance(recorded, dict):
        raise fields.wrong('"recorded" must be an object', 'write "recorded": {"start": "1ms", "duration": "20us"}')
    real = Fields(recorded, fields.where)
    real.only(("start", "duration"), '"recorded"')
    return {
        "start_ps": fields.time("start") if "start" in fields else 0,
        "algorithm": fields.text("algorithm", '"ring"') if "algorithm" in fields else None,
        "stream": fields.text("stream", '"copy"') if "stream" in fields else DEFAULT_STREAM,
        "recorded_start_ps": real.time("start") if "start" in real else None,
        "recorded_duration_ps": real.time("duration") if "duration" in real else None,
    }


def _after(fields: Fields, number: int) -> tuple[int, ...]:
    """Read which earlier operations the one of this number waits for."""
    if "after" not in fields:
        return ()
    listed = fields.items("after", "[0]", MAX_CELLS)
    if not number:
        raise fields.wrong("the first operation waits for another", 'take "after" out: it names earlier operations')
    name = 'an operation in "after" (they are counted from 0, and come earlier)'
    return tuple(fields.check_whole(each, name, "0", 0, number - 1) for each in listed)
