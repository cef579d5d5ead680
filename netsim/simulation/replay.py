"""Each rank is a SimPy process that walks its part of the trace; ranks meet in collectives that the fabric carries."""

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import simpy

from netsim.collectives import Layout, Request, Schedule, check_name, plan
from netsim.config.traffic_classes import Classes
from netsim.errors import InputError, RunError
from netsim.simulation.fabric import ActiveCollective, Fabric
from netsim.traces import Operation, Trace, members

Steps = Generator[simpy.Event, Any, Any]
KEPT_ROWS = 1 << 20  # the last schedule is kept for the next equal request unless it is larger


@dataclass(frozen=True)
class Choices:
    """How requests become schedules: algorithm by operation (else its default), channels and bytes of a chunk if set.

    classes: which goes before which.
    """

    algorithms: dict[str, str]
    channels: int | None = None
    chunk: int | None = None
    classes: Classes = field(default_factory=Classes)


class Rendezvous:
    """Where ranks meet: the first to come has the collective planned and admitted, every one enters it."""

    def __init__(self, fabric: Fabric, hosts: tuple[int, ...], choices: Choices) -> None:
        self.env, self.fabric, self.hosts, self.choices = fabric.env, fabric, hosts, choices
        self._open: dict[Any, tuple[Operation, ActiveCollective, int]] = {}  # by key: who is still to come
        self._last: tuple[Any, Schedule] | None = None
        self._broken: BaseException | None = None

    def enter(self, key: Any, operation: Operation, rank: int) -> simpy.Event:
        """The rank begins its part of the operation that all its members know by this key."""
        if key not in self._open:
            self._open[key] = (operation, self._carried(operation), len(operation.ranks))
        first, carried, missing = self._open[key]
        if first is not operation and _wanted(first) != _wanted(operation):
            what = f"rank {rank} calls {_wanted(operation)} where others call {_wanted(first)}"
            raise RunError(what, hint="let the ranks of a group call the same collectives in the same order")
        self._open[key] = (first, carried, missing - 1)
        if missing == 1:
            del self._open[key]
        parts = carried.about["parts_of"][rank]
        if len(parts) == 1 and parts[0][0] <= self.env.now:
            return self.fabric.enter(carried, parts[0][1])
        return self.env.process(self._enter_in_time(carried, parts))

    def _enter_in_time(self, carried: ActiveCollective, parts: list[tuple[int, int]]) -> Steps:
        """The rank starts flows at several times: it enters as another member of the group at each."""
        done = []
        for start_ps, position in parts:
            if start_ps > self.env.now:
                yield self.env.timeout(start_ps - self.env.now)
            done.append(self.fabric.enter(carried, position))
        yield simpy.AllOf(self.env, done)

    def _carried(self, operation: Operation) -> ActiveCollective:
        """After an error or Ctrl-C in here the other ranks, whose turn SimPy gives them first, do not try again."""
        if self._broken:
            raise self._broken
        try:
            return self._carry(operation)
        except BaseException as error:
            self._broken = error
            raise

    def _carry(self, operation: Operation) -> ActiveCollective:
        schedule = self._schedule(operation)
        group, _ = members(operation)
        parts_of: dict[int, list[tuple[int, int]]] = {}  # by rank: from when, and as which member; in order of time
        for position, (rank, start_ps) in enumerate(group):
            parts_of.setdefault(rank, []).append((start_ps, position))
        carried = self.fabric.carry(
            schedule,
            [self.hosts[rank] for rank, _ in group],
            self.choices.classes.of(operation.op, operation.group),
            op=operation.op,
            algorithm=schedule.algorithm,
            group=operation.group or "",
            stream=operation.stream,
            bytes=operation.bytes,
            recorded_ps=operation.recorded_duration_ps,
            parts_of=parts_of,
        )
        carried.ranks = [rank for rank, _ in group]
        return carried

    def _schedule(self, operation: Operation) -> Schedule:
        algorithm = self.choices.algorithms.get(operation.op) or operation.algorithm
        names = ("op", "ranks", "bytes", "root", "sizes", "flows", "turns")
        key = (algorithm, *(getattr(operation, name) for name in names))
        if self._last and self._last[0] == key:
            return self._last[1]
        self._last = None
        schedule = plan(self._wish(operation), algorithm)
        if len(schedule) <= KEPT_ROWS:
            self._last = (key, schedule)
        return schedule

    def _wish(self, operation: Operation) -> Request:
        network = self.fabric.network
        group, flows = members(operation)
        hosts = np.array([self.hosts[rank] for rank, _ in group])
        return Request(
            op=operation.op,
            ranks=len(group),
            bytes=operation.bytes,
            root=operation.root,
            sizes=None if operation.sizes is None else np.array(operation.sizes, "i8"),
            flows=flows if operation.op == "flows" else None,
            after=[turn.after for turn in operation.turns] or None,
            flow_channels=[turn.channel for turn in operation.turns] or None,
            channels=self.choices.channels,
            chunk_bytes=self.choices.chunk,
            layout=Layout(network.server_of[hosts], network.rail_of[hosts]),
        )


def _wanted(operation: Operation) -> str:
    return f"{operation.op} of {operation.bytes:,} B with root {operation.root}"


def check_algorithms(trace: Trace) -> None:
    """InputError, with the line, for an operation that names an algorithm there is not."""
    for operation in trace.operations:
        if operation.algorithm is not None:
            try:
                check_name(operation.op, operation.algorithm)
            except InputError as error:
                raise _placed(error, trace, operation) from None


def replay(trace: Trace, meeting: Rendezvous) -> list[tuple[int, simpy.Process]]:
    """Start the processes of every rank: one for each stream it uses. Returns them with their ranks."""
    processes = []
    awaited = {number for operation in trace.operations for number in operation.after}
    for rank, numbers in enumerate(trace.by_rank()):
        streams: dict[str, list[int]] = {}
        for number in numbers:
            streams.setdefault(trace.operations[number].stream, []).append(number)
        finished = {number: meeting.env.event() for number in numbers if number in awaited}
        walks = [_walk(trace, rank, own, meeting, finished) for own in streams.values()]
        processes += [(rank, meeting.env.process(walk)) for walk in walks]
    return processes


def _walk(trace: Trace, rank: int, numbers: list[int], meeting: Rendezvous, finished: dict[int, simpy.Event]) -> Steps:
    """One stream of one rank, operation by operation; `finished` tells the rank's streams what others wait for."""
    env = meeting.env
    for number in numbers:
        operation = trace.operations[number]
        for awaited in operation.after if rank != operation.dst else ():  # a receiver is ready from the start
            if awaited in finished and not finished[awaited].processed:
                yield finished[awaited]
        if operation.start_ps > env.now:
            yield env.timeout(operation.start_ps - env.now)
        if operation.op == "compute":
            yield env.timeout(operation.duration_ps)
        else:
            try:
                done = meeting.enter(number, operation, rank)
            except InputError as error:
                raise _placed(error, trace, operation) from None
            yield done
        if number in finished:
            finished[number].succeed()


def _placed(error: InputError, trace: Trace, operation: Operation) -> InputError:
    """The same mistake, with the file and line of the operation in front."""
    place = trace.source or trace.name
    what = f"{error.where}: {error.what}" if error.where else error.what
    return InputError(what, f"{place}:{operation.line}" if operation.line else place, error.hint)
