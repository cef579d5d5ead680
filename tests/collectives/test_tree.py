"""Trees: NCCL's shapes, both trees loaded alike, and the pipeline."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsim.collectives import Request, plan
from netsim.collectives.tree import rank_tree, server_tree
from tests.collectives.requests import eight_rails, layout_of
from tests.collectives.test_alpha_beta import tree_depth


def children(parent: list[int]) -> dict[int, set[int]]:
    return {boss: {child for child, above in enumerate(parent) if above == boss} for boss in set(parent) - {-1}}


def test_tree_of_14_servers_is_that_of_nccl() -> None:
    """The picture in trees.cc."""
    picture = {0: {8}, 8: {4, 12}, 4: {2, 6}, 12: {10, 13}, 2: {1, 3}, 6: {5, 7}, 10: {9, 11}}
    assert children(server_tree(14, 0).tolist()) == picture


def test_the_other_tree_of_14_is_its_mirror_and_that_of_13_is_shifted() -> None:
    mirrored = {13 - boss: {13 - kid for kid in kids} for boss, kids in children(server_tree(14, 0).tolist()).items()}
    assert children(server_tree(14, 1).tolist()) == mirrored
    shifted = {
        (boss + 1) % 13: {(kid + 1) % 13 for kid in kids}
        for boss, kids in children(server_tree(13, 0).tolist()).items()
    }
    assert children(server_tree(13, 1).tolist()) == shifted


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("servers", [*range(1, 40), 64, 100, 129, 1000, 1024])
def test_trees_are_binary_connected_and_flat(servers: int, which: int) -> None:
    parent = server_tree(servers, which).tolist()
    assert parent.count(-1) == 1
    assert all(len(kids) <= 2 for kids in children(parent).values())
    assert tree_depth(parent) <= (servers - 1).bit_length()


@pytest.mark.parametrize("servers", range(2, 70))
def test_who_has_children_in_one_tree_is_a_leaf_of_the_other(servers: int) -> None:
    busy = [set(children(server_tree(servers, which).tolist())) for which in (0, 1)]
    assert len(busy[0] & busy[1]) == servers % 2


@settings(deadline=None)
@given(st.integers(3, 70), st.integers(1, 1000), st.sampled_from(["broadcast", "reduce"]), st.data())
def test_rooted_trees_load_nobody_with_more_than_the_buffer_each_way(
    ranks: int, units: int, op: str, data: st.DataObject
) -> None:
    """Two trees over the others, each with half of the bytes: full bandwidth (Sanders, Speck, Traeff 2009)."""
    size, root = 32 * units, data.draw(st.integers(0, ranks - 1))
    schedule = plan(Request(op=op, ranks=ranks, bytes=size, root=root), "tree")
    busy, calm = (schedule.source, schedule.target) if op == "broadcast" else (schedule.target, schedule.source)
    relayed = np.bincount(busy, weights=schedule.bytes, minlength=ranks)
    own = np.bincount(calm, weights=schedule.bytes, minlength=ranks)
    assert np.all(np.delete(own, root) == size)
    assert own[root] == 0
    assert relayed[root] == size
    assert np.sum(relayed > size) <= (ranks - 1) % 2, "one may be busy in both trees when the others are odd"


@settings(deadline=None)
@given(st.integers(2, 30), st.integers(1, 1000))
def test_half_of_the_bytes_go_over_each_tree(ranks: int, units: int) -> None:
    schedule = plan(Request(op="all_reduce", ranks=ranks, bytes=32 * units), "tree")
    half = np.bincount(schedule.channel, weights=schedule.bytes)
    assert half.tolist() == [2 * (ranks - 1) * 16 * units] * 2


def test_ranks_of_a_server_hang_below_its_head_in_a_chain() -> None:
    rank = np.arange(12)
    parent = rank_tree(layout_of(rank // 4, rank % 4), channel=1, which=0)
    assert parent.tolist() == [3, -1, 1, 2, 7, 9, 5, 6, 11, 1, 9, 10]


def test_a_rooted_tree_begins_with_the_root_and_its_server() -> None:
    rank = np.arange(12)
    parent = rank_tree(layout_of(rank // 4, rank % 4), channel=0, which=0, root=6)
    assert parent.tolist() == [8, 0, 1, 2, 7, 4, -1, 6, 6, 8, 9, 10]


def test_pieces_are_as_long_as_a_slot_of_nccl() -> None:
    assert set(plan(Request(op="all_reduce", ranks=4, bytes=8 << 20), "tree").bytes.tolist()) == {512 << 10}


def test_channels_of_rails_are_doubled_and_one_channel_is_one_tree() -> None:
    layout = eight_rails(2)
    schedule = plan(Request(op="all_reduce", ranks=16, bytes=1 << 24, layout=layout), "tree")
    assert np.array_equal(np.unique(schedule.channel), np.arange(16))
    crosses = layout.server[schedule.source] != layout.server[schedule.target]
    assert np.array_equal(layout.rail[schedule.target[crosses]], schedule.channel[crosses] % 8)
    single = plan(Request(op="all_reduce", ranks=16, bytes=1 << 24, channels=1), "tree")
    assert set(zip(single.source[single.reduces].tolist(), single.target[single.reduces].tolist(), strict=True)) == {
        (child, boss) for child, boss in enumerate(server_tree(16, 0).tolist()) if boss != -1
    }
