"""Recorded times of the ranks -> one clock, when each operation ran, and the computing between operations.

A collective's kernel runs on each rank from when that rank is ready until all are done: the shortest of the ranks'
durations is the communication, what the others took longer was waiting. Clocks of hosts differ; they are set by the
ends of the collectives that ranks share, which come at nearly the same moment.
"""

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from statistics import median_low
from typing import Any, NamedTuple

from netsim.traces.joining.order import AnyStep
from netsim.traces.joining.uniform_runs import AlikeStep
from netsim.traces.trace import Operation

MAX_SPAN_PS = 1 << 62  # 53 days: what a job's clock may count
TOGETHER = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "all_to_all_v", "barrier")
COMPARED = 64  # shared collectives of two ranks by which their clocks are set


class Spell(NamedTuple):
    """When one rank took part in one operation: from when it was ready, to its end where that is recorded."""

    start_ps: int
    end_ps: int | None


@dataclass(slots=True)
class Timeline:
    """The spells of each step by rank, on one clock that is 0 where the first of them starts."""

    spells: list[dict[int, Spell]]
    durations: list[int | None]
    assumed: list[str] = field(default_factory=list)

    def recorded(self, number: int) -> dict[str, Any]:
        """Say when a step ran, and how long: the keyword arguments of Operation that hold it."""
        recorded: dict[str, Any] = {}
        if self.spells[number]:
            # The last to come waits for nobody.
            recorded["recorded_start_ps"] = max(spell.start_ps for spell in self.spells[number].values())
        took = self.durations[number]
        if took is not None:
            recorded["recorded_duration_ps"] = took
        return recorded


def timeline(steps: Sequence[AnyStep]) -> Timeline:
    """Read the times that the calls of the steps hold; empty spells where they hold none."""
    if not any(_is_timed(step) for step in steps):
        return Timeline([{} for _ in steps], [None for _ in steps], [])
    spells = [_spells(step) for step in steps]
    durations = [_duration(step, its) for step, its in zip(steps, spells, strict=True)]
    assumed = []
    if any(took is not None for took in durations):
        assumed = ["the shortest of the ranks' durations of an operation is taken as its own, the rest as waiting"]
    if not any(spells):
        return Timeline(spells, durations, assumed)
    clocks = _clocks(steps, spells)
    first = min(spell.start_ps + clocks[rank] for each in spells for rank, spell in each.items())
    moved = [{rank: _moved(spell, clocks[rank] - first) for rank, spell in each.items()} for each in spells]
    last = max(spell.end_ps or spell.start_ps for each in moved for spell in each.values())
    if last > MAX_SPAN_PS:
        assumed.append(f"recorded times span {last / 8.64e16:,.0f} days: they are not used")
        return Timeline([{} for _ in steps], durations, assumed)
    most = max(clocks.values()) - min(clocks.values())
    if most:
        assumed.append(f"clocks of ranks differ by up to {most / 1e6:,.0f} us: set by the ends of shared collectives")
    return Timeline(moved, durations, assumed)


def computing(
    steps: Sequence[AnyStep], streams: Sequence[str], timeline: Timeline, *, everyone: bool
) -> list[list[Operation]]:
    """For each step the computing of its ranks before it: the time since what they did before it on its stream.

    With `everyone`, ranks that report nothing compute as long as the first one that does.
    """
    if not any(timeline.spells):
        return [[] for _ in steps]
    ended: dict[tuple[int, str], int | None] = {}
    before = []
    for step, stream, spells in zip(steps, streams, timeline.spells, strict=True):
        gaps: dict[int, int] = {}
        for rank, spell in sorted(spells.items()):
            # A source that tells no ends tells when calls were made, not when they ran.
            end = ended.get((rank, stream), None if spell.end_ps is None else 0)
            gaps[rank] = max(0, spell.start_ps - end) if end is not None else 0
            ended[rank, stream] = spell.end_ps
        if everyone and gaps:
            gaps = {rank: gaps.get(rank, gaps[min(gaps)]) for rank in step.ranks}
        uniform: dict[int, list[int]] = defaultdict(list)
        for rank, gap in sorted(gaps.items()):
            uniform[gap].append(rank)
        before.append(
            [
                Operation("compute", None, tuple(ranks), duration_ps=gap, stream=stream, line=step.operation.line)
                for gap, ranks in sorted(uniform.items(), key=lambda each: each[1])
                if gap
            ]
        )
    return before


def _is_timed(step: AnyStep) -> bool:
    calls = () if isinstance(step, AlikeStep) else chain.from_iterable(step.calls.values())
    return any(call.start_ps is not None or call.duration_ps is not None for call in calls)


def _spells(step: AnyStep) -> dict[int, Spell]:
    spells = {}
    for rank, calls in step.calls.items():
        starts = [call.start_ps for call in calls if call.start_ps is not None]
        ends = [
            call.start_ps + call.duration_ps
            for call in calls
            if call.start_ps is not None and call.duration_ps is not None
        ]
        if starts:
            spells[rank] = Spell(min(starts), max(ends) if len(ends) == len(starts) else None)
    return spells


def _duration(step: AnyStep, spells: dict[int, Spell]) -> int | None:
    """The shortest time that a rank took for it: from its first call's start to its last call's end, where told."""
    took = [spell.end_ps - spell.start_ps for spell in spells.values() if spell.end_ps is not None]
    for calls in step.calls.values():
        alone = [call.duration_ps for call in calls if call.duration_ps is not None and call.start_ps is None]
        took += [max(alone)] if len(alone) == len(calls) else []
    return min((each for each in took if each <= MAX_SPAN_PS), default=None)


def _moved(spell: Spell, by: int) -> Spell:
    return Spell(spell.start_ps + by, None if spell.end_ps is None else spell.end_ps + by)


def _clocks(steps: Sequence[AnyStep], spells: list[dict[int, Spell]]) -> dict[int, int]:
    """What to add to the times of each rank, so that collectives end together."""
    apart: dict[int, dict[int, list[int]]] = defaultdict(dict)
    for step, each in zip(steps, spells, strict=True):
        ended = [(rank, spell.end_ps) for rank, spell in sorted(each.items()) if spell.end_ps is not None]
        if step.operation.op in TOGETHER and len(ended) > 1:
            (one, end), *others = ended
            for other, its_end in others:
                seen = apart[one].setdefault(other, [])
                if len(seen) < COMPARED:
                    seen.append(end - its_end)
    links: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for one, those in apart.items():
        for other, seen in those.items():
            links[one].append((other, median_low(seen)))
            links[other].append((one, -median_low(seen)))
    return _walked(links, sorted({rank for each in spells for rank in each}))


def _walked(links: dict[int, list[tuple[int, int]]], ranks: list[int]) -> dict[int, int]:
    """Set the clocks one after another, from the first rank on; ranks that share nothing keep theirs."""
    clocks: dict[int, int] = {}
    for rank in ranks:
        if rank in clocks:
            continue
        clocks[rank], reached = 0, deque([rank])
        while reached:
            one = reached.popleft()
            for other, apart in links[one]:
                if other not in clocks:
                    clocks[other] = clocks[one] + apart
                    reached.append(other)
    return clocks
