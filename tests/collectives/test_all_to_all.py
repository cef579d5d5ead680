"""All-to-all: rounds that step together."""

import numpy as np

from netsim.collectives import Request, depths, plan


def test_round_k_goes_k_places_on_after_what_came_in_round_k_minus_1() -> None:
    schedule = plan(Request(op="all_to_all", ranks=5, bytes=500))
    assert len(schedule) == 5 * 4
    step = depths(schedule)
    assert np.array_equal((schedule.target - schedule.source) % 5, step + 1)
    for row in np.flatnonzero(step):
        (before,) = schedule.predecessors(int(row))
        assert schedule.target[before] == schedule.source[row]
        assert step[before] == step[row] - 1


def test_a_round_that_brings_nothing_is_passed_over() -> None:
    sizes = np.full((4, 4), 10)
    sizes[1, 3] = 0  # what rank 3 would receive in round 2
    schedule = plan(Request(op="all_to_all_v", ranks=4, sizes=sizes))
    rows = {ends: row for row, ends in enumerate(zip(schedule.source.tolist(), schedule.target.tolist(), strict=True))}
    assert (1, 3) not in rows
    assert schedule.predecessors(rows[3, 2]).tolist() == [rows[2, 3]], "round 3 waits for round 1"
    assert schedule.predecessors(rows[0, 3]).tolist() == [rows[2, 0]], "others wait for the round before"


def test_a_block_of_several_pieces_waits_for_the_last_piece_of_the_round_before() -> None:
    schedule = plan(Request(op="all_to_all", ranks=3, bytes=300, chunk_bytes=40))
    assert schedule.bytes.tolist() == [40, 40, 20] * 6
    assert np.array_equal(np.diff(schedule.first_after), [0] * 9 + [1] * 9)
    assert set(schedule.after.tolist()) == {2, 5, 8}


def test_a_million_pairs_are_planned() -> None:
    schedule = plan(Request(op="all_to_all", ranks=1024, bytes=1 << 30))
    assert len(schedule) == 1024 * 1023
    assert np.all(schedule.bytes == 1 << 20)
