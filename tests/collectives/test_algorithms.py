"""The contract of every entry of ALGORITHMS: a new one is proved by being entered."""

from dataclasses import replace
from importlib import import_module
from inspect import get_annotations, isfunction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsim import collectives
from netsim.collectives import ALGORITHMS, Request, Schedule, check, depths, plan
from netsim.collectives.rounds import EAGER
from tests.collectives.bounds import BOUNDS, prove
from tests.collectives.requests import eight_rails, requests
from tests.inputs import measured

EVERY_ENTRY = pytest.mark.parametrize(
    ("op", "algorithm"), [(op, name) for op, known in ALGORITHMS.items() for name in known]
)

# Other work on the machine must not fail a test; 60 examples of each entry take about a second.
unhurried = settings(deadline=None, max_examples=60)


@EVERY_ENTRY
@unhurried
@given(data=st.data(), seed=st.integers(0, 1 << 30))
def test_every_rank_ends_with_what_it_must_hold(op: str, algorithm: str, data: st.DataObject, seed: int) -> None:
    request = data.draw(requests(op))
    prove(plan(request, algorithm), request, seed)


@EVERY_ENTRY
@unhurried
@given(data=st.data())
def test_not_one_byte_too_many_moves(op: str, algorithm: str, data: st.DataObject) -> None:
    request = replace(data.draw(requests(op, most_ranks=40, most_bytes=1 << 40)), chunk_bytes=1 << 37)
    assert plan(request, algorithm).bytes.sum() == BOUNDS[op, algorithm].moved(request)


def test_every_algorithm_is_registered() -> None:
    """What a file of collectives makes of a request alone, and only that, is an algorithm."""
    modules = [
        import_module(f"netsim.collectives.{file.stem}") for file in Path(collectives.__file__).parent.glob("*.py")
    ]
    functions = {each for module in modules for each in vars(module).values() if isfunction(each)}
    made = {
        each for each in functions if get_annotations(each, eval_str=True) == {"request": Request, "return": Schedule}
    }
    assert {each for each in made if not each.__name__.startswith("_")} == {
        algorithm for known in ALGORITHMS.values() for algorithm in known.values()
    }


def test_every_algorithm_has_its_bound_and_no_other_has() -> None:
    assert set(BOUNDS) == {(op, name) for op, known in ALGORITHMS.items() for name in known}


@EVERY_ENTRY
@pytest.mark.parametrize("ranks", [2, 3, 4, 7, 8, 13, 32])
def test_as_many_rounds_follow_one_another_as_are_known(op: str, algorithm: str, ranks: int) -> None:
    """One message per round, where nothing is cut and messages are too large to be sent before the last one is."""
    ranks = 2 if op == "send" else ranks
    request = replace(request_of(op, ranks, EAGER * 32 * ranks), chunk_bytes=1 << 40)
    assert depths(plan(request, algorithm)).max() + 1 == BOUNDS[op, algorithm].rounds(ranks)


@EVERY_ENTRY
@unhurried
@given(data=st.data())
def test_rows_keep_to_chunk_and_channels(op: str, algorithm: str, data: st.DataObject) -> None:
    request = data.draw(requests(op))
    schedule = plan(request, algorithm)
    assert (schedule.op, schedule.algorithm, schedule.ranks) == (op, algorithm, request.ranks)
    if request.chunk_bytes is not None:
        assert np.all(schedule.bytes <= request.chunk_bytes)
    if request.channels is not None:
        assert np.all(schedule.channel < request.channels)


@EVERY_ENTRY
def test_columns_have_the_promised_types(op: str, algorithm: str) -> None:
    schedule = plan(request_of(op, 2, 4096), algorithm)
    assert_types(schedule)
    assert len(schedule) > 0
    assert_types(plan(request_of(op, 1, 4096), algorithm) if op != "send" else plan(request_of(op, 2, 0)))


def assert_types(schedule: Schedule) -> None:
    kinds = {name: getattr(schedule, name).dtype for name in ("source", "target", "after", "channel", "reduces")}
    assert kinds == {"source": "i4", "target": "i4", "after": "i4", "channel": "i2", "reduces": "?"}
    assert {schedule.bytes.dtype, schedule.offset.dtype, schedule.first_after.dtype} == {np.dtype("i8")}
    assert schedule.first_after.shape == (len(schedule) + 1,)


def request_of(op: str, ranks: int, size: int) -> Request:
    """A plain request of any operation; for one rank it asks for nothing to be sent."""
    sizes = np.full((ranks, ranks), size)
    return Request(op=op, ranks=ranks, bytes=size, sizes=sizes, flows=[(0, 1, size)] if ranks > 1 else [])


@EVERY_ENTRY
def test_alone_or_without_bytes_nothing_is_sent(op: str, algorithm: str) -> None:
    if op != "send":
        assert len(plan(request_of(op, 1, 4096), algorithm)) == 0
    if op != "barrier":
        assert len(plan(request_of(op, 2, 0), algorithm)) == 0


@EVERY_ENTRY
def test_the_same_request_gives_the_same_schedule(op: str, algorithm: str) -> None:
    one, two = plan(request_of(op, 2, 5000), algorithm), plan(request_of(op, 2, 5000), algorithm)
    for name in ("source", "target", "channel", "bytes", "first_after", "after", "offset", "reduces"):
        assert np.array_equal(getattr(one, name), getattr(two, name))


@EVERY_ENTRY
@unhurried
@given(data=st.data())
def test_rows_wait_for_earlier_rows_only_so_that_any_size_is_checked_cheaply(
    op: str, algorithm: str, data: st.DataObject
) -> None:
    schedule = plan(data.draw(requests(op)), algorithm)
    waiter = np.repeat(np.arange(len(schedule)), np.diff(schedule.first_after))
    assert np.all(schedule.after < waiter)
    assert np.all(depths(schedule)[schedule.after] < depths(schedule)[waiter])


def test_the_first_algorithm_is_the_default() -> None:
    assert plan(Request(op="all_reduce", ranks=4, bytes=64)).algorithm == "ring"
    assert plan(Request(op="barrier", ranks=4)).algorithm == "dissemination"


def test_the_large_ring_is_planned_in_little_memory() -> None:
    """1 GiB among 1,024 ranks in 128 servers of 8 rails: 8 channels x 2,046 steps x 1,024 pieces."""
    request = Request(op="all_reduce", ranks=1024, bytes=1 << 30, layout=eight_rails(128))
    schedule, peak = measured(plan, request)
    assert len(schedule) == 8 * 2046 * 1024
    assert np.all(np.bincount(schedule.source, weights=schedule.bytes) == 2 * 1023 * (1 << 30) / 1024)
    assert peak < 1.5e9
    check(schedule)
