"""htsim's connection matrices (`.cm`): flows with a start time, and flows that a trigger starts.

The layout is that of csg-htsim's connection_matrix.cpp: `src->dst [id F] start PS | trigger T  size B
[send_done_trigger T] [recv_done_trigger T] [prio P]`, and `trigger id T oneshot | multishot | barrier [count C]`.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from netsim.errors import InputError, nearest
from netsim.traces.htsim.triggers import SHAPES, Triggers
from netsim.traces.input_files import only_file, trace_name
from netsim.traces.limits import MAX_BYTES, MAX_CELLS, MAX_LINES, MAX_RANKS
from netsim.traces.lines import is_whole, text_lines
from netsim.traces.matrix import check_waits, matrix
from netsim.traces.recognise import recogniser
from netsim.traces.trace import Flows, Operation, Trace, Turn

MAX_LINE = 1 << 12  # bytes; a flow takes a hundred
MAX_NUMBER = (1 << 62) - 1  # ids, and a start in ps
MAX_QUEUE_PAIRS = 1 << 10  # between two hosts; further flows share them
HEADER = ("Nodes", "Connections", "Triggers", "Failures")
FLOW_KEYS = ("id", "msg", "start", "trigger", "size", "send_done_trigger", "recv_done_trigger", "prio")
UNUSED = "flows have a prio, which is not used"
SHARED = f"flows share the {MAX_QUEUE_PAIRS:,} queue pairs between their two nodes"
EXAMPLE = "write for example 0->8 id 1 start 0 size 2000000"

_ENDS = re.compile(r"([0-9]+)->([0-9]+)")
_START_PS = re.compile(r"[0-9]{1,19}(?:\.[0-9]{0,19})?(?:e\+?[0-9]{1,2})?", re.IGNORECASE)
recognises = recogniser(r"\s*(?:#[^\n]*\n\s*)*(?:(?:Nodes|Connections|Triggers)[ \t]+\d|\d+->\d+[ \t])")


def read(paths: Sequence[Path]) -> Trace:
    """Read one connection matrix."""
    return _Reader(only_file(paths, "a connection matrix", "holds all flows")).read()


@dataclass(slots=True)
class _Flow:
    """A line of the matrix, as written."""

    line: int
    source: int
    target: int
    size: int
    start_ps: int
    queue_pair: int | None  # the id, where messages share one


class _Reader:
    """Reads one file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.header: dict[str, int] = {}
        self.flows: list[_Flow] = []
        self.triggers = Triggers(self._wrong)
        self.notes: Counter[str] = Counter()

    def read(self) -> Trace:
        for line, words in self._lines():
            self._take(line, words)
        ranks = self._check_header()
        flows: Flows = tuple((flow.source, flow.target, flow.size) for flow in self.flows)
        turns = [
            Turn(flow.start_ps, after, channel)
            for flow, after, channel in zip(self.flows, self.triggers.after(flows), self._channels(), strict=True)
        ]
        check_waits(flows, turns, self._name, lambda flow, what, hint: self._wrong(self.flows[flow].line, what, hint))
        operation = Operation("flows", **matrix(flows, turns))
        return Trace(trace_name(self.path, ".jsonl", ".cm"), ranks, {}, (operation,), str(self.path), self._told())

    def _name(self, flow: int) -> str:
        return f"the flow of line {self.flows[flow].line}"

    def _wrong(self, line: int, what: str, hint: str) -> InputError:
        return InputError(what, where=f"{self.path}:{line}" if line else str(self.path), hint=hint)

    # --- lines ------------------------------------------------------------------------------------------------------

    def _lines(self) -> Iterator[tuple[int, list[str]]]:
        for line, text in text_lines(self.path, MAX_LINE, MAX_LINES, "cut the matrix into parts"):
            if not text.startswith("#"):
                yield line, text.split()

    def _take(self, line: int, words: list[str]) -> None:
        if "->" in words[0]:
            self._flow(line, words)
        elif words[0] == "trigger":
            self._trigger(line, words)
        elif words[0] == "failure":
            hint = "take the failure lines and the header's Failures out"
            raise self._wrong(line, "failures are not simulated", hint)
        elif words[0] in HEADER:
            if words[0] in self.header or len(words) != 2:
                raise self._wrong(line, f"{words[0]} must stand once, with one number", "write for example Nodes 16")
            self.header[words[0]] = self._whole(line, words[0], words[1])
        else:
            known = (*HEADER, "trigger", "failure")
            raise self._wrong(line, f"a line cannot start with {words[0][:60]!r}", nearest(words[0][:60], known))

    def _flow(self, line: int, words: list[str]) -> None:
        ends = _ENDS.fullmatch(words[0])
        if not ends:
            raise self._wrong(line, f"{words[0][:60]!r} does not name two nodes", EXAMPLE)
        source, target = (self._whole(line, "a node", end) for end in ends.groups())
        if source == target:
            raise self._wrong(line, f"a flow goes from node {source} to itself", "name two different nodes")
        given = self._options(line, words[1:])
        if ("start" in given) == ("trigger" in given):
            what = "a flow has both a start and a trigger" if "start" in given else "a flow has no start and no trigger"
            raise self._wrong(line, what, "give one of them, as in start 0")
        if "size" not in given:
            raise self._wrong(line, "a flow has no size", EXAMPLE)
        if not 0 < given["size"] <= MAX_BYTES:
            what = f"a flow has size {given['size']}: to htsim a size of 0 means without end"
            raise self._wrong(line, what, f"give 1 to {MAX_BYTES:,} bytes")
        if len(self.flows) == MAX_CELLS:
            raise self._wrong(line, f"there are more than {MAX_CELLS:,} flows", "cut the matrix into parts")
        pair = given.get("id") if "msg" in given else None
        flow = _Flow(line, source, target, given["size"], given.get("start", 0), pair)
        self._tie(flow, given)
        self.flows.append(flow)

    def _tie(self, flow: _Flow, given: dict[str, int]) -> None:
        """Enter the flow with the trigger that starts it, and with those it fires."""
        number = len(self.flows)
        if "trigger" in given:
            self.triggers.named(flow.line, given["trigger"]).starts.append(number)
        for key, rank in (("send_done_trigger", flow.source), ("recv_done_trigger", flow.target)):
            if key in given:
                self.triggers.named(flow.line, given[key]).fired_by.append((number, rank))
        self.notes[UNUSED] += "prio" in given

    def _options(self, line: int, words: list[str]) -> dict[str, int]:
        """Read `key number` pairs; `msg` may stand without a number."""
        given: dict[str, int] = {}
        at = 0
        while at < len(words):
            key, value = words[at], words[at + 1] if at + 1 < len(words) else ""
            if key not in FLOW_KEYS:
                raise self._wrong(line, f"a flow has no key {key[:60]!r}", nearest(key[:60], FLOW_KEYS))
            if key in given:
                raise self._wrong(line, f"{key} stands here twice", "keep one of them")
            alone = key == "msg" and not is_whole(value)
            given[key] = 0 if alone else self._start(line, value) if key == "start" else self._whole(line, key, value)
            at += 1 if alone else 2
        return given

    def _trigger(self, line: int, words: list[str]) -> None:
        shapes = [word for word in words[1:] if word in SHAPES]
        rest = [word for word in words[1:] if word not in SHAPES]
        given = dict(zip(rest[::2], rest[1::2], strict=False))
        example = "write for example trigger id 1 barrier count 4"
        if len(shapes) != 1 or "id" not in given or len(rest) % 2 or not given.keys() <= {"id", "count"}:
            raise self._wrong(line, f"a trigger needs an id and one of {', '.join(SHAPES)}", example)
        count = self._whole(line, "count", given.get("count", "0"))
        self.triggers.describe(line, self._whole(line, "id", given["id"]), shapes[0], count)

    def _whole(self, line: int, name: str, text: str) -> int:
        if not is_whole(text) or int(text) > MAX_NUMBER:
            raise self._wrong(line, f"{name} must be a whole number, not {text[:60]!r}", EXAMPLE)
        return int(text)

    def _start(self, line: int, text: str) -> int:
        """A time in ps; htsim reads it as a fraction and cuts that off."""
        whole = is_whole(text)
        if not (whole or _START_PS.fullmatch(text)) or float(text) > MAX_NUMBER:
            what = f"start must be a time in picoseconds, not {text[:60]!r}"
            raise self._wrong(line, what, "write for example start 1000000 for 1 us")
        return int(text) if whole else int(float(text))

    # --- the whole --------------------------------------------------------------------------------------------------

    def _check_header(self) -> int:
        ranks = self.header.get("Nodes", 0)
        if not 0 < ranks <= MAX_RANKS:
            what = f"Nodes must be between 1 and {MAX_RANKS:,}" if "Nodes" in self.header else "there is no line Nodes"
            raise self._wrong(0, what, "start the file with a line like Nodes 16")
        if self.header.get("Failures", 0):
            raise self._wrong(0, "failures are not simulated", "set the header's Failures to 0")
        for name, found in (("Connections", len(self.flows)), ("Triggers", self.triggers.described)):
            if self.header.get(name, 0) != found:
                what = f"the header says {name} {self.header.get(name, 0)}, but {found} are there"
                raise self._wrong(0, what, "was the file cut? write the number that is there")
        if not self.flows:
            raise self._wrong(0, "there is no flow", EXAMPLE)
        for flow in self.flows:
            for node in (flow.source, flow.target):
                if node >= ranks:
                    what = f"node {node} is named, but the header says Nodes {ranks}"
                    raise self._wrong(flow.line, what, f"name nodes from 0 to {ranks - 1}")
        return ranks

    def _channels(self) -> list[int]:
        """A queue pair for each flow, as in htsim; messages of one id share theirs."""
        used: dict[tuple[int, int], int] = defaultdict(int)
        of_id: dict[tuple[int, int, int], int] = {}
        channels = []
        for flow in self.flows:
            ends = flow.source, flow.target
            key = None if flow.queue_pair is None else (*ends, flow.queue_pair)
            if key is None or key not in of_id:
                channel = used[ends] % MAX_QUEUE_PAIRS
                self.notes[SHARED] += used[ends] >= MAX_QUEUE_PAIRS
                used[ends] += 1
                if key is not None:
                    of_id[key] = channel
            channels.append(channel if key is None else of_id[key])
        return channels

    def _told(self) -> tuple[str, ...]:
        notes = self.triggers.notes + self.notes
        return tuple(f"{count:,} {text}" for text, count in notes.items())
