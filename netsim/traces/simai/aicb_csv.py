"""AICB's tables of collectives (CSV): what one rank calls, and with --elapsed times of a real run."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from netsim.errors import InputError, nearest
from netsim.traces.input_files import only_file, trace_name
from netsim.traces.limits import MAX_BYTES, MAX_OPERATIONS, MAX_PARTS
from netsim.traces.lines import is_whole, text_lines
from netsim.traces.read_report import ReadReport
from netsim.traces.recognise import recogniser
from netsim.traces.simai.parallel import LAYOUT, SERVER, ParallelLayout
from netsim.traces.trace import ON_A_GROUP, ROOTED, WORLD, Group, Operation, Trace

MAX_LINE = 1 << 14
PS_PER_MS = 10**9
MAX_MS = 10**9
MUST = ("comm_type", "comm_group", "comm_group_size", "msg_size")
OPS = tuple(op for op in ON_A_GROUP if op != "all_to_all_v")
MARKS = {
    "epoch_end": "marks of an epoch's end",
    "isend": "sends of one rank, whose receiver's side is not in the file",
    "irecv": "receives of one rank, whose sender's side is not in the file",
}
KINDS = {"dp_group": "dp", "tp_group": "tp", "ep_group": "ep", "pp_group": "pp", "all": WORLD}
NO_SIZE = "rows without a size"
NO_GROUP_SIZE = "rows do not say how large their group is: as large as others of its kind"
HEADER = "comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,_elapsed_time,algbw,busbw,count"
_RANKS = re.compile(r"\[rank(\d{1,9}) ~ rank(\d{1,9})\]")

Cells = dict[str, str]
recognises = recogniser(r"\s*(?:\[rank\d+ ~ rank\d+\]\s*\n\s*)?comm_type,comm_group,")


def read(paths: Sequence[Path]) -> Trace:
    """Read one table; all ranks do what it says, each in its own groups."""
    return _Reader(only_file(paths, "an AICB table", "stands for all ranks")).read()


class _Reader:
    """Reads one file: all rows first, since the sizes of groups stand in them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.ranks = 0
        self.rows: list[tuple[int, Cells]] = []
        self.skipped: Counter[str] = Counter()
        self.notes: Counter[str] = Counter()
        self.assumed: list[str] = []

    def wrong(self, line: int, what: str, hint: str) -> InputError:
        return InputError(what, where=f"{self.path}:{line}", hint=hint)

    def read(self) -> Trace:
        self.rows = list(self._rows())
        layout = self._layout()
        groups = {kind: layout.groups(kind) for kind in ("tp", "dp", "ep", "pp", WORLD)}
        operations: list[Operation] = []
        parts = 0
        for line, cells in self.rows:
            for operation in self._operations(line, cells, groups):
                operations.append(operation)
                parts += len(operation.ranks)
            if len(operations) > MAX_OPERATIONS or parts > MAX_PARTS:
                what = f"more than {MAX_OPERATIONS:,} operations or {MAX_PARTS:,} parts of ranks in them"
                hint = "cut it into parts, or take a table of fewer GPUs: replicas do the same"
                raise self.wrong(line, f"the table makes {what}", hint)
        used = {each.group for each in operations}
        named = {each.name: each for listed in groups.values() for each in listed if each.name in used - {WORLD}}
        recorded = tuple(f"{count:,} {what}" for what, count in self.notes.items() if count)
        skipped = tuple(f"{count:,} {what}: skipped" for what, count in self.skipped.items())
        report = ReadReport(
            lines=len(self.rows),
            records=len(self.rows) - sum(self.skipped.values()),
            skipped=dict(self.skipped),
            assumed=tuple(self.assumed),
            findings=recorded,
        )
        name = trace_name(self.path, ".csv")
        notes = (*self.assumed, *recorded, *skipped)
        return Trace(name, layout.ranks, named, tuple(operations), str(self.path), notes, report)

    def _rows(self) -> Iterator[tuple[int, Cells]]:
        names: list[str] = []
        least = 0  # columns that a row must have: up to the last that is needed
        for line, given in text_lines(self.path, MAX_LINE, MAX_OPERATIONS, "cut the table into parts"):
            text = given.replace("\0", "")
            if not text or (match := _RANKS.fullmatch(text)):
                self.ranks = int(match[2]) - int(match[1]) + 1 if text and match else self.ranks
                continue
            cells = self._cells(line, text)
            if not names:
                names = cells
                if any(each not in names for each in MUST):
                    raise self.wrong(line, "the header is not one of AICB", f"write {HEADER}")
                least = 1 + max(names.index(each) for each in MUST)
            elif len(cells) < least:
                raise self.wrong(line, f"has {len(cells)} columns", "was the file cut? take the line out")
            else:
                yield line, dict(zip(names, cells, strict=False))

    def _cells(self, line: int, text: str) -> list[str]:
        try:
            return [each.strip() for each in next(csv.reader([text]))]
        except csv.Error as error:
            raise self.wrong(line, f"is no row of a table ({error})", "take the line out") from None

    def _layout(self) -> ParallelLayout:
        """How the ranks are laid out, from the sizes of groups and the line [rank0 ~ rank127]."""
        sizes: dict[str, int] = {}
        for line, cells in self.rows:
            kind, given = KINDS.get(cells["comm_group"].removeprefix("CommGroup.")), cells["comm_group_size"]
            if kind is None or given in ("None", ""):
                continue
            size = self._whole(line, "comm_group_size", given)
            if sizes.setdefault(kind, size) != size:
                what = f"gives {kind} groups of {size}, an earlier row {sizes[kind]}"
                raise self.wrong(line, what, "a job has groups of one size of each kind")
        tensor, pipeline = max(sizes.get("tp", 1), 1), max(sizes.get("pp", 1), 1)
        ranks = self.ranks or sizes.get(WORLD, 0) or tensor * pipeline * sizes.get("dp", 1)
        if not self.ranks and WORLD not in sizes and "dp" not in sizes:
            ranks = max(ranks, SERVER)
        if not self.ranks:
            self.assumed.append(f"{ranks} ranks: the file does not say; write a first line [rank0 ~ rank{ranks - 1}]")
        self.assumed.append(LAYOUT)
        data = max(ranks // (tensor * pipeline), 1)
        if "ep" not in sizes and any(cells["comm_group"].endswith("ep_group") for _, cells in self.rows):
            as_many = "as many as there are data-parallel ones"
            self.assumed.append(f"expert groups have {data} ranks, {as_many}: no row says")
        return ParallelLayout(ranks, tensor, sizes.get("ep", data), pipeline).check(str(self.path))

    def _operations(self, line: int, cells: Cells, groups: dict[str, list[Group]]) -> Iterator[Operation]:
        op = cells["comm_type"].removeprefix("CommType.")
        if op in MARKS:
            self.skipped[MARKS[op]] += 1
            return
        elapsed = self._elapsed(line, cells)
        if op == "computation":
            everybody = groups[WORLD][0].ranks
            yield Operation("compute", WORLD, everybody, duration_ps=elapsed or 0, line=line)
            return
        if op not in OPS:
            known = nearest(op[:60], (*OPS, *MARKS, "computation"))
            raise self.wrong(line, f"the comm_type {op[:60]!r} is not known", known)
        name = cells["comm_group"].removeprefix("CommGroup.")[:60]
        kind = KINDS.get(name)
        if kind is None:
            raise self.wrong(line, f"the comm_group {name!r} is not known", nearest(name, KINDS))
        size = 0 if op == "barrier" else self._size(line, cells)
        if size is None:
            self.skipped[NO_SIZE] += 1
            return
        self.notes[NO_GROUP_SIZE] += cells["comm_group_size"] == "None"
        for group in groups[kind]:
            root = self._root(cells, len(group.ranks)) if op in ROOTED else 0
            yield Operation(op, group.name, group.ranks, size, root=root, recorded_duration_ps=elapsed, line=line)

    def _size(self, line: int, cells: Cells) -> int | None:
        if cells["msg_size"] in ("None", ""):
            return None
        size = self._whole(line, "msg_size", cells["msg_size"])
        if size > MAX_BYTES:
            raise self.wrong(line, f"msg_size is {size:,}", f"give 0 to {MAX_BYTES:,} bytes")
        return size

    def _whole(self, line: int, name: str, text: str) -> int:
        text = text.removesuffix(".0")
        if not is_whole(text):
            raise self.wrong(line, f"{name} must be a whole number, not {text[:60]!r}", "or None where it is not known")
        return int(text)

    def _root(self, cells: Cells, members: int) -> int:
        source = cells.get("src", "")
        return int(source) if is_whole(source, 8) and int(source) < members else 0

    def _elapsed(self, line: int, cells: Cells) -> int | None:
        """The time of a real run in ps; it stands there in milliseconds."""
        text = cells.get("_elapsed_time", "")
        if text in ("None", ""):
            return None
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0 <= value <= MAX_MS:
            raise self.wrong(line, f"_elapsed_time is {text[:60]!r}", "give milliseconds, or None")
        return round(value * PS_PER_MS)
