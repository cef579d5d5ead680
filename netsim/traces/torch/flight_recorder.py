"""PyTorch Flight Recorder dumps (JSON, or pickles of plain data): the last calls of each rank, one file for each.

The recorder is a ring: the oldest calls fall out, on each rank at another place. Calls are joined by the number that
their process group gives them.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from netsim.errors import InputError
from netsim.traces.json_stream import JsonWalk
from netsim.traces.limits import MAX_CALLS
from netsim.traces.lines import content, head
from netsim.traces.recognise import OBJECT, recogniser
from netsim.traces.torch import calls
from netsim.traces.torch.calls import RankCall, RankFile
from netsim.traces.torch.job import reader
from netsim.traces.torch.plain_pickle import load

MAX_PICKLE = 1 << 28  # bytes; a recorder of 100,000 calls with their stacks writes about 100 MB
PER_MS = 1_000_000_000  # picoseconds
SAME_NUMBER = 1 << 20  # calls of one group that share a number (coalesced ones)
RECORD = "run the job with TORCH_NCCL_TRACE_BUFFER_SIZE=20000 TORCH_NCCL_DUMP_ON_TIMEOUT=1"
TIMELESS = "times are of the calls, not of what ran (TORCH_NCCL_ENABLE_TIMING=1 tells that): no computing between"
MOST_SIZES = 1 << 12  # kinds of calls whose sizes are remembered, and characters of each
Sizes = tuple[int, int, str]  # what a call gives and gets, in bytes, and its type
_SHAPES = ("input_sizes", "input_dtypes", "output_sizes", "output_dtypes")
_ENDS = re.compile(r"(?:send|recv)[a-z_]* +([0-9]{1,6}) *(?:->|<-) *([0-9]{1,6})")
_PRINTED = re.compile(r'"process_group": ?\(|^ *\.\.\.', re.MULTILINE)
recognises = recogniser(
    OBJECT, r'"(?:collective_seq_id|profiling_name)"|"pg_config"(?s:.*)"(?:entries|pg_status)"|"entries"\s*:\s*\['
)


def recognises_bytes(start: bytes) -> bool:
    """Tell whether a file that starts so is a pickle that may be a dump."""
    return start[:1] == b"\x80" and start[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05") and start[2:3] in (b"}", b"\x95")


def scan(path: Path) -> RankFile:
    """Read one dump."""
    dump = _Dump(path)
    if head(path, 1) == b"\x80":
        dump.take_pickle(content(path, MAX_PICKLE, "dump as JSON, or with a smaller TORCH_NCCL_TRACE_BUFFER_SIZE"))
    else:
        dump.walk()
    if dump.recorded and all(each.duration_ps is None for each in dump.recorded):
        dump.assumed.append(TIMELESS)
    return dump


read = reader(scan, "entries of the flight recorder", "dump", RECORD, numbered=True)


@dataclass(slots=True, eq=False)
class _Dump(RankFile):
    """Collects the calls of one dump."""

    numbers: Counter[tuple[str, bool, int]] = field(default_factory=Counter)
    batches: dict[tuple[str, int], int] = field(default_factory=dict)
    known_sizes: dict[str, Sizes | None] = field(default_factory=dict)  # by how sizes and types are written

    def walk(self) -> None:
        """Take in a dump in JSON."""
        walk = JsonWalk(self.path, ("entries",))
        try:
            for key, value in walk:
                self._take(key, value, walk.line)
        except InputError as error:
            with self.path.open("rb") as raw:
                printed = _PRINTED.search(raw.read(1 << 16).decode("utf-8", errors="replace"))
            if printed:
                hint = "this is a dump as Python prints it: give the file itself, or torch's _dump_nccl_trace_json()"
                raise InputError(error.what, where=error.where, hint=hint) from None
            raise
        self.cut += walk.cut

    def take_pickle(self, data: bytes) -> None:
        """Take in a dump that is a pickle."""
        dump = load(data, str(self.path))
        if not isinstance(dump, dict) or not isinstance(dump.get("entries", []), list):
            what = "is a pickle, but not a dump of PyTorch's flight recorder"
            raise InputError(what, where=str(self.path), hint="give files that it wrote (nccl_trace_rank_0, ...)")
        self._take("pg_config", dump.get("pg_config"), 0)
        for number, entry in enumerate(dump.get("entries", [])):
            self._take("entries", entry, number + 1)

    def _take(self, key: str, value: object, line: int) -> None:
        if key == "pg_config" and isinstance(value, dict):
            for name, group in value.items():
                ranks = calls.rank_list(group.get("ranks")) if isinstance(group, dict) else None
                if ranks is not None:
                    self.groups.setdefault(str(group.get("name") or name), ranks)
        elif key == "entries" and isinstance(value, dict):
            self.events += 1
            self._entry(value, line)
            if self.events > MAX_CALLS:
                what = f"holds more than {MAX_CALLS:,} entries"
                raise InputError(what, where=f"{self.path}:{line}", hint="give a smaller dump")

    def _entry(self, entry: dict[str, Any], line: int) -> None:
        name, group = entry.get("profiling_name"), entry.get("process_group")
        if not isinstance(name, str) or not isinstance(group, list | tuple) or not group:
            self.skipped["entries without a name or a group"] += 1
            return
        op = calls.operation_of(name.split(" ")[0])
        if op is None:
            self.skipped["entries of no operation" if not calls.no_traffic(name) else "entries that end a group"] += 1
            return
        sizes = self._known_sizes(entry, line)
        if sizes is None:
            self.skipped["entries without sizes"] += 1
            return
        sent, received, dtype = sizes
        recorded = RankCall(op, str(group[0]), sent, received, dtype, line, self.events)
        self._number(recorded, entry, name)
        recorded.start_ps = calls.picoseconds(entry.get("time_created_ns"), calls.PS_PER_NS)
        took = calls.picoseconds(entry.get("duration_ms"), PER_MS)
        recorded.duration_ps = took if took and took > 0 else None
        self.recorded.append(recorded)

    def _known_sizes(self, entry: dict[str, Any], line: int) -> Sizes | None:
        """The same, once for all entries that tell the same."""
        recorded = repr([entry.get(name) for name in _SHAPES])
        if recorded not in self.known_sizes:
            if len(self.known_sizes) > MOST_SIZES or len(recorded) > MOST_SIZES:
                return self._sizes(entry, line)
            self.known_sizes[recorded] = self._sizes(entry, line)
        return self.known_sizes[recorded]

    def _sizes(self, entry: dict[str, Any], line: int) -> Sizes | None:
        """What the call gives and gets, in bytes, and its type."""
        found: list[int] = []
        types: list[str] = []
        for side in ("input", "output"):
            shapes, names = entry.get(f"{side}_sizes"), entry.get(f"{side}_dtypes")
            if not isinstance(shapes, list | tuple) or not isinstance(names, list | tuple):
                return None
            total = 0
            for number, shape in enumerate(shapes):
                count = calls.elements([shape])
                name = names[min(number, len(names) - 1)] if names else None
                if count is None or not isinstance(name, str):
                    return None
                dtype, width = self.type_of(name, line)
                types.append(dtype)
                total += count * width
            found.append(total)
        return found[0], found[1], types[0] if types else ""

    def _number(self, recorded: RankCall, entry: dict[str, Any], name: str) -> None:
        """Give a call its number in its group; calls that share one are counted."""
        transfer = recorded.op in ("send", "recv")
        seq = calls.whole(entry.get("p2p_seq_id" if transfer else "collective_seq_id")) or 0
        key = (recorded.group, transfer, seq)
        recorded.seq = seq * SAME_NUMBER + self.numbers[key]
        self.numbers[key] += 1
        if transfer:
            recorded.batch = self.batches.setdefault((recorded.group, seq), len(self.batches))
            ends = _ENDS.search(name)
            recorded.peer = int(ends[2]) if ends else -1
