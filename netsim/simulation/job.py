"""A job as user code: a function of a rank that yields what the rank does, one SimPy process per rank."""

import inspect
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import simpy

from netsim.errors import InputError
from netsim.simulation.job_recorder import JobRecorder
from netsim.simulation.replay import Rendezvous, Steps
from netsim.traces import Operation
from netsim.units import parse_size, parse_time

Number = TypeVar("Number")


class Rank:
    """A rank as user code sees it: every method returns a SimPy event to yield. Sizes and times as text or int (B, ps).

    A group is a list of ranks (all by default), the same in the same order on all its members; their k-th calls for it
    belong together. Methods raise InputError for what makes no sense.
    """

    def __init__(self, number: int, ranks: int, meeting: Rendezvous, recorder: JobRecorder) -> None:
        self.number, self.ranks = number, ranks
        self._meeting, self._diary = meeting, recorder
        self._calls: dict[Any, int] = {}

    @property
    def env(self) -> simpy.Environment:
        """The SimPy environment; `env.now` is the simulated time in ps."""
        return self._meeting.env

    def compute(self, duration: str | int) -> simpy.Event:
        """Be busy for so long."""
        duration_ps = self._read("compute", parse_time, duration)
        key = self._next_key(("compute", self.number))
        self._diary.note(self.number, key, Operation("compute", None, (self.number,), duration_ps=duration_ps))
        return self.env.timeout(duration_ps)

    def all_reduce(self, size: str | int, group: Iterable[int] | None = None) -> simpy.Event:
        """Sum a buffer of `size` over the group."""
        return self._collective("all_reduce", size, group)

    def all_gather(self, size: str | int, group: Iterable[int] | None = None) -> simpy.Event:
        """Gather everybody's share of a buffer of `size` in all together."""
        return self._collective("all_gather", size, group)

    def reduce_scatter(self, size: str | int, group: Iterable[int] | None = None) -> simpy.Event:
        """Sum a buffer of `size` and keep one share of it."""
        return self._collective("reduce_scatter", size, group)

    def broadcast(self, size: str | int, root: int = 0, group: Iterable[int] | None = None) -> simpy.Event:
        """Copy the root's buffer to everybody; root is a position in the group."""
        return self._collective("broadcast", size, group, root)

    def reduce(self, size: str | int, root: int = 0, group: Iterable[int] | None = None) -> simpy.Event:
        """Sum a buffer at the root, a position in the group."""
        return self._collective("reduce", size, group, root)

    def all_to_all(self, size: str | int, group: Iterable[int] | None = None) -> simpy.Event:
        """Exchange equal shares of a buffer of `size` among all."""
        return self._collective("all_to_all", size, group)

    def barrier(self, group: Iterable[int] | None = None) -> simpy.Event:
        """Wait until all have come."""
        return self._collective("barrier", 0, group)

    def send(self, target: int, size: str | int) -> simpy.Event:
        """Send to a rank, which must `recv` as much."""
        return self._point_to_point("send", self.number, target, size)

    def recv(self, source: int, size: str | int) -> simpy.Event:
        """Receive what `source` sends."""
        return self._point_to_point("recv", source, self.number, size)

    def _collective(self, op: str, size: str | int, group: Iterable[int] | None, root: int = 0) -> simpy.Event:
        known = self._diary.group(None if group is None else self._members(op, group))
        if self.number not in known.ranks:
            raise self._mistake(op, f"the rank is not in the group {list(known.ranks)}", "only members call it")
        if not isinstance(root, int) or not 0 <= root < len(known.ranks):
            raise self._mistake(op, f"root = {root!r}", f"give a position in the group, 0..{len(known.ranks) - 1}")
        request = Operation(op, known.name, known.ranks, bytes=self._read(op, parse_size, size), root=root)
        return self._enter(known.name, request)

    def _point_to_point(self, call: str, source: int, target: int, size: str | int) -> simpy.Event:
        if source == target:
            raise self._mistake(call, f"rank {source} to itself", "name another rank")
        self._members(call, (source, target))
        size_bytes = self._read(call, parse_size, size)
        request = Operation("send", None, (source, target), bytes=size_bytes, src=source, dst=target)
        return self._enter((source, target), request)

    def _enter(self, call: Any, request: Operation) -> simpy.Event:
        key = self._next_key(call)
        self._diary.note(self.number, key, request)
        return self._meeting.enter(key, request, self.number)

    def _next_key(self, call: Any) -> Any:
        """The k-th call of this kind on every member belongs together."""
        self._calls[call] = self._calls.get(call, 0) + 1
        return (call, self._calls[call])

    def _members(self, call: str, group: Iterable[int]) -> tuple[int, ...]:
        """The members of a group, each a rank, none twice."""
        try:
            members = tuple(int(member) for member in group)
            fine = members and len(set(members)) == len(members) and all(0 <= each < self.ranks for each in members)
        except (TypeError, ValueError):
            fine = False
        if not fine:
            raise self._mistake(call, f"no group {group!r}", f"list ranks from 0 to {self.ranks - 1}, none twice")
        return members

    def _read(self, call: str, parse: Callable[[str | int], Number], text: str | int) -> Number:
        try:
            return parse(text)
        except InputError as error:
            raise self._mistake(call, error.what, error.hint) from None

    def _mistake(self, call: str, what: str, hint: str) -> InputError:
        return InputError(what, where=f"{call} of rank {self.number}", hint=hint)


Job = Callable[[Rank], Steps]


def start_job(job: Job, ranks: int, meeting: Rendezvous, recorder: JobRecorder) -> list[tuple[int, simpy.Process]]:
    """Start user code as one process per rank. Returns them with their ranks."""
    crew = [Rank(number, ranks, meeting, recorder) for number in range(ranks)]
    return [(rank.number, meeting.env.process(_steps(job, rank))) for rank in crew]


def _steps(job: Job, rank: Rank) -> Steps:
    """What the job yields, handed on as it comes; InputError for what is no event."""
    steps: Any = job(rank)
    if not (hasattr(steps, "send") and hasattr(steps, "throw") and hasattr(steps, "__next__")):
        if inspect.iscoroutine(steps):
            steps.close()  # or Python warns, at some later time, that nobody awaited it
        what = f"the job gives {_shown(steps)} where it should yield what the rank does"
        raise InputError(what, where=_name(job), hint='write `yield rank.all_reduce("1MiB")` in it')
    answer, failure = None, None
    while True:
        try:
            event = steps.send(answer) if failure is None else steps.throw(failure)
        except StopIteration as end:
            return end.value
        if not isinstance(event, simpy.Event):
            what = f"rank {rank.number} yields {_shown(event)}, which is no event"
            raise InputError(
                what, where=_name(job), hint='yield what a method gives, as in `yield rank.compute("1us")`'
            )
        answer, failure = None, None
        try:
            answer = yield event
        except BaseException as error:  # the event failed, and the job may know what to do
            failure = error


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{type(value).__name__}"


def _name(job: Job) -> str:
    return getattr(job, "__name__", "job")
