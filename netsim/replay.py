"""Each rank is a SimPy process that walks its part of the job; ranks meet in collectives that the fabric carries."""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
import simpy

from netsim.collectives import Layout, Schedule, Wish, plan
from netsim.errors import InputError, RunError
from netsim.fabric import Carried, Fabric
from netsim.traces import Operation, Trace
from netsim.units import parse_size, parse_time

Steps = Generator[simpy.Event, Any, Any]
Job = Callable[["Rank"], Steps]
KEPT_ROWS = 1 << 20  # the last schedule is kept for the next equal wish unless it is larger


@dataclass(frozen=True)
class Choices:
    """How wishes become schedules: algorithm by operation (others take their default), channels and chunk bytes if set."""

    algorithms: dict[str, str]
    channels: int | None = None
    chunk: int | None = None


class Meeting:
    """Where ranks meet: the first to come has the collective planned and admitted, every one enters it."""

    def __init__(self, fabric: Fabric, hosts: tuple[int, ...], choices: Choices) -> None:
        self.env, self.fabric, self.hosts, self.choices = fabric.env, fabric, hosts, choices
        self._open: dict[Any, tuple[Operation, Carried, int]] = {}  # by key: who is still to come
        self._last: tuple[Any, Schedule] | None = None
        self.recorded: list[Operation] = []  # in the order in which they began

    def enter(self, key: Any, operation: Operation, rank: int) -> simpy.Event:
        """The rank begins its part of the operation that all its members know by this key."""
        if key not in self._open:
            self.recorded.append(operation)
            self._open[key] = (operation, self._carry(operation), len(operation.ranks))
        first, carried, missing = self._open[key]
        if (first.op, first.bytes, first.root) != (operation.op, operation.bytes, operation.root):
            raise RunError(
                f"rank {rank} calls {operation.op} of {operation.bytes} B where others call {first.op} of {first.bytes} B",
                mend="all ranks of a group must call the same collectives in the same order",
            )
        self._open[key] = (first, carried, missing - 1)
        if missing == 1:
            del self._open[key]
        return self.fabric.enter(carried, carried.about["position_of"][rank])

    def _carry(self, operation: Operation) -> Carried:
        schedule = self._schedule(operation)
        carried = self.fabric.carry(
            schedule,
            [self.hosts[rank] for rank in operation.ranks],
            op=operation.op,
            algorithm=schedule.algorithm,
            group=operation.group or "",
            bytes=operation.bytes,
            position_of={rank: position for position, rank in enumerate(operation.ranks)},
        )
        carried.ranks = list(operation.ranks)
        return carried

    def _schedule(self, operation: Operation) -> Schedule:
        algorithm = self.choices.algorithms.get(operation.op) or operation.algorithm
        key = (
            operation.op,
            operation.ranks,
            operation.bytes,
            operation.root,
            operation.sizes,
            operation.flows,
            algorithm,
        )
        if self._last and self._last[0] == key:
            return self._last[1]
        self._last = None
        schedule = plan(self._wish(operation), algorithm)
        if len(schedule) <= KEPT_ROWS:
            self._last = (key, schedule)
        return schedule

    def _wish(self, operation: Operation) -> Wish:
        network = self.fabric.network
        hosts = np.array([self.hosts[rank] for rank in operation.ranks])
        position = {rank: at for at, rank in enumerate(operation.ranks)}
        flows = [(position[source], position[target], size) for source, target, size in operation.flows]
        return Wish(
            op=operation.op,
            ranks=len(operation.ranks),
            bytes=operation.bytes,
            root=operation.root,
            sizes=None if operation.sizes is None else np.array(operation.sizes, "i8"),
            flows=flows if operation.op == "flows" else None,
            channels=self.choices.channels,
            chunk_bytes=self.choices.chunk,
            layout=Layout(network.server_of[hosts], network.rail_of[hosts]),
        )


def replay(trace: Trace, meeting: Meeting) -> list[simpy.Process]:
    """Start the processes of every rank: one for each stream it uses."""
    processes = []
    for rank, numbers in enumerate(trace.by_rank()):
        streams: dict[str, list[int]] = {}
        for number in numbers:
            streams.setdefault(trace.operations[number].stream, []).append(number)
        for own in streams.values():
            processes.append(meeting.env.process(_walk(trace, rank, own, meeting)))
    return processes


