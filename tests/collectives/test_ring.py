"""Rings: the bytes each rank moves, the pipeline, and the rails."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsim.collectives import Layout, Request, depths, plan
from netsim.collectives.chunking import share
from netsim.collectives.ring import ring_order
from tests.collectives.requests import eight_rails, layout_of


@settings(deadline=None)
@given(st.integers(2, 40), st.integers(1, 4), st.integers(1, 1 << 16))
def test_all_reduce_moves_exactly_2_n_minus_1_over_n_bytes_per_rank_and_byte(n: int, channels: int, units: int) -> None:
    size = 16 * n * channels * units
    schedule = plan(Request(op="all_reduce", ranks=n, bytes=size, channels=channels))
    for ends in (schedule.source, schedule.target):
        moved = np.zeros(n, dtype=np.int64)
        np.add.at(moved, ends, schedule.bytes)
        assert np.all(moved * n == 2 * (n - 1) * size)


@settings(deadline=None)
@given(st.integers(2, 20), st.integers(0, 5000))
def test_all_reduce_of_any_size_is_off_by_no_more_than_the_alignment(n: int, size: int) -> None:
    schedule = plan(Request(op="all_reduce", ranks=n, bytes=size))
    sent = np.bincount(schedule.source, weights=schedule.bytes, minlength=n)
    assert np.all(np.abs(sent - 2 * (n - 1) * size / n) <= 2 * 16)


@settings(deadline=None)
@given(st.integers(2, 12), st.integers(1, 4), st.integers(1, 5000))
def test_blocks_begin_at_packs_of_16_bytes(n: int, channels: int, size: int) -> None:
    """NCCL shares a buffer out in packs of 16 bytes (device/all_reduce.h)."""
    assert not (plan(Request(op="all_reduce", ranks=n, bytes=size, channels=channels)).offset % 16).any()


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 50), st.sampled_from([1, 2, 16]))
def test_shares_add_up_and_differ_by_at_most_the_alignment(total: int, parts: int, alignment: int) -> None:
    start, size = share(total, parts, np.arange(parts), alignment)
    assert size.sum() == total
    assert np.array_equal(start, np.cumsum(size) - size)
    assert size.max() - size.min() <= alignment
    assert np.all(start % alignment == 0)


def test_a_step_follows_the_step_of_the_neighbour_for_the_same_piece() -> None:
    schedule = plan(Request(op="all_reduce", ranks=4, bytes=4096, chunk_bytes=512))
    for row in range(len(schedule)):
        for before in schedule.predecessors(row):
            assert schedule.target[before] == schedule.source[row]
            assert schedule.offset[before] == schedule.offset[row]
    assert np.array_equal(np.unique(depths(schedule)), np.arange(6))
    assert np.all(schedule.reduces == (depths(schedule) < 3))


def test_pieces_are_as_long_as_the_slices_of_nccl() -> None:
    assert set(plan(Request(op="all_reduce", ranks=4, bytes=40 << 20)).bytes.tolist()) == {1 << 20}
    assert set(plan(Request(op="broadcast", ranks=4, bytes=40 << 20)).bytes.tolist()) == {512 << 10}


def test_one_channel_per_rail_where_a_group_spans_servers() -> None:
    def channels(layout: Layout, size: int) -> int:
        return len(np.unique(plan(Request(op="all_reduce", ranks=len(layout), bytes=size, layout=layout)).channel))

    assert channels(eight_rails(2), 1 << 20) == 8
    assert channels(eight_rails(1), 1 << 20) == 1
    assert channels(Layout.flat(16), 1 << 20) == 1
    assert channels(eight_rails(2), 14336) == 1, "28 KiB of traffic are not worth a second channel"
    assert channels(eight_rails(2), 40 << 10) == 3, "80 KiB of traffic are worth three"


@pytest.mark.parametrize("channel", range(8))
def test_a_ring_enters_every_server_once_on_its_own_rail(channel: int) -> None:
    layout = eight_rails(4)
    order = ring_order(layout, channel)
    assert np.array_equal(np.sort(order), np.arange(32))
    crossing = layout.server[order] != layout.server[np.roll(order, 1)]
    assert np.array_equal(layout.server[order[crossing]], [0, 1, 2, 3])
    assert np.all(layout.rail[order[crossing]] == channel)
    assert np.array_equal(layout.rail[order[:8]], (channel + np.arange(8)) % 8), "walks on in rail order"


def test_eight_rings_load_every_rail_alike() -> None:
    layout = eight_rails(4)
    schedule = plan(Request(op="all_reduce", ranks=32, bytes=32 << 20, layout=layout))
    crosses = layout.server[schedule.source] != layout.server[schedule.target]
    entered = np.bincount(layout.rail[schedule.target[crosses]], weights=schedule.bytes[crosses])
    assert len(set(entered.tolist())) == 1
    assert entered.sum() == 4 * 2 * 31 / 32 * (32 << 20), "one crossing per server and ring"


def test_ring_order_follows_the_group_where_every_rank_is_alone() -> None:
    assert ring_order(layout_of([7, 2, 9, 4], [0] * 4), 0).tolist() == [0, 1, 2, 3]


def test_a_server_without_the_rail_is_entered_on_the_next_higher_one() -> None:
    layout = layout_of([0, 0, 0, 1, 1], [0, 2, 5, 0, 5])
    assert ring_order(layout, 0).tolist() == [0, 1, 2, 3, 4]
    assert ring_order(layout, 1).tolist() == [1, 2, 0, 4, 3], "channel 1 is on rail 2, the second in use"
    assert ring_order(layout, 2).tolist() == [2, 0, 1, 4, 3]
    assert ring_order(layout, 3).tolist() == ring_order(layout, 0).tolist()
