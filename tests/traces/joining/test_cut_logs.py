"""Logs of ranks that lack heads or tails: what is left is joined as in the whole log, or it is said that it is not."""

import tempfile
from collections import Counter
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.cut_logs import CANNOT_TELL, FALSE, KINDS, jobs, several, tried
from netsim.errors import InputError
from netsim.traces import Trace, read
from tests.inputs import refusal, saved
from tests.traces.nccl.nccl_lines_of import call, init, job, world
from tests.traces.operations import sizes
from tests.traces.sample_files import FOLDER, needs_samples

Call = tuple[str, int, int]  # operation, count, opCount
NAMES = {
    "AllReduce": "all_reduce",
    "AllGather": "all_gather",
    "ReduceScatter": "reduce_scatter",
    "Broadcast": "broadcast",
}
STEP = [("AllReduce", 1000), ("AllGather", 2000), ("ReduceScatter", 3000), ("AllReduce", 4000), ("Broadcast", 500)]


def lines_of(rank: int, calls: list[Call], comm: int = 0xA0, size: int = 2) -> list[str]:
    return [call(100 + rank, comm + rank, size, op, count, turn=turn) for op, count, turn in calls]


def calls_of(folder: Path, *ranks: list[Call]) -> Trace:
    """What is read of a log without lines of communicators."""
    return job(folder, *(line for rank, calls in enumerate(ranks) for line in lines_of(rank, calls)))


def told_by_one(trace: Trace) -> list[str]:
    """The lines of operations that one rank reports; there is no other finding."""
    assert all("is reported by 1 of 2 ranks only" in each for each in trace.report.findings)
    return [each.split(":")[1] for each in trace.report.findings]


@pytest.mark.parametrize("numbers", [range(0x20, 0x25), [0] * 5], ids=["counting", "always 0"])
def test_a_head_that_is_cut_does_not_shift_the_rest(tmp_path: Path, numbers: list[int]) -> None:
    calls = [(op, count, turn) for (op, count), turn in zip(STEP, numbers, strict=True)]
    trace = calls_of(tmp_path, calls, calls[1:])
    whole = [("all_reduce", 4000), ("all_gather", 16000), ("reduce_scatter", 24000), ("all_reduce", 16000)]
    assert sizes(trace) == [*whole, ("broadcast", 2000)]
    assert told_by_one(trace) == ["1"]
    assert any(CANNOT_TELL[0] in note for note in trace.notes) == (not any(numbers))


def test_ranks_that_tell_of_other_calls_do_not_contradict_each_other(tmp_path: Path) -> None:
    trace = calls_of(tmp_path, [("AllReduce", 1 << 27, 3)], [("AllReduce", 18, 1), ("AllReduce", 2, 2)])
    assert Counter(sizes(trace)) == Counter([("all_reduce", 1 << 29), ("all_reduce", 72), ("all_reduce", 8)])
    assert len(told_by_one(trace)) == 3


def test_numbers_tell_equal_calls_apart(tmp_path: Path) -> None:
    early, late = ([("AllReduce", 1000, turn) for turn in range(first, first + 4)] for first in (5, 6))
    trace = calls_of(tmp_path, early, late)
    assert sizes(trace) == [("all_reduce", 4000)] * 5
    assert told_by_one(trace) == ["1", "8"]
    assert not any(CANNOT_TELL[0] in note for note in trace.notes)


def test_that_equal_calls_without_numbers_are_not_told_apart_is_said(tmp_path: Path) -> None:
    trace = calls_of(tmp_path, [("AllReduce", 1000, 0)] * 4, [("AllReduce", 1000, 0)] * 3)
    assert sizes(trace) == [("all_reduce", 4000)] * 4
    assert any("no numbers tell the calls of a communicator apart" in note for note in trace.report.assumed)


def test_numbers_that_each_rank_counts_by_itself_do_not_split_calls(tmp_path: Path) -> None:
    """A rank that sends more than another counts on: where sizes agree and numbers do not, sizes hold."""
    ranks = ([("AllReduce", 1 + turn, turn * by) for turn in range(6)] for by in (1, 3))
    trace = calls_of(tmp_path, *ranks)
    assert sizes(trace) == [("all_reduce", 4 + 4 * turn) for turn in range(6)]
    assert any("other numbers" in note for note in trace.report.assumed)