def _walk(trace: Trace, rank: int, numbers: list[int], meeting: Meeting) -> Steps:
    """One stream of one rank, operation by operation."""
    env = meeting.env
    for number in numbers:
        operation = trace.operations[number]
        if operation.start_ps > env.now:
            yield env.timeout(operation.start_ps - env.now)
        if operation.op == "compute":
            yield env.timeout(operation.duration_ps)
        else:
            try:
                done = meeting.enter(number, operation, rank)
            except InputError as error:
                place = (
                    f"{trace.source or trace.name}:{operation.line}" if operation.line else trace.source or trace.name
                )
                what = f"{error.where}: {error.what}" if error.where else error.what
                raise InputError(what, place, error.mend) from None
            yield done


class Rank:
    """A rank as user code sees it: every method returns a SimPy event to yield. Sizes and times as text or int (B, ps)."""

    def __init__(self, number: int, ranks: int, meeting: Meeting) -> None:
        self.number, self.ranks = number, ranks
        self._meeting = meeting
        self._calls: dict[Any, int] = {}

    @property
    def env(self) -> simpy.Environment:
        """The SimPy environment; `env.now` is the simulated time in ps."""
        return self._meeting.env

    def compute(self, duration: str | int) -> simpy.Event:
        """Be busy for so long."""
        duration_ps = parse_time(duration)
        self._meeting.recorded.append(Operation("compute", None, (self.number,), duration_ps=duration_ps))
        return self.env.timeout(duration_ps)

    def all_reduce(self, size: str | int, group: list[int] | None = None) -> simpy.Event:
        """Sum a buffer of `size` over the group (all ranks by default)."""
        return self._collective("all_reduce", size, group)

    def all_gather(self, size: str | int, group: list[int] | None = None) -> simpy.Event:
        """Gather everybody's share of a buffer of `size` in all together."""
        return self._collective("all_gather", size, group)

    def reduce_scatter(self, size: str | int, group: list[int] | None = None) -> simpy.Event:
        """Sum a buffer of `size` and keep one share of it."""
        return self._collective("reduce_scatter", size, group)

    def broadcast(self, size: str | int, root: int = 0, group: list[int] | None = None) -> simpy.Event:
        """Copy the root's buffer to everybody; root is a position in the group."""
        return self._collective("broadcast", size, group, root)

    def reduce(self, size: str | int, root: int = 0, group: list[int] | None = None) -> simpy.Event:
        """Sum a buffer at the root."""
        return self._collective("reduce", size, group, root)

    def all_to_all(self, size: str | int, group: list[int] | None = None) -> simpy.Event:
        """Exchange equal shares of a buffer of `size` among all."""
        return self._collective("all_to_all", size, group)

    def barrier(self, group: list[int] | None = None) -> simpy.Event:
        """Wait until all have come."""
        return self._collective("barrier", 0, group)

    def send(self, target: int, size: str | int) -> simpy.Event:
        """Send to a rank, which must `recv` as much."""
        return self._point_to_point(self.number, target, size)

    def recv(self, source: int, size: str | int) -> simpy.Event:
        """Receive what `source` sends."""
        return self._point_to_point(source, self.number, size)

    def _collective(self, op: str, size: str | int, group: list[int] | None, root: int = 0) -> simpy.Event:
        members = tuple(range(self.ranks)) if group is None else tuple(group)
        self._check(members)
        if self.number not in members:
            raise InputError(
                f"rank {self.number} is not in the group {list(members)}", where=op, mend="only members call it"
            )
        name = "world" if group is None else f"ranks {members[0]}..{members[-1]}"
        operation = Operation(op, name, members, bytes=parse_size(size), root=root)
        return self._meeting.enter(self._next_key(members), operation, self.number)

    def _point_to_point(self, source: int, target: int, size: str | int) -> simpy.Event:
        self._check((source, target))
        operation = Operation("send", None, (source, target), bytes=parse_size(size), src=source, dst=target)
        return self._meeting.enter(self._next_key(("send", source, target)), operation, self.number)

    def _next_key(self, call: Any) -> Any:
        """The k-th call of this kind on every member belongs together."""
        self._calls[call] = self._calls.get(call, 0) + 1
        return (call, self._calls[call])

    def _check(self, members: tuple[int, ...]) -> None:
        if len(set(members)) < len(members) or not all(0 <= member < self.ranks for member in members):
            raise InputError(
                f"no group {list(members)}",
                where=f"rank {self.number}",
                mend=f"name each of 0..{self.ranks - 1} at most once",
            )


def start_job(job: Job, ranks: int, meeting: Meeting) -> list[simpy.Process]:
    """Start user code as one process per rank."""
    return [meeting.env.process(job(Rank(number, ranks, meeting))) for number in range(ranks)]
