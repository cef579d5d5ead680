"""Sends and receives in NCCL logs: all-to-alls, groups that start together, plain sends, ends that are missing."""

from pathlib import Path

import pytest

from netsim.traces import Operation
from tests.inputs import refusal
from tests.traces.nccl.nccl_lines_of import call, job, world


def end(kind: str, rank: int, peer: int, nranks: int, count: int = 10, turn: int = 0) -> str:
    return call(100 + rank, 0xA0 + rank, nranks, kind, count, root=peer, turn=turn)


def all_to_all(rank: int, counts: list[list[int]], *, with_self: bool = True) -> list[str]:
    size, lines = len(counts), []
    for peer in range(size):
        if peer != rank or with_self:
            lines.append(end("Send", rank, peer, size, counts[rank][peer]))
            lines.append(end("Recv", rank, peer, size, counts[peer][rank]))
    return lines


def test_a_send_and_its_receive_are_one_send(tmp_path: Path) -> None:
    trace = job(tmp_path, *world(2), end("Send", 1, 0, 2), end("Recv", 0, 1, 2))
    assert trace.operations == (Operation("send", None, (1, 0), 40, "fp32", src=1, dst=0),)


def test_a_pipeline_keeps_its_steps_apart(tmp_path: Path) -> None:
    lines = [end("Send", 0, 1, 3, turn=1), end("Recv", 1, 0, 3, turn=1), end("Send", 1, 2, 3, turn=2)]
    trace = job(tmp_path, *world(3), *lines, end("Recv", 2, 1, 3, turn=2))
    assert [(each.op, each.src, each.dst) for each in trace.operations] == [("send", 0, 1), ("send", 1, 2)]


def test_equal_sends_to_all_are_an_all_to_all(tmp_path: Path) -> None:
    counts = [[10] * 3 for _ in range(3)]
    for with_self in (True, False):
        lines = [line for rank in range(3) for line in all_to_all(rank, counts, with_self=with_self)]
        trace = job(tmp_path, *world(3), *lines)
        assert trace.operations == (Operation("all_to_all", "world", (0, 1, 2), 120, "fp32"),)


def test_all_to_alls_in_a_row_stay_apart_even_where_op_count_stands_still(tmp_path: Path) -> None:
    counts = [[10] * 3 for _ in range(3)]
    lines = [line for rank in range(3) for line in 2 * all_to_all(rank, counts)]
    assert [each.op for each in job(tmp_path, *world(3), *lines).operations] == ["all_to_all", "all_to_all"]


def test_unequal_sends_to_all_are_an_all_to_all_v(tmp_path: Path) -> None:
    counts = [[1, 2, 3], [4, 0, 6], [7, 8, 9]]
    lines = [line for rank in range(3) for line in all_to_all(rank, counts)]
    (operation,) = job(tmp_path, *world(3), *lines).operations
    assert operation.op == "all_to_all_v"
    assert operation.sizes == ((4, 8, 12), (16, 0, 24), (28, 32, 36))
    assert operation.bytes == 96


def test_a_ring_of_grouped_sends_starts_together(tmp_path: Path) -> None:
    lines = []
    for rank in range(4):
        lines += [end("Send", rank, (rank + 1) % 4, 4), end("Recv", rank, (rank - 1) % 4, 4)]
    (operation,) = job(tmp_path, *world(4), *lines).operations
    assert operation.op == "flows"
    assert sorted(operation.flows) == [(0, 1, 40), (1, 2, 40), (2, 3, 40), (3, 0, 40)]
    assert operation.group is None


def test_a_transfer_keeps_its_place_among_collectives(tmp_path: Path) -> None:
    lines = [call(100, 0xA0, 2), end("Send", 0, 1, 2), call(100, 0xA0, 2, count=1)]
    lines += [call(101, 0xA1, 2), end("Recv", 1, 0, 2), call(101, 0xA1, 2, count=1)]
    trace = job(tmp_path, *world(2), *lines)
    assert [(each.op, each.bytes) for each in trace.operations] == [("all_reduce", 40), ("send", 40), ("all_reduce", 4)]


def test_an_end_without_its_other_end_is_told(tmp_path: Path) -> None:
    both = [end("Send", 0, 1, 2), end("Recv", 1, 0, 2)]
    trace = job(tmp_path, *world(2), *both, end("Send", 0, 1, 2, 7, turn=1), call(100, 0xA0, 2), call(101, 0xA1, 2))
    assert [each.bytes for each in trace.operations] == [40, 28, 40]
    assert any("job.log:5: rank 0 sends to 1, which does not report" in note for note in trace.notes)
    trace = job(tmp_path, *world(2), *both, end("Recv", 0, 1, 2, 7, turn=1))
    found = [(each.op, each.src, each.dst, each.bytes) for each in trace.operations]
    assert found == [("send", 0, 1, 40), ("send", 1, 0, 28)]
    assert any("rank 0 receives from 1, which does not report the send; kept" in note for note in trace.notes)


def test_ends_that_differ_in_size_are_told(tmp_path: Path) -> None:
    trace = job(tmp_path, *world(2), end("Send", 0, 1, 2, 10, 1), end("Recv", 1, 0, 2, 11, 1))
    assert [each.bytes for each in trace.operations] == [40]
    assert any("40 bytes are sent where 44 are received" in note for note in trace.notes)


def test_nothing_is_sent_to_oneself_and_that_is_told(tmp_path: Path) -> None:
    to_itself = [end("Send", 0, 0, 2), end("Recv", 0, 0, 2)]
    empty = [end("Send", 1, 0, 2, 0, turn=1), end("Recv", 0, 1, 2, 0, turn=1)]
    trace = job(tmp_path, *world(2), *to_itself, end("Send", 0, 1, 2), end("Recv", 1, 0, 2), *empty)
    assert [(each.op, each.src, each.dst) for each in trace.operations] == [("send", 0, 1)]
    assert trace.report.skipped == {"sends of a rank to itself": 1, "sends of no bytes": 1}
    assert "1 skipped: sends of a rank to itself" in trace.notes


@pytest.mark.parametrize("device", ["[0] ", "[1] ", ""])
def test_lines_that_have_lost_host_and_process_are_read(tmp_path: Path, device: str) -> None:
    """As the first is written in NVIDIA/nccl issue 734; the device, if it is left, tells the ranks apart."""
    ends = [end("Send", 0, 1, 2, turn=1), end("Send", 0, 1, 2, 20, turn=2), end("Recv", 1, 0, 2, turn=1)]
    bare = [line.split("[0] ")[1] for line in ends]
    trace = job(tmp_path, *(f"{'[0] ' if device else ''}{line}" for line in bare[:2]), device + bare[2])
    assert trace.ranks == 2
    assert [(each.src, each.dst, each.bytes) for each in trace.operations] == [(0, 1, 40), (0, 1, 80)]
    assert any("job.log:2: rank 0 sends to 1, which does not report the receive" in note for note in trace.notes)


def test_an_all_to_all_of_one_seen_rank_stands_for_all(tmp_path: Path) -> None:
    lines = all_to_all(0, [[10] * 4 for _ in range(4)])
    trace = job(tmp_path, world(4)[0], *lines, fill=True)
    assert [(each.op, each.bytes, each.ranks) for each in trace.operations] == [("all_to_all", 160, (0, 1, 2, 3))]
    uneven = all_to_all(0, [[1, 2, 3, 4]] * 4)
    assert "cannot be filled in" in refusal(job, tmp_path, world(4)[0], *uneven, fill=True)
