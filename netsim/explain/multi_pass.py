"""Collectives of more packets than can be kept: the run is run again and again, and each time what is needed is kept.

The first time only what becomes of messages is kept, and a guess where the critical paths lead (path_hints.py). From it
follows which connections' packets are needed, and when (replay_plan.py): these are kept the second
time (trace_filter.py), and the paths are walked. Where a path leads to what was not kept, the plan is mended, and the
run is run once more. Then the causes ask what links carried; what they ask is counted in further runs
(deferred_queries.py), until nothing is asked.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from netsim.config.limits import NO_LIMITS
from netsim.config.scenario import Scenario
from netsim.core.observe.packet_tracer import PacketTracer
from netsim.core.state.dtypes import NEVER
from netsim.core.state.packet_trace_dtypes import PACKET_TRACE
from netsim.core.state.world import World
from netsim.errors import RunError
from netsim.explain.alternatives import Alternatives
from netsim.explain.causes import Causes
from netsim.explain.deferred_queries import Answers, Asked, SentBytes
from netsim.explain.explanation import Explained, explained
from netsim.explain.line import Unknown
from netsim.explain.message_timelines import Timelines
from netsim.explain.path import Path
from netsim.explain.path_hints import Origins
from netsim.explain.replay_plan import ReplayPlan, Span, Spans, WatchedLines
from netsim.explain.trace_columns import Column, Rows
from netsim.explain.trace_filter import keep
from netsim.simulation import Progress, run
from netsim.simulation.fabric import Fabric

COLUMNS = 4  # of the packet trace, i8 each
MOST_RUNS = 32  # to find the paths of some collectives, and as many to answer what is asked about them
MOST_TOGETHER = 1000  # collectives: of the time between each start and end there is a table of bytes per link
SHARE = 4  # a connection with no more than the fourth part of the rows that may be kept may be kept as a whole
Reader = Callable[[World, Column], None]  # of rows of the packet trace, i8[n, COLUMNS]
Play = Callable[[list[Reader]], Fabric]  # the same run again, while they read


class Passer(PacketTracer):
    """A packet tracer that keeps nothing itself: readers see the packet trace before it is taken away."""

    def __init__(self, readers: list[Reader]) -> None:
        super().__init__(NEVER, lambda _: None)
        self.readers = readers

    def take(self, world: World, *, at_end: bool = False) -> None:
        """Show the packet trace to the readers, and take it away."""
        row = world.progress[0]
        packet_trace = world.packet_trace[: row["trace_rows"]].view("i8").reshape(-1, COLUMNS)
        for read in self.readers if len(packet_trace) else ():
            read(world, packet_trace)
        self.rows += len(packet_trace)
        row["trace_rows"] = 0


class Kept:
    """The packets of some connections in some times."""

    def __init__(self, spans: Spans, copied: Column, most_rows: int) -> None:
        self.spans, self.copied, self.most_rows, self.count = spans, copied, most_rows, 0
        self._pieces = [np.zeros((0, COLUMNS), "i8")]
        self._room = np.zeros((0, COLUMNS), "i8")

    def read(self, world: World, packet_trace: Column) -> None:
        """Rows of the packet trace. RunError if there are too many that are needed."""
        if len(packet_trace) > len(self._room):
            self._room = np.zeros((len(packet_trace), COLUMNS), "i8")
        count = int(keep(packet_trace, self.spans.first, self.spans.since, self.spans.until, self.copied, self._room))
        self._pieces.append(self._room[:count].copy())
        self.count += count
        if self.count > self.most_rows:
            what = f"critical paths cross connections with more than {self.most_rows:,} packet hops"
            hint = "explain one collective (--collective ID), or a run with larger packets (packet.payload)"
            raise RunError(f"{what}, more than explain can keep", hint=hint)

    def packet_trace(self) -> Any:
        """All that was kept, as it was written down."""
        return np.concatenate(self._pieces).view(PACKET_TRACE).reshape(-1)


def player(scenario: Scenario, progress: Progress | None) -> Play:
    """Simulates a scenario again while readers see its packet trace; gives the fabric when all has ended."""

    def play(readers: list[Reader]) -> Fabric:
        tracer, fabrics = Passer(readers), list[Fabric]()

        def watch(fabric: Fabric) -> None:
            fabrics.append(fabric)
            fabric.watch(tracer)

        run(scenario, None, NO_LIMITS, progress, watch)
        tracer.take(fabrics[0].world, at_end=True)
        return fabrics[0]

    return play


class Passes:
    """Explains the collectives of a run, or the one that is `only` wanted, but not those `done`."""

    def __init__(self, play: Play, routing: str, only: int | None, done: set[int], most_rows: int) -> None:
        self._play, self._routing, self.most_rows = play, routing, most_rows
        self.runs = 0
        origins = Origins()
        self._run([origins.read])
        origins.sort()
        world, carried = self.fabric.world, self.fabric.carried
        self.plan = ReplayPlan(world, Timelines(carried), origins)
        self.alternatives = Alternatives(self.fabric.network)
        self.wanted = [each.number for each in carried if each.number not in done and only in (None, each.number)]

    def explained(self) -> list[Explained]:
        """All of them."""
        found: list[Explained] = []
        for batch in self._batches():
            found += self._explained(batch)
        return found

    def _run(self, readers: list[Reader]) -> None:
        self.fabric = self._play(readers)
        self.runs += 1

    def _batches(self) -> list[list[int]]:
        """Collectives whose paths can be found together: half of what may be kept is left for what was not foreseen."""
        batches, room = list[list[int]](), 0
        for number in self.wanted:
            rows = sum(map(self.plan.rows_in, self.plan.whole(number)))
            if not batches or rows > room or len(batches[-1]) == MOST_TOGETHER:
                batches.append([])
                room = self.most_rows // 2
            batches[-1].append(number)
            room -= rows
        return batches

    def _explained(self, batch: list[int]) -> list[Explained]:
        paths, answers = self._paths(batch)
        for _ in range(MOST_RUNS):
            traffic = Asked(paths[0].lines, answers)
            common = self.fabric.network, self.alternatives, self._routing
            found = [explained(path, Causes(*common, path, traffic)) for path in paths]
            if not answers.open:
                return found
            asked = answers.begin(self.fabric.world)
            self._run([asked.read])
            answers.take(asked)
        raise RunError("the causes of some delays ask for too much", hint="explain one collective (--collective ID)")

    def _paths(self, batch: list[int]) -> tuple[list[Path], Answers]:
        """Walk the critical paths of some collectives; and the bytes of links while these lasted."""
        ways = {number: self.plan.whole(number) for number in batch}
        carried = self.plan.timelines.carried
        bounds = [ps for number in batch for ps in (carried[number].start_ps, carried[number].end_ps) if ps is not None]
        for _ in range(MOST_RUNS):
            spans = [span for way in ways.values() for span in way]
            kept = Kept(Spans.of(spans, len(self.fabric.world.connections)), self.plan.copied, self.most_rows)
            counted = SentBytes(bounds, len(self.fabric.world.links))
            self._run([kept.read, counted.read])
            lines = WatchedLines(Rows(self.fabric.world, kept.packet_trace()), kept.spans, self.plan)
            paths = [path for number in batch if (path := self._walked(lines, number, ways))]
            if len(paths) == len(batch):
                return paths, Answers(counted)
        raise RunError(f"no way to walk a critical path in {MOST_RUNS} runs", hint="explain a run with fewer bytes")

    def _walked(self, lines: WatchedLines, number: int, ways: dict[int, list[Span]]) -> Path | None:
        """The critical path of a collective; None, and its way mended, where that leads to what was not kept."""
        lines.entered.clear()
        try:
            return Path(lines, self.plan.timelines, number)
        except Unknown as stopped:
            ways[number] = self.plan.mended(number, lines, stopped, self.most_rows // SHARE)
            return None