@pytest.mark.parametrize("order", [(2, 1, 3, 4), (1, 2, 4, 3), (1, 3, 2, 4)])
def test_calls_in_another_order_that_no_cut_explains_are_a_deadlock(tmp_path: Path, order: tuple[int, ...]) -> None:
    calls = [[("AllReduce", count, 0) for count in each] for each in ((1, 2, 3, 4), order)]
    assert "others after it: a deadlock" in refusal(calls_of, tmp_path, *calls)
    assert len(calls_of(tmp_path, calls[0], [*calls[0][1:], calls[0][0]]).operations) == 5  # 1 2 3 4 1, cut


def test_what_contradicts_among_calls_that_agree_is_told(tmp_path: Path) -> None:
    calls = [("AllReduce", 1 + turn, 0) for turn in range(9)]
    trace = calls_of(tmp_path, calls, [*calls[:4], ("AllGather", 7, 0), *calls[5:]])
    assert len(trace.operations) == 9
    (finding,) = trace.report.findings
    assert "rank 1 calls all_gather of 56 bytes fp32 where others call all_reduce of 20 bytes fp32" in finding


def test_communicators_of_one_size_are_joined_by_what_is_called_on_them(tmp_path: Path) -> None:
    """Rank 1 lacks its head, so that what it calls on first is what rank 0 calls on second."""
    first, second = [("AllReduce", 1, 1), ("AllReduce", 2, 2)], [("AllGather", 3, 1), ("AllGather", 4, 2)]
    order = [(first[:1], 0xA0), (second[:1], 0xB0), (first[1:], 0xA0), (second[1:], 0xB0)]
    lines = [lines_of(rank, *each) for rank in (0, 1) for each in order[rank:]]
    trace = job(tmp_path, *chain(*lines))
    assert sizes(trace) == [("all_reduce", 4), ("all_gather", 24), ("all_reduce", 8), ("all_gather", 32)]
    assert told_by_one(trace) == ["1"]


def test_calls_on_another_communicator_tell_equal_calls_apart(tmp_path: Path) -> None:
    """Rank 1 lacks its first two calls; those on the first communicator are all equal."""
    pairs = [(0xA0, 7), (0xB0, 11), (0xA0, 7), (0xB0, 12), (0xA0, 7), (0xB0, 13)]
    programs = [[call(100 + rank, comm + rank, 2, count=count) for comm, count in pairs] for rank in range(2)]
    second = [init(100 + rank, 0xB0 + rank, rank, 2, "0x78") for rank in range(2)]
    trace = job(tmp_path, *world(2), *second, *programs[0], *programs[1][2:])
    assert [each.bytes for each in trace.operations] == [28, 44, 28, 48, 28, 52]
    assert told_by_one(trace) == ["5", "6"]


def test_sends_of_cut_logs_find_their_receives(tmp_path: Path) -> None:
    sends = [call(100, 0xA0, 2, "Send", count, root=1) for count in (1, 2, 3, 4)]
    receives = [call(101, 0xA1, 2, "Recv", count, root=0) for count in (3, 4, 5)]
    trace = job(tmp_path, *world(2), *sends, *receives)
    assert Counter(each.bytes for each in trace.operations) == Counter((4, 8, 12, 16, 20))
    assert [note.split(":")[1] for note in trace.report.findings] == ["3", "4", "9"]
    assert any("which receive is of which send" in note for note in trace.report.assumed)


def test_sends_of_cut_logs_that_cannot_be_told_apart_are_no_deadlock(tmp_path: Path) -> None:
    """Rank 0's last send is not the one that rank 1 received before; what it received is not in rank 1's log."""
    programs = (
        [("Recv", 1), ("AllReduce", 1), ("Send", 2)],
        [("Recv", 0), ("AllReduce", 0), ("AllReduce", 1), ("Send", 1)],
    )
    lines = [
        call(100 + rank, 0xA0 + rank, 2, op, root=0 if op == "AllReduce" else 1 - rank, turn=turn)
        for rank, program in enumerate(programs)
        for op, turn in program
    ]
    trace = job(tmp_path, *world(2), *lines)
    assert Counter(each.op for each in trace.operations) == Counter(all_reduce=2, send=2)
    assert any(CANNOT_TELL[0] in note for note in trace.report.findings)


