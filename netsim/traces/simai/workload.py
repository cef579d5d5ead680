"""SimAI and AICB workloads in text: layers with times and collectives, from which one training step follows."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from netsim.errors import InputError, nearest
from netsim.traces.input_files import only_file, trace_name
from netsim.traces.limits import MAX_BYTES, MAX_OPERATIONS, MAX_PARTS
from netsim.traces.lines import is_whole, text_lines
from netsim.traces.read_report import ReadReport
from netsim.traces.recognise import recogniser
from netsim.traces.simai.parallel import LAYOUT, SERVER, ParallelLayout
from netsim.traces.trace import WORLD, Group, Operation, Trace

MAX_LINE = 1 << 14
MOST_PHASES = 1 << 12  # remembered at a time
MAX_NS = 10**15
PS_PER_NS = 1000
COLUMNS = 12
GRADIENTS = "weight_gradient"  # the stream of collectives that the backward pass does not wait for
HYBRID, MICRO = "HYBRID_TRANSFORMER_FWD_IN_BCKWD", "MICRO"
OPS = {
    "NONE": "",
    "ALLREDUCE": "all_reduce",
    "ALLGATHER": "all_gather",
    "REDUCESCATTER": "reduce_scatter",
    "ALLTOALL": "all_to_all",
    "BROADCAST": "broadcast",
}
SUFFIXES = {"_DP_EP": "dp_ep", "_EP": "ep"}
EXAMPLE = "a row is: name, -1, then time type bytes three times (forward, input and weight gradient), and a time"
STEP = "one training step: forward through the rows, then backward, where weight gradients overlap what follows"
recognises = recogniser(rf"\s*(?:{HYBRID}\w*|{MICRO}|HYBRID_TRANSFORMER|DATA|MODEL)\b[^\n]*\n\s*\d+\s*(?:\n|$)")


@dataclass(frozen=True, slots=True)
class Phase:
    """One third of a row: a computation, and the collective after it."""

    duration_ps: int
    op: str
    kind: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Row:
    """A layer."""

    line: int
    forward: Phase
    inputs: Phase
    weights: Phase
    update_ps: int


def read(paths: Sequence[Path]) -> Trace:
    """Read one workload."""
    return _Reader(only_file(paths, "a SimAI workload", "stands for all ranks")).read()


class _Reader:
    """Reads one file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.assumed: list[str] = []
        self.operations: list[Operation] = []
        self.groups: dict[str, Group] = {}
        self.phases: dict[tuple[str, ...], Phase] = {}  # by how they are written: layers are alike
        self.kinds: dict[str, list[Group]] = {}
        self.everybody: tuple[int, ...] = ()

    def wrong(self, line: int, what: str, hint: str) -> InputError:
        return InputError(what, where=f"{self.path}:{line}", hint=hint)

    def read(self) -> Trace:
        lines = self._lines()
        first = next(lines, (1, ["?"]))
        self.layout = self._header(first[1])
        self.everybody = tuple(range(self.layout.ranks))
        line, count = next(lines, (2, []))
        rows = [self._row(at, words) for at, words in lines]
        declared = self._whole(line, "the number of rows", count[0] if len(count) == 1 else "?")
        if declared != len(rows):
            what = f"says {declared:,} rows, but {len(rows):,} are there"
            raise self.wrong(line, what, "was the file cut? write the number that is there")
        self._check_size(rows, micro=first[1][0] == MICRO)
        self._step(rows, micro=first[1][0] == MICRO)
        name = trace_name(self.path, ".txt")
        notes = tuple(self.assumed)
        report = ReadReport(lines=len(rows) + 2, records=len(rows), assumed=notes)
        return Trace(name, self.layout.ranks, self.groups, tuple(self.operations), str(self.path), notes, report)

    def _lines(self) -> Iterator[tuple[int, list[str]]]:
        for line, text in text_lines(self.path, MAX_LINE, MAX_OPERATIONS, "cut the workload into parts"):
            yield line, text.split()

    def _header(self, words: list[str]) -> ParallelLayout:
        if words[0] not in (HYBRID, MICRO):
            hint = f"only {HYBRID} and {MICRO} say in which order their rows run"
            raise self.wrong(1, f"the parallelism {words[0][:60]!r} is not known", hint)
        given: dict[str, int] = {}
        for key, value in pairwise(words[1:]):
            if key.endswith(":"):
                given[key[:-1]] = self._whole(1, key[:-1], value)
        tensor, pipeline = given.get("model_parallel_NPU_group", 1), given.get("pp", 1)
        expert, ranks = given.get("ep", 1), given.get("all_gpus", 0)
        if not ranks:
            ranks = max(1, tensor * pipeline) * max(1, expert)
            ranks = ranks if ranks >= SERVER else SERVER
            self.assumed.append(f"{ranks} GPUs: the file does not say how many; write all_gpus: N in its first line")
        if pipeline > 1:
            size = f" of {given['pp_comm']:,} bytes" if "pp_comm" in given else ""
            self.assumed.append(f"the sends between pipeline stages{size} are not in the rows: left out")
        self.assumed.append(LAYOUT)
        return ParallelLayout(ranks, tensor, expert, pipeline).check(f"{self.path}:1")

    def _row(self, line: int, words: list[str]) -> Row:
        if len(words) < COLUMNS:
            raise self.wrong(line, f"has {len(words)} columns, not {COLUMNS}", EXAMPLE)
        forward, inputs = (self._phase(line, words[at : at + 3], "tp") for at in (2, 5))
        return Row(line, forward, inputs, self._phase(line, words[8:11], "dp"), self._time(line, words[11]))

    def _phase(self, line: int, words: list[str], default: str) -> Phase:
        written = (*words, default)
        known = self.phases.get(written)
        if known is None:
            known = self._new_phase(line, words, default)
            if len(self.phases) < MOST_PHASES:
                self.phases[written] = known
        return known

    def _new_phase(self, line: int, words: list[str], default: str) -> Phase:
        time, name, size = words
        suffix = next((each for each in SUFFIXES if name.endswith(each)), "")
        op = OPS.get(name.removesuffix(suffix))
        if op is None:
            hint = nearest(name[:60], [each + end for each in OPS for end in ("", *SUFFIXES)])
            raise self.wrong(line, f"the collective {name[:60]!r} is not known", hint)
        number = self._whole(line, "a size", size)
        if number > MAX_BYTES:
            raise self.wrong(line, f"a size is {number:,}", f"give 0 to {MAX_BYTES:,} bytes")
        return Phase(self._time(line, time), op, SUFFIXES.get(suffix, default), number)

    def _time(self, line: int, text: str) -> int:
        number = self._whole(line, "a time in ns", text)
        if number > MAX_NS:
            raise self.wrong(line, f"a time is {number:,} ns", f"give 0 to {MAX_NS:,}")
        return number * PS_PER_NS

    def _whole(self, line: int, name: str, text: str) -> int:
        if not is_whole(text):
            raise self.wrong(line, f"{name} must be a whole number, not {text[:60]!r}", EXAMPLE)
        return int(text)

    # --- the step ---------------------------------------------------------------------------------------------------

    def _step(self, rows: list[Row], *, micro: bool) -> None:
        if micro:
            for row in rows:
                for phase in (row.forward, row.inputs, row.weights):
                    self._phase_of(row, phase, WORLD)
            return
        self.assumed.append(STEP)
        for row in rows:
            self._phase_of(row, row.forward, row.forward.kind)
        for row in reversed(rows):
            self._phase_of(row, row.inputs, row.inputs.kind)
            self._phase_of(row, row.weights, row.weights.kind, overlaps=True)
        self._compute(rows[-1].line if rows else 0, sum(row.update_ps for row in rows))

    def _check_size(self, rows: list[Row], *, micro: bool) -> None:
        """Refuse what makes too many operations, before it does: every rank's part in each is one."""
        phases = [phase for row in rows for phase in (row.forward, row.inputs, row.weights)]
        calls = Counter(WORLD if micro else phase.kind for phase in phases if phase.op)
        waited = sum(bool(row.weights.op and not row.weights.duration_ps) for row in rows if not micro)
        computes = 1 + waited + sum(bool(phase.duration_ps) for phase in phases)
        operations = computes + sum(times * len(self._groups_of(kind)) for kind, times in calls.items())
        parts, layout = (computes + calls.total()) * self.layout.ranks, self.layout
        most = max(operations / MAX_OPERATIONS, parts / MAX_PARTS)
        if most <= 1:
            return
        replica = layout.tensor * layout.pipeline * layout.expert
        fitting = int(layout.ranks / most) // replica * replica
        what = (
            f"{len(rows):,} rows on {layout.ranks:,} GPUs make {operations:,} operations with {parts:,} ranks in them"
        )
        limit = f"{what}, above the limits of {MAX_OPERATIONS:,} and {MAX_PARTS:,}"
        hint = "take fewer rows, and write their number into line 2"
        if fitting:
            hint = f"write all_gpus: {fitting} into line 1 (the data-parallel replicas left out do the same), or {hint}"
        raise self.wrong(1, limit, hint)

    def _phase_of(self, row: Row, phase: Phase, kind: str, *, overlaps: bool = False) -> None:
        waits = self._compute(row.line, phase.duration_ps, needed=overlaps and bool(phase.op))
        for group in self._groups_of(kind) if phase.op else ():
            if group.name != WORLD:
                self.groups[group.name] = group
            more = {"stream": GRADIENTS, "after": waits} if overlaps else {}
            operation = Operation(phase.op, group.name, group.ranks, phase.bytes, line=row.line, **more)  # type: ignore[arg-type]
            self.operations.append(operation)

    def _groups_of(self, kind: str) -> list[Group]:
        if kind not in self.kinds:
            self.kinds[kind] = self.layout.groups(kind)
        return self.kinds[kind]

    def _compute(self, line: int, duration_ps: int, *, needed: bool = False) -> tuple[int, ...]:
        """All ranks compute; the number of that operation, or nothing where there is nothing to do."""
        if not (duration_ps or needed):
            return ()
        self.operations.append(Operation("compute", WORLD, self.everybody, duration_ps=duration_ps, line=line))
        return (len(self.operations) - 1,)
