"""explain(scenario): why each collective took as long as it did, found on its critical path through the packets.

The scenario is simulated once more with a packet tracer: equal scenarios give equal results, so what it says holds for
the saved run. What is kept of packets at a time is bounded: above MANY_ROWS, collectives that have ended are
explained and what only they need is forgotten. Where collectives under way need more than MOST_ROWS, the scenario is
simulated several times more, and each time the packets are kept that a part of the explanation needs (multi_pass.py).
"""

from dataclasses import dataclass

import numpy as np

from netsim.config.limits import NO_LIMITS
from netsim.config.scenario import Scenario
from netsim.core.observe.packet_tracer import PacketTracer
from netsim.core.state.world import World
from netsim.explain.alternatives import Alternatives
from netsim.explain.causes import Causes
from netsim.explain.explanation import Attribution, Explained, explained, together
from netsim.explain.line import Lines
from netsim.explain.message_timelines import Timelines
from netsim.explain.path import KINDS, Path
from netsim.explain.saved import check_known, check_same
from netsim.explain.trace_columns import Rows
from netsim.explain.traffic import Traffic
from netsim.result import Result
from netsim.simulation import Progress, check, run
from netsim.simulation.fabric import ActiveCollective, Fabric

__all__ = ["KINDS", "Attribution", "Explained", "explain", "explain_saved", "together"]

MOST_ROWS = 1 << 24  # packets at queues that may be needed at a time; with their indexes about 2 GB
MANY_ROWS = 1 << 22  # above so many, those that are not needed are forgotten


def explain(
    scenario: Scenario,
    *,
    collective: int | None = None,
    many_rows: int = MANY_ROWS,
    most_rows: int = MOST_ROWS,
    progress: Progress | None = None,
) -> list[Explained]:
    """Simulate a scenario again and explain its collectives, in order of their ids; or only the one with that id.

    many_rows, most_rows: rows of the packet trace (a packet at a queue) above which what has ended is explained, and
    what only that needs is forgotten; and that may be kept. Raises RunError where critical paths alone need more.
    """
    check(scenario)
    progress = _adding_up(progress)
    found, is_all = _at_once(scenario, collective, many_rows, most_rows, progress)
    if not is_all:
        from netsim.explain.multi_pass import Passes, player  # most runs never need its kernels

        done, play = {each.number for each in found}, player(scenario, progress)
        found += Passes(play, scenario.routing.kind, collective, done, most_rows).explained()
    return sorted(found, key=lambda each: each.number)


def _adding_up(progress: Progress | None) -> Progress | None:
    """The same, but for packet hops, which go on where a run ends and the next begins."""
    before = newest = 0

    def tell(now_ps: int, done: float, total: int, packet_hops: int) -> None:
        nonlocal before, newest
        if packet_hops < newest:
            before += newest
        newest = packet_hops
        assert progress is not None
        progress(now_ps, done, total, before + packet_hops)

    return tell if progress else None


class _TooMany(Exception):  # noqa: N818 - no error: another way is taken
    """Collectives under way have more packets than may be kept."""


def _at_once(
    scenario: Scenario, collective: int | None, many_rows: int, most_rows: int, progress: Progress | None
) -> tuple[list[Explained], bool]:
    """Explain in one run what it can; and whether that is all."""
    reader = _Reader(scenario, collective, many_rows, most_rows)
    try:
        run(scenario, None, NO_LIMITS, progress, reader.watch)
        reader.finish()
    except _TooMany:
        return reader.found, False
    return reader.found, True


def explain_saved(
    result: Result, *, collective: int | None = None, progress: Progress | None = None
) -> list[Explained]:
    """Explain the collectives of a saved result; InputError where it had none of that id, or now takes other times."""
    check_known(result, collective)
    found = explain(result.scenario, collective=collective, progress=progress)
    check_same(result, {each.number: each.time_ps for each in found}, "explain")
    return found


@dataclass(eq=False)
class _Reader:
    """Explains collectives that have ended, whenever more of the packet trace is kept than may be, and at the end."""

    scenario: Scenario
    only: int | None
    many_rows: int
    most_rows: int

    def watch(self, fabric: Fabric) -> None:
        """Be there when it begins."""
        self.fabric, self.found = fabric, list[Explained]()
        self.alternatives = Alternatives(fabric.network)
        self.tracer = PacketTracer(self.many_rows, self.make_room)
        self._is_open: set[int] = set()
        self._next = 0  # collectives before this one are explained, or open
        fabric.watch(self.tracer)

    def finish(self) -> None:
        """All has ended: explain the rest."""
        self.tracer.take(self.fabric.world, at_end=True)
        self._explain_ended()

    def make_room(self, world: World) -> None:
        """Explain what has ended; keep what those under way need. _TooMany if that is too much."""
        self._explain_ended()
        needed = self._needed_from()
        for each in self.fabric.carried:
            if each.end_ps is None or each.end_ps < needed:
                each.timeline = None
        kept = [
            segment[np.maximum(segment["came_at"], segment["began_at"]) >= needed] for segment in self.tracer.chunks
        ]
        self.tracer.keep(kept, until=max(self.many_rows, 2 * sum(map(len, kept))))
        if self.tracer.rows > self.most_rows:
            raise _TooMany

    def _explain_ended(self) -> None:
        carried = self.fabric.carried
        candidates = [*sorted(self._is_open), *range(self._next, len(carried))]
        ended = [n for n in candidates if carried[n].end_ps is not None]
        self._is_open, self._next = {n for n in candidates if carried[n].end_ps is None}, len(carried)
        wanted = [n for n in ended if self.only is None or n == self.only]
        if wanted:
            self.found += self._explained(wanted)

    def _explained(self, wanted: list[int]) -> list[Explained]:
        packet_trace = np.concatenate(self.tracer.chunks)
        lines = Lines(Rows(self.fabric.world, packet_trace))
        for number in self._is_open:
            each = self.fabric.carried[number]
            each.timeline = self.tracer.timeline_of(self.fabric.world, each.admitted)
        timelines = Timelines(self.fabric.carried)
        paths = [Path(lines, timelines, number) for number in wanted]
        kind = self.scenario.routing.kind
        traffic = Traffic(lines)
        return [explained(path, Causes(self.fabric.network, self.alternatives, kind, path, traffic)) for path in paths]

    def _needed_from(self) -> int:
        """The start of the oldest collective that has not ended."""
        still: list[ActiveCollective] = [self.fabric.carried[number] for number in self._is_open]
        return min((each.start_ps for each in still if each.start_ps is not None), default=int(self.fabric.env.now))
