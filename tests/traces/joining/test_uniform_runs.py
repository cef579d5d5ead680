"""Joining what ranks report alike over columns gives what joining it call by call gives, whatever is lost or mixed."""

import tempfile
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsim.errors import InputError
from netsim.traces import Trace, read
from netsim.traces.joining import align as joining
from netsim.traces.joining.order import program_order
from netsim.traces.joining.reports import Findings
from tests.inputs import saved
from tests.traces.nccl.nccl_lines_of import call, init, job, world

RANKS = 4
STEPS = st.lists(
    st.tuples(
        st.sampled_from(("AllReduce", "AllGather", "Broadcast", "AlltoAll", "pair", "Send")),
        st.sampled_from((1, 10, 77)),
        st.integers(0, 1),  # which stream
        st.integers(0, 2),  # by how much opCount rises
    ),
    min_size=1,
    max_size=25,
)


def lines_of(rank: int, steps: list[tuple[str, int, int, int]]) -> list[str]:
    """The lines of one rank: it enters the world and a pair, then calls."""
    lines = [world(RANKS)[rank], init(100 + rank, 0xB0 + rank, rank % 2, 2, f"0x{rank // 2}9")]
    turn = 0
    for op, count, on, by in steps:
        comm, size, root, stream = 0xA0 + rank, RANKS, 0, 0x500 + 16 * rank + on
        if op == "Send":
            op, root = ("Send", rank + 1) if rank % 2 == 0 else ("Recv", rank - 1)
        elif op == "pair":
            op, comm, size = "AllReduce", 0xB0 + rank, 2
        lines.append(call(100 + rank, comm, size, op, count, root=root, turn=turn, stream=stream))
        turn += by
    return lines


def outcome(paths: list[Path], *, over_columns: bool) -> object:
    with patch.object(joining, "uniform", joining.uniform if over_columns else lambda calls, lined_up: {}):
        try:
            trace = read(paths, partial=True)
        except InputError as error:
            return str(error)
    return trace, [each.line for each in trace.operations], trace.notes, trace.report


@settings(max_examples=150, deadline=None)
@given(st.data(), STEPS, st.booleans())
def test_both_ways_give_the_same(data: st.DataObject, steps: list[tuple[str, int, int, int]], apart: bool) -> None:
    jobs = [lines_of(rank, steps) for rank in range(RANKS)]
    for lines in jobs:
        for _ in range(data.draw(st.integers(0, 1))):
            at = data.draw(st.integers(0, len(lines) - 1))
            lines[at : at + data.draw(st.integers(0, 2))] = [lines[data.draw(st.integers(0, len(lines) - 1))]]
    with tempfile.TemporaryDirectory() as folder:
        texts = jobs if apart else [[line for turn in zip(*jobs, strict=False) for line in turn]]
        paths = [Path(folder) / f"{number}.log" for number in range(len(texts))]
        for path, lines in zip(paths, texts, strict=True):
            saved(path, ["NCCL INFO", *lines])
        assert outcome(paths, over_columns=True) == outcome(paths, over_columns=False)


def lossy(folder: Path, *lost: int, turns: tuple[int, ...] = (0, 1, 2, 3)) -> Trace:
    """What is read of a job of calls of two ranks, the second of which lacks some."""
    lines = [call(100, 0xA0, 2, count=1 + number, turn=turn) for number, turn in enumerate(turns)]
    other = [call(101, 0xA1, 2, count=1 + number, turn=turn) for number, turn in enumerate(turns)]
    kept = [line for number, line in enumerate(other) if number not in lost]
    return job(folder, *world(2), *lines, *kept)


@pytest.mark.parametrize("turns", [(0, 1, 2, 3), (5, 5, 6, 7), (0, 0, 0, 0)])
def test_a_lost_line_is_found_by_its_number_or_else_by_its_size(tmp_path: Path, turns: tuple[int, ...]) -> None:
    trace = lossy(tmp_path, 2, turns=turns)
    assert [each.bytes for each in trace.operations] == [4, 8, 12, 16]
    (finding,) = trace.report.findings
    assert finding.endswith("job.log:5: all_reduce of 12 bytes fp32 is reported by 1 of 2 ranks only; kept for all")


def test_calls_that_agree_are_joined_without_an_object_for_each(tmp_path: Path) -> None:
    with patch.object(joining, "_collective", side_effect=AssertionError):
        assert len(lossy(tmp_path).operations) == 4


def test_a_job_of_nothing_but_transfers_without_bytes_has_an_order_too() -> None:
    assert program_order([], Findings([])) == []
