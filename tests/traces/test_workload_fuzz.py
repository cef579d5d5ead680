"""Damaged files of jobs for simulators: an InputError of one line, or fewer records; never a traceback."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsim.errors import InputError
from netsim.traces import Group, Operation, Trace, Turn, format_of, read
from netsim.traces.chakra.write import write_chakra
from netsim.traces.goal.write import write_goal, write_goal_binary
from tests.traces.test_workload_files import COLUMNS, HEAD, csv, row

PAIR = Group("pair", (0, 1))
JOB = Trace(
    "job",
    2,
    {"pair": PAIR},
    (
        Operation("compute", "world", (0, 1), duration_ps=5_000_000),
        Operation("all_reduce", "pair", (0, 1), 64, dtype="bf16", recorded_duration_ps=7_000_000),
        Operation("send", None, (0, 1), 5, src=0, dst=1, start_ps=1000),
        Operation("flows", None, (0, 1), 9, flows=((0, 1, 5), (1, 0, 4)), turns=(Turn(), Turn(after=(0,)))),
    ),
)
POINT_TO_POINT = Trace("job", 2, {}, tuple(each for each in JOB.operations if each.op != "all_reduce"))


def made(kind: str) -> bytes:
    """A whole file of a format."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "job.et"
        if kind == "chakra":
            return write_chakra(JOB, path)[0].read_bytes()
        if kind == "goal":
            return write_goal(POINT_TO_POINT, path)[0].read_bytes()
        if kind == "goal_binary":
            return write_goal_binary(POINT_TO_POINT, path)[0].read_bytes()
    if kind == "simai":
        rows = [row("1 ALLREDUCE 5", "2 ALLTOALL_EP 6", "3 ALLGATHER_DP_EP 7", 8)] * 2
        return "\n".join([HEAD, "2", *rows]).encode()
    rows = [csv("all_reduce", elapsed=1.5), csv("barrier", "all", 8, "None"), csv("all_to_all", "ep_group", "None")]
    return "\n".join(["[rank0 ~ rank7]", COLUMNS, *rows, ""]).encode()


FILES = {kind: made(kind) for kind in ("chakra", "goal", "goal_binary", "simai", "aicb_csv")}


def records(content: bytes) -> int | None:
    """How many records a file holds; None if it is refused."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "job.0.et"
        path.write_bytes(content)
        try:
            trace = read(path, fill_missing_ranks=True)
        except InputError as error:
            assert "\n" not in str(error)
            assert str(path) in str(error)
            assert error.hint
            return None
    assert len(trace.by_rank()) == trace.ranks
    assert all(set(each.ranks) <= set(range(trace.ranks)) for each in trace.operations)
    assert all(number < place for place, each in enumerate(trace.operations) for number in each.after)
    return trace.report.records


@pytest.mark.parametrize("kind", ["goal", "goal_binary", "simai", "aicb_csv"])
def test_a_whole_file_is_read(kind: str) -> None:
    assert records(FILES[kind])


@pytest.mark.parametrize("kind", FILES)
def test_any_prefix_holds_no_more(kind: str, tmp_path: Path) -> None:
    whole = records(FILES[kind]) or 0
    path = tmp_path / "whole"
    path.write_bytes(FILES[kind])
    assert format_of(path) == kind.removesuffix("_binary")
    for end in range(1, len(FILES[kind])):
        found = records(FILES[kind][:end])
        assert found is None or found <= whole or kind == "chakra"


@pytest.mark.parametrize("kind", FILES)
@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_a_file_with_a_piece_replaced(kind: str, data: st.DataObject) -> None:
    content = FILES[kind]
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(start, min(start + 8, len(content))))
    if kind in ("chakra", "goal_binary"):
        piece = data.draw(st.binary(max_size=8))
    else:
        piece = data.draw(st.text("0123456789-:{}, \n\tabcrNEOL", max_size=8)).encode()
    records(content[:start] + piece + content[end:])
