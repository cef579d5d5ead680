"""Gather, scatter, send, flows and barrier."""

import numpy as np
import pytest

from netsim.collectives import Request, depths, plan


def test_flows_keep_their_order_and_start_together() -> None:
    schedule = plan(Request(op="flows", ranks=4, flows=[(0, 2, 2000), (1, 3, 100), (0, 2, 7), (3, 0, 0)]))
    assert schedule.source.tolist() == [0, 1, 0]
    assert schedule.target.tolist() == [2, 3, 2]
    assert schedule.bytes.tolist() == [2000, 100, 7]
    assert len(schedule.after) == 0


def test_flows_may_come_as_an_array() -> None:
    table = np.array([[0, 1, 10], [1, 0, 20]])
    assert plan(Request(op="flows", ranks=2, flows=table)).bytes.tolist() == [10, 20]


def test_flows_wait_for_all_pieces_of_others_whatever_they_are_cut_into() -> None:
    """Flow 1 carries nothing, so rows and flows are numbered apart."""
    request = Request(
        op="flows", ranks=4, flows=[(0, 1, 64), (2, 3, 0), (1, 2, 64)], after=[[], [], [0]], channels=2, chunk_bytes=16
    )
    schedule = plan(request)
    assert schedule.source.tolist() == [0, 0, 1, 1, 0, 0, 1, 1]
    assert schedule.channel.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert [schedule.predecessors(row).tolist() for row in range(8)] == [[], [], [0, 1, 4, 5], [0, 1, 4, 5]] * 2


def test_flows_keep_to_their_channels() -> None:
    flows = [(0, 1, 64), (0, 1, 64)]
    assert plan(Request(op="flows", ranks=2, flows=flows, flow_channels=[0, 5])).channel.tolist() == [0, 5]
    both = plan(Request(op="flows", ranks=2, flows=flows, flow_channels=[0, 5], channels=2))
    assert both.channel.tolist() == [0, 10, 1, 11]


def test_a_large_flow_stays_whole_unless_a_chunk_is_asked_for() -> None:
    assert plan(Request(op="send", ranks=2, bytes=1 << 33)).bytes.tolist() == [1 << 33]
    assert plan(Request(op="send", ranks=2, bytes=100, chunk_bytes=40)).bytes.tolist() == [40, 40, 20]
    assert plan(Request(op="send", ranks=2, bytes=100, channels=2)).channel.tolist() == [0, 1]


@pytest.mark.parametrize("op", ["gather", "scatter"])
def test_one_row_per_rank_but_the_root(op: str) -> None:
    schedule = plan(Request(op=op, ranks=5, bytes=52, root=2))
    far, near = (schedule.source, schedule.target) if op == "gather" else (schedule.target, schedule.source)
    assert far.tolist() == [0, 1, 3, 4]
    assert near.tolist() == [2, 2, 2, 2]
    assert schedule.bytes.tolist() == [11, 11, 10, 10]
    assert schedule.offset.tolist() == [0, 11, 32, 42]


@pytest.mark.parametrize(("ranks", "rounds"), [(2, 1), (3, 2), (8, 3), (9, 4), (1024, 10)])
def test_a_barrier_takes_log2_rounds_of_one_byte(ranks: int, rounds: int) -> None:
    schedule = plan(Request(op="barrier", ranks=ranks, bytes=123))
    assert depths(schedule).max() + 1 == rounds
    assert len(schedule) == ranks * rounds
    assert np.all(schedule.bytes == 1)
