"""Many runs at once, through joblib: on the cores of this machine, or on a Dask cluster."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from netsim.config.limits import NO_LIMITS, Limits
from netsim.errors import InputError, NetsimError, RunError, refuse_unknown
from netsim.version import __version__

if TYPE_CHECKING:
    from netsim.config.scenario import Scenario
    from netsim.study.metrics import Measured

BACKENDS = ("local", "dask")
CONNECT_SECONDS = 10
LOOK_SECONDS = 0.5  # how often a child looks whether its parent is there

_watching: list[int] = []  # in a child: its parent, once a thread looks for it


@dataclass(frozen=True, slots=True)
class Task:
    """One run to do: its place among all, its scenario, when to give it up, whether to explain it."""

    number: int
    scenario: Scenario
    limits: Limits = NO_LIMITS
    explained: bool = False
    netsim: str = __version__


@dataclass(frozen=True, slots=True)
class Finished:
    """One run that was done: its place, what was measured or why it failed, and warnings it gave."""

    number: int
    measured: Measured | None
    error: str = ""
    warnings: tuple[str, ...] = field(default=())


def attempt(task: Task) -> Finished:
    """Do one run; what goes wrong becomes its answer, so that it stops no other."""
    from netsim.study.measure import measured  # here: only processes that run something load all that a run needs

    if task.netsim != __version__:
        return Finished(task.number, None, f"this worker has netsim {__version__}, the study {task.netsim}")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            found, error = measured(task.scenario, task.limits, explained=task.explained), ""
        except NetsimError as mistake:
            found, error = None, str(mistake)
        except MemoryError:
            found, error = None, "out of memory"
        except Exception as fault:
            found, error = None, f"a fault in netsim itself: {type(fault).__name__}: {fault}"
    text = dict.fromkeys(str(each.message) for each in said if issubclass(each.category, UserWarning))
    return Finished(task.number, found, error, tuple(text))


Work = Callable[[Task], Finished]


@dataclass(frozen=True, slots=True)
class Pool:
    """Where runs are done: `jobs` processes here (0: one per core), or the Dask cluster of `scheduler`.

    `work` is what is done with each task.
    """

    jobs: int = 0
    scheduler: str = ""
    work: Work = attempt

    def run(self, tasks: Sequence[Task]) -> Generator[Finished, None, None]:
        """Do the runs and give each as it ends, in any order; a run that fails is an answer too.

        Closed or interrupted, joblib ends its processes at once. The packet core must be compiled before
        (`simulation.get_ready`), or every worker compiles it.
        """
        if not tasks:
            return
        if self.processes == 1:
            yield from map(self.work, tasks)
        elif self.scheduler:
            yield from self._on_cluster(tasks)
        else:
            yield from _on_cores(tasks, min(self.processes, len(tasks)), self.work)

    def end(self) -> None:
        """End the processes here, after the last run: joblib keeps them for more, and Python's end waits for them.

        Nothing is lost: all their answers are here.
        """
        if self.processes > 1:
            from joblib.externals.loky import get_reusable_executor

            get_reusable_executor(reuse=True).shutdown(wait=True, kill_workers=True)

    @property
    def processes(self) -> int:
        """How many runs go on at once here; 0 where a cluster decides."""
        return 0 if self.scheduler else self.jobs or usable_cores()

    def _on_cluster(self, tasks: Sequence[Task]) -> Iterator[Finished]:
        from joblib import parallel_config

        with _client(self.scheduler), parallel_config(backend="dask", wait_for_workers_timeout=CONNECT_SECONDS):
            try:
                yield from _parallel(tasks, -1, self.work, [])
            except NetsimError:
                raise
            except Exception as error:  # whatever a cluster may come up with
                what = f"the cluster gave up: {type(error).__name__}: {error}"
                hint = "every worker needs this netsim; what is finished is kept"
                raise RunError(what, where=self.scheduler, hint=hint) from None


def usable_cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _on_cores(tasks: Sequence[Task], jobs: int, work: Work) -> Iterator[Finished]:
    """In processes here. Where one dies, the runs that were under way are tried alone, and the rest go on."""
    from joblib.externals.loky.process_executor import BrokenProcessPool

    waiting = {task.number: task for task in tasks}
    while waiting:
        started: list[Task] = []
        try:
            for finished in _parallel(waiting.values(), jobs, work, started, here=True):
                del waiting[finished.number]
                yield finished
        except BrokenProcessPool:
            for task in [each for each in started if each.number in waiting]:
                del waiting[task.number]
                yield _alone(task, work)


def _watched(work: Work, parent: int, task: Task) -> Finished:
    """Do a run in a process that ends when its parent does, even by `kill -9`: nobody would ask for its answer."""
    if not _watching and os.getpid() != parent:  # joblib does a single run in the parent itself
        _watching.append(parent)
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    return work(task)


def _end_with(parent: int) -> None:
    """Where a parent ends, its children get another."""
    while os.getppid() == parent:
        time.sleep(LOOK_SECONDS)
    os._exit(1)


def _alone(task: Task, work: Work) -> Finished:
    """One run in a process of its own; if that dies, this run is what kills it."""
    from joblib.externals.loky import ProcessPoolExecutor
    from joblib.externals.loky.process_executor import BrokenProcessPool

    executor = ProcessPoolExecutor(max_workers=1)
    try:
        finished: Finished = executor.submit(_watched, work, os.getpid(), task).result()
    except BrokenProcessPool:
        return Finished(task.number, None, "its process was killed, as happens where memory runs out")
    finally:
        executor.shutdown(wait=False, kill_workers=True)
    return finished


def _parallel(
    tasks: Iterable[Task], jobs: int, work: Work, started: list[Task], *, here: bool = False
) -> Iterator[Finished]:
    """Through joblib, one run per batch: a batch of several would be told of only when all of it is done.

    here: in children of this process, which end with it.
    """
    from joblib import Parallel, delayed

    def begun() -> Iterator[Any]:
        for task in list(tasks):
            started.append(task)
            yield delayed(_watched)(work, os.getpid(), task) if here else delayed(work)(task)

    parallel: Any = Parallel(n_jobs=jobs, batch_size=1, return_as="generator_unordered", max_nbytes=None)
    with _children_deaf_to_interrupts():
        answers = parallel(begun())
    yield from answers


@contextmanager
def _children_deaf_to_interrupts() -> Iterator[None]:
    """Processes started meanwhile never hear Ctrl-C, which goes to all of a terminal's: this one ends them.

    A signal that is blocked stays so in a child; one that comes for this process is heard when the block ends.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    from joblib.externals.loky.backend import resource_tracker as lokys

    for tracker in (resource_tracker, lokys):  # joblib starts both, and either ends a block when it starts
        tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _client(scheduler: str) -> AbstractContextManager[Any]:
    try:
        from distributed import Client
    except ImportError:
        hint = "pip install 'netsim[cluster]'"
        raise InputError("dask.distributed is not installed", where="--backend dask", hint=hint) from None
    try:
        client: AbstractContextManager[Any] = Client(scheduler, timeout=CONNECT_SECONDS)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        hint = "give the address that dask-scheduler prints, as in tcp://10.0.0.1:8786"
        raise InputError(f"no scheduler answers: {error}", where=f"--scheduler {scheduler}", hint=hint) from None
    return client


def pool_of(backend: str, scheduler: str | None, jobs: int) -> Pool:
    """The pool that a command line asks for; InputError for what does not go together."""
    refuse_unknown("no backend", [backend], BACKENDS, where="--backend")
    if (backend == "dask") != bool(scheduler):
        hint = "write --backend dask --scheduler tcp://10.0.0.1:8786"
        raise InputError("a scheduler goes with backend dask, and only with it", where="--backend", hint=hint)
    if jobs < 0:
        raise InputError(f"{jobs} processes", where="--jobs", hint="give 1 or more; 0 means one per core")
    return Pool(jobs, scheduler or "")
