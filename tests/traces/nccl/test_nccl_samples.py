"""Logs of real jobs, where they are at hand beside the checkout, against counts made by other means."""

import re
from collections import Counter

import pytest

from netsim.traces import Trace, read
from netsim.traces.nccl.lines import Cut, Init, Reported, Tuned, events
from tests.inputs import refusal
from tests.traces.operations import brief, sizes
from tests.traces.sample_files import needs_samples, sample

pytestmark = needs_samples
WIDTH = (1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1)


def job(number: str, **options: bool) -> Trace:
    return read(sample("nccl_log", f"nccl{number}_*"), **options)


def told(number: str) -> list[object]:
    """What the lines of a sample tell, one after another."""
    paths = sample("nccl_log", f"nccl{number}_*")
    return [each for path in paths for text in path.read_text(errors="replace").splitlines() for each in events(text)]


def reported(number: str) -> tuple[dict[str, tuple[int, int]], int]:
    """Complete calls by operation (lines, sum of count times width), and the number of cut ones."""
    lines: Counter[str] = Counter()
    size: Counter[str] = Counter()
    for event in told(number):
        if isinstance(event, Reported) and not event.by_call:
            lines[event.op] += 1
            size[event.op] += event.count * WIDTH[event.datatype]
    return {op: (lines[op], size[op]) for op in lines}, sum(isinstance(event, Cut) for event in told(number))


@pytest.mark.parametrize(
    ("number", "expected", "cut"),
    [
        ("01", {"broadcast": (6, 153_024_744)}, 1),
        ("03", {"send": (6, 58_097_664), "recv": (1, 9_682_944)}, 1),
        ("04", {"send": (1, 1_030_144)}, 0),
        ("06", {"all_gather": (11, 5_632)}, 0),
        ("07", {"all_reduce": (4, 536_870_912)}, 1),
        ("09", {"all_gather": (3, 25_165_824), "reduce_scatter": (2, 16_777_216), "all_reduce": (2, 8)}, 0),
        ("13", {"all_reduce": (5, 5)}, 1),
        ("18", {"all_reduce": (8, 32)}, 0),
        ("19", {"all_gather": (6, 56_635_392), "broadcast": (3, 3_161)}, 0),
        ("21", {"all_reduce": (8, 8 * 536_870_912)}, 0),
        ("27", {"broadcast": (2, 480)}, 0),
        ("32", {"broadcast": (12, 2 * 8_870_472), "all_reduce": (24, 2 * 118_234_368)}, 0),
    ],
)
def test_lines(number: str, expected: dict[str, tuple[int, int]], cut: int) -> None:
    assert reported(number) == (expected, cut)


@pytest.mark.parametrize(
    ("number", "choices"),
    [
        ("15", {"tree ll128": 13}),
        ("16", {}),
        ("18", {"all_reduce ring simple": 1}),
        ("19", {"all_gather ring simple": 1}),
        ("32", {"broadcast ring simple": 6, "all_reduce ring simple": 12}),
    ],
)
def test_what_was_chosen(number: str, choices: dict[str, int]) -> None:
    assert Counter(event.choice for event in told(number) if isinstance(event, Tuned)) == choices


@pytest.mark.parametrize(
    ("number", "seen", "of", "operations"),
    [
        ("01", 5, None, {("broadcast", 424): 1, ("broadcast", 51_007_824): 1}),
        ("03", 1, None, {("send", 9_682_944): 7}),
        ("04", 1, None, {("send", 1_030_144): 1}),
        ("06", 11, 16, {("all_gather", 8_192): 1}),
        ("07", 1, None, {("all_reduce", 134_217_728): 4}),
        ("09", 2, None, {("all_gather", 16_777_216): 2, ("reduce_scatter", 16_777_216): 1, ("all_reduce", 4): 2}),
        ("13", 5, None, {("all_reduce", 1): 1}),
        ("18", 8, 16, {("all_reduce", 4): 1}),
        ("19", 3, 4, {("all_gather", 37_756_928): 2, ("broadcast", 8): 1, ("broadcast", 3_145): 1}),
        ("27", 2, None, {("broadcast", 240): 2}),
        ("31", 1, 16, {("all_reduce", 10_485_760): 2}),
    ],
)
def test_an_excerpt_can_be_profiled_and_may_be_filled_in(
    number: str, seen: int, of: int | None, operations: dict[tuple[str, int], int]
) -> None:
    """With `of` ranks in all, where all others can do the same as those seen."""
    trace = job(number, partial=True)
    assert Counter(sizes(trace)) == operations
    assert len(trace.report.seen or ()) == seen
    if of is not None:
        assert re.search(f"only {seen} of {of} ranks .*fill_missing_ranks=True", refusal(job, number))
        trace = job(number, fill_missing_ranks=True)
        assert trace.ranks == of
        assert Counter(sizes(trace)) == operations


@pytest.mark.parametrize("number", ["11", "12", "15", "16", "24", "26", "28", "30", "34"])
def test_logs_without_a_call(number: str) -> None:
    assert reported(number) == ({}, 0)
    assert "NCCL_DEBUG_SUBSYS=INIT,COLL" in refusal(job, number)


@pytest.mark.parametrize(
    ("number", "ranks", "of"),
    [("12", [14, 9, 8], 16), ("13", [4, 2, 6, 3, 7], 16), ("18", [4, 0, 2, 6], 16), ("24", [0, 1], 2)],
)
def test_ranks_that_enter_communicators(number: str, ranks: list[int], of: int) -> None:
    inits = [event for event in told(number) if isinstance(event, Init)]
    assert [each.rank for each in inits if not each.started] == ranks
    assert {each.nranks for each in inits} == {of}


def test_two_ranks_of_one_job_are_joined() -> None:
    trace = job("32")
    assert trace.ranks == 2
    step = [("broadcast", 1_478_412), ("all_reduce", 9_649_344), ("all_reduce", 10_056_384)]
    assert sizes(trace) == 6 * step
    assert all(each.ranks == (0, 1) and each.stream == "default" for each in trace.operations)
    assert trace.by_rank() == [list(range(18)), list(range(18))]
    assert any(note.startswith("36 NCCL CALL lines repeat") for note in trace.notes)
    assert not any(".log:" in note for note in trace.notes)  # the ranks agree on everything


def test_one_process_with_eight_ranks_makes_one_collective() -> None:
    assert brief(job("21")) == [("all_reduce", tuple(range(8)), 536_870_912)]
