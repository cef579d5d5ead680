"""Recursive doubling, halving and doubling, Bruck: rounds, bytes of each rank, folds, large messages in their turn."""

from itertools import product

import numpy as np
import pytest

from netsim.collectives import Request, depths, plan
from netsim.collectives.rounds import EAGER
from tests.collectives.bounds import prove

IN_ROUNDS = [
    *(("all_reduce", "recursive_doubling"), ("all_reduce", "halving_doubling")),
    *(("all_gather", "bruck"), ("all_to_all", "bruck")),
]


@pytest.mark.parametrize(
    ("op", "algorithm", "ranks", "sent"),
    [  # in buffers, by every rank
        ("all_reduce", "recursive_doubling", 8, 3),
        ("all_reduce", "halving_doubling", 8, 2 * 7 / 8),
        ("all_gather", "bruck", 8, 7 / 8),
        ("all_gather", "bruck", 11, 10 / 11),
        ("all_to_all", "bruck", 8, 3 * 4 / 8),
        ("all_to_all", "bruck", 11, (5 + 5 + 4 + 3) / 11),
    ],
)
def test_every_rank_sends_and_receives_alike(op: str, algorithm: str, ranks: int, sent: float) -> None:
    size = 16 * ranks * 100
    schedule = plan(Request(op=op, ranks=ranks, bytes=size), algorithm)
    for end in (schedule.source, schedule.target):
        assert np.bincount(end, weights=schedule.bytes) == pytest.approx([sent * size] * ranks)
    assert len(schedule) == ranks * (depths(schedule).max() + 1), "one message per rank and round"


@pytest.mark.parametrize(("algorithm", "within"), [("recursive_doubling", 3), ("halving_doubling", 2 * 7 / 8)])
def test_ranks_beyond_a_power_of_two_are_folded_in_and_out(algorithm: str, within: float) -> None:
    """Of 11 ranks 0, 2 and 4 give their buffer to 1, 3 and 5 and get the result back; 8 exchange."""
    schedule = plan(Request(op="all_reduce", ranks=11, bytes=1280), algorithm)
    sent = np.bincount(schedule.source, weights=schedule.bytes) / 1280
    assert sent.tolist() == [1, within + 1] * 3 + [within] * 5
    ends = [(schedule.source[row], schedule.target[row]) for row in (0, 1, 2, -3, -2, -1)]
    assert ends == [(0, 1), (2, 3), (4, 5), (1, 0), (3, 2), (5, 4)]


def test_a_rank_behind_a_fold_sends_its_large_messages_one_by_one() -> None:
    """Of 5 ranks rank 1 has 0's buffer late; 2 and 3 have sent theirs by then, so it could send to both at once."""
    for size, awaited in ((EAGER, []), (EAGER + 1, [1])):
        schedule = plan(Request(op="all_reduce", ranks=5, bytes=size), "recursive_doubling")
        own = [schedule.source[schedule.predecessors(row)] == 1 for row in np.flatnonzero(schedule.source == 1)]
        assert [int(each.sum()) for each in own] == ([0, 1, 1] if awaited else [0, 0, 0])


@pytest.mark.parametrize(("op", "algorithm"), IN_ROUNDS)
def test_large_messages_in_their_turn_give_the_same(op: str, algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netsim.collectives.rounds.EAGER", 0)
    for ranks, chunk, channels, seed in product(range(2, 14), (None, 20), (1, 3), range(3)):
        request = Request(op=op, ranks=ranks, bytes=99, chunk_bytes=chunk, channels=channels)
        prove(plan(request, algorithm), request, seed)


def test_cut_messages_wait_for_the_pieces_that_they_carry_on() -> None:
    schedule = plan(Request(op="all_reduce", ranks=4, bytes=100, chunk_bytes=40), "recursive_doubling")
    for row in np.flatnonzero(depths(schedule) == 1):
        (before,) = schedule.predecessors(int(row))
        assert schedule.offset[before] == schedule.offset[row]


def test_an_all_gather_goes_on_at_the_beginning_of_the_buffer() -> None:
    schedule = plan(Request(op="all_gather", ranks=5, bytes=500), "bruck")
    (row,) = np.flatnonzero((schedule.source == 4) & (schedule.target == 2))
    assert (schedule.offset[row], schedule.bytes[row]) == (400, 200)