def test_sends_and_receives_of_other_sizes_and_numbers_are_not_one(tmp_path: Path) -> None:
    ends = [call(100, 0xA0, 2, "Send", 2, root=1, turn=1), call(101, 0xA1, 2, "Recv", 1, root=0, turn=16)]
    assert Counter(each.bytes for each in job(tmp_path, *world(2), *ends).operations) == Counter((8, 4))


PART = st.lists(st.tuples(st.sampled_from(sorted(NAMES)), st.integers(1, 3), st.booleans()), min_size=1, max_size=8)
CUTS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=4, max_size=4)


@settings(max_examples=250, deadline=None)
@given(PART, st.integers(1, 3), st.sampled_from(("counting", "twice", "none")), st.booleans(), CUTS)
def test_any_cut(
    part: list[tuple[str, int, bool]], times: int, numbers: str, one_file: bool, cuts: list[tuple[int, int]]
) -> None:
    """Four ranks call on the world and on pairs, and each lacks some of its first and last calls."""
    steps, on = part * times, Counter[bool]()
    programs: list[list[tuple[int, str]]] = [[] for _ in range(4)]
    for number, (op, count, pair) in enumerate(steps):
        turn = {"counting": on[pair] + 1, "twice": on[pair] // 2 + 1, "none": 0}[numbers]
        on[pair] += 1
        for rank, program in enumerate(programs):
            comm, size = (0xB0 + rank, 2) if pair else (0xA0 + rank, 4)
            program.append((number, call(100 + rank, comm, size, op, count, turn=turn)))
    kept = [each[head : max(head, len(each) - tail)] for each, (head, tail) in zip(programs, cuts, strict=True)]
    expected = Counter[tuple[str, int, int]]()
    for number, (op, count, pair) in enumerate(steps):
        seen = [rank for rank, each in enumerate(kept) if any(number == recorded for recorded, _ in each)]
        size = (2 if pair else 4) if op in ("AllGather", "ReduceScatter") else 1
        times_seen = len({rank // 2 for rank in seen}) if pair else min(1, len(seen))
        expected[NAMES[op], 2 if pair else 4, 4 * count * size] += times_seen
    trace = _read([[line for _, line in each] for each in kept], one_file)
    if trace is None:
        assert not expected.total()
        return
    assert not any(what in note for what in FALSE for note in trace.notes)
    found = Counter((each.op, len(each.ranks), each.bytes) for each in trace.operations)
    if numbers == "counting" or not any(CANNOT_TELL[0] in note for note in trace.notes):
        assert found == +expected


def _read(calls: list[list[str]], one_file: bool) -> Trace | None:
    inits = [[world(4)[rank], init(100 + rank, 0xB0 + rank, rank % 2, 2, f"0x{rank // 2}9")] for rank in range(4)]
    texts = [[*init_lines, *lines] for init_lines, lines in zip(inits, calls, strict=True)]
    with tempfile.TemporaryDirectory() as place:
        paths = [Path(place) / f"{number}.log" for number in range(1 if one_file else 4)]
        for number, path in enumerate(paths):
            saved(path, chain(*texts) if one_file else texts[number])
        try:
            return read(paths, partial=True)
        except InputError as error:
            assert "no whole NCCL collective call" in str(error)
            return None


@needs_samples
def test_cuts_of_real_logs() -> None:
    assert FOLDER is not None
    found = [(paths, recorded) for paths in jobs(FOLDER) if (recorded := several(paths))]
    assert len(found) >= 11
    for number in range(99):
        kind = KINDS[number // len(found) % len(KINDS)]
        assert tried(*found[number % len(found)], f"suite {number}", kind) in ("joined", "does not tell")
