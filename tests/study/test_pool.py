"""Pools: every task is answered, also where runs fail or processes die."""

import os
import signal
from pathlib import Path

import pytest

from netsim.config import build_scenario
from netsim.config.limits import Limits
from netsim.study import pool
from netsim.study.pool import Finished, Pool, Task, attempt, pool_of, usable_cores
from netsim.version import __version__
from tests.inputs import refusal


def task(number: int, **settings: object) -> Task:
    return Task(number, build_scenario("perm16", "fat_tree_k4_100g", **{"transport": "ideal", **settings}))


def deadly(given: Task) -> Finished:
    """What a run does that takes all memory: the system kills its process."""
    if given.number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return Finished(given.number, None, "fine")


def interrupted(given: Task) -> Finished:
    """What Ctrl-C does to a process that runs points: the system sends it to all processes of a terminal."""
    os.kill(os.getpid(), signal.SIGINT)
    return Finished(given.number, None, "heard nothing")


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals cannot be blocked here")
def test_processes_do_not_hear_ctrl_c() -> None:
    found = [each.error for each in Pool(jobs=2, work=interrupted).run([task(number) for number in range(4)])]
    assert found == ["heard nothing"] * 4
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, set()), "this process still hears it"


def test_a_killed_process_costs_its_own_run_alone() -> None:
    tasks = [task(number) for number in range(8)]
    found = {each.number: each.error for each in Pool(jobs=2, work=deadly).run(tasks)}
    assert found.pop(3) == "its process was killed, as happens where memory runs out"
    assert found == dict.fromkeys((0, 1, 2, 4, 5, 6, 7), "fine")


def process(given: Task) -> Finished:
    return Finished(given.number, None, str(os.getpid()))


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are looked up in /proc")
def test_processes_are_there_for_more_until_they_are_ended() -> None:
    pool, tasks = Pool(jobs=2, work=process), [task(number) for number in range(4)]
    first, more = ({each.error for each in pool.run(tasks)} for _ in range(2))
    assert first & more
    pool.end()
    assert not any(Path(f"/proc/{number}").exists() for number in first | more)
    assert len(list(pool.run(tasks))) == 4, "others are started"
    pool.end()
    Pool(jobs=1).end()


def test_a_failed_run_is_an_answer() -> None:
    endless = Task(0, task(0).scenario, Limits(time_ps=1000))
    too_large = Task(1, build_scenario("perm128", "fat_tree_k4_100g"))
    first, second, third = Pool(jobs=1).run([endless, too_large, task(2)])
    assert first.measured is second.measured is None
    assert "time limit" in first.error
    assert "128 ranks and the network 16 hosts" in second.error
    assert third.measured is not None
    assert third.error == ""


def test_a_fault_is_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    for error, words in ((MemoryError(), "out of memory"), (KeyError("x"), "a fault in netsim itself: KeyError: 'x'")):

        def fails(*_: object, error: Exception = error, **_named: object) -> None:
            raise error

        monkeypatch.setattr("netsim.study.measure.measured", fails)
        assert attempt(task(0)).error == words


def test_warnings_come_back_once() -> None:
    found = attempt(task(0, routing="spray"))
    (said,) = attempt(task(0, transport="dctcp", routing="spray")).warnings
    assert "spray reorders packets" in said
    assert found.warnings == ()


def test_a_worker_of_another_version_refuses() -> None:
    other = Task(0, task(0).scenario, netsim="0.0.1")
    assert attempt(other).error == f"this worker has netsim {__version__}, the study 0.0.1"


def test_what_is_chosen() -> None:
    assert pool_of("local", None, 0).processes == usable_cores() >= 1
    assert pool_of("local", None, 3).processes == 3
    assert pool_of("dask", "tcp://10.0.0.1:8786", 0).scheduler == "tcp://10.0.0.1:8786"
    for backend, scheduler, words in (
        ("dsk", None, "did you mean 'dask'"),
        ("dask", None, "a scheduler goes with"),
        ("local", "x", "a scheduler goes with"),
    ):
        assert words in refusal(pool_of, backend, scheduler, 0)


def test_a_single_run_that_joblib_does_in_this_process_ends_nothing() -> None:
    """What watches for the parent of a child must not take this process for one."""
    assert [each.error for each in Pool(jobs=2).run([task(0)])] == [""]
    assert pool._watching == []
