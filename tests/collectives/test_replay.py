"""The proofs of schedules: an answer that depends on the order of what nothing orders is found, an exchange is none."""

from dataclasses import replace

import numpy as np
import pytest

from netsim.collectives import Request, Schedule, plan
from tests.collectives.bounds import BOUNDS, prove
from tests.collectives.proofs import PROOFS
from tests.collectives.replay import ancestors, exchanges
from tests.collectives.test_checking import by_hand

PAIR = [(0, 1, 8), (1, 0, 8)]
ROUNDS = [*PAIR, (2, 3, 8), (3, 2, 8), (0, 2, 8), (2, 0, 8), (1, 3, 8), (3, 1, 8)]  # recursive doubling of 4 ranks
WAITS = [[], [], [], [], [1], [3], [0], [2]]


def all_reduce(rows: list[tuple[int, int, int]], waits: list[list[int]], ranks: int) -> None:
    """Play a schedule whose rows all add, in many orders."""
    schedule = by_hand(rows, waits, ranks=ranks, reduces=np.ones(len(rows), np.bool_))
    for seed in range(100):
        PROOFS["all_reduce"](schedule, Request(op="all_reduce", ranks=ranks, bytes=8), seed)


def test_both_halves_of_an_exchange_carry_what_was_there_before() -> None:
    all_reduce(PAIR, [[], []], ranks=2)
    all_reduce(ROUNDS, WAITS, ranks=4)


@pytest.mark.parametrize(
    ("rows", "waits", "ranks"),
    [
        (PAIR, [[], [0]], 2),  # there, then back: what comes back holds it already
        (ROUNDS, [[], [], [], [], [], [3], [0], [2]], 4),  # a round that does not wait for the one before
        ([(0, 1, 8), (1, 2, 8), (2, 0, 8)], [[], [], []], 3),  # a circle is no exchange: who starts late sends the sum
    ],
)
def test_what_is_no_exchange_gives_a_wrong_answer(
    rows: list[tuple[int, int, int]], waits: list[list[int]], ranks: int
) -> None:
    with pytest.raises(AssertionError):
        all_reduce(rows, waits, ranks)


@pytest.mark.parametrize(
    ("op", "rows"),
    [
        ("broadcast", [(0, 2, 8), (1, 2, 8), (0, 1, 8)]),  # two that replace the same bytes: the later one counts
        ("reduce", [(0, 2, 8), (1, 2, 8), (0, 1, 8)]),  # rank 1 passes on what 0 sends, or not
    ],
)
def test_a_race_is_right_in_some_orders_only(op: str, rows: list[tuple[int, int, int]]) -> None:
    root = 2 if op == "reduce" else 0
    schedule = by_hand(rows, [[]] * len(rows), ranks=3, reduces=np.full(len(rows), op == "reduce"))
    outcomes = set()
    for seed in range(100):
        try:
            PROOFS[op](schedule, Request(op=op, ranks=3, bytes=8, root=root), seed)
            outcomes.add("right")
        except AssertionError:
            outcomes.add("wrong")
    assert outcomes == {"right", "wrong"}


def test_a_half_that_would_hold_up_others_is_refused() -> None:
    """Rank 1 must not send to 2 before it has taken in what 0 sent, which waits for what 1 itself sends after 3's."""
    rows = [(3, 1, 8), (1, 0, 8), (0, 1, 8), (1, 2, 8)]
    with pytest.raises(AssertionError, match="row 3 waits for row 2, half of an exchange, but not for rows"):
        exchanges(by_hand(rows, [[], [0], [], [2]]))
    assert exchanges(by_hand(rows, [[], [0], [], [0, 2]])) == {1: 2, 2: 1}


def test_it_must_be_clear_who_exchanges_with_whom() -> None:
    with pytest.raises(AssertionError, match="could be the other half"):
        exchanges(by_hand([*PAIR, (1, 0, 8)], [[], [], []]))


def test_ring_and_trees_exchange_nothing() -> None:
    for algorithm in ("ring", "tree", "halving_doubling"):
        assert exchanges(plan(Request(op="all_reduce", ranks=8, bytes=1 << 10), algorithm)) == {}
    doubling = plan(Request(op="all_reduce", ranks=8, bytes=1 << 10), "recursive_doubling")
    assert len(exchanges(doubling)) == len(doubling) == 24


RELAYED = [(op, name) for op, name in BOUNDS if op != "barrier" and name not in ("direct", "pairwise")]


@pytest.mark.parametrize(("op", "algorithm"), RELAYED)
@pytest.mark.parametrize("ranks", [4, 7])
def test_a_dependency_left_out_is_found(op: str, algorithm: str, ranks: int) -> None:
    """Each in turn, but those that another one implies: some order of the others gives a wrong answer."""
    request = Request(op=op, ranks=ranks, bytes=16 * ranks)
    schedule = plan(request, algorithm)
    for place, row in enumerate(np.repeat(np.arange(len(schedule)), np.diff(schedule.first_after)).tolist()):
        if not _is_implied(schedule, row, int(schedule.after[place])):
            first = schedule.first_after - (np.arange(len(schedule) + 1) > row)
            hasty = replace(schedule, after=np.delete(schedule.after, place), first_after=first)
            with pytest.raises(AssertionError):
                _prove_often(hasty, request)


def _prove_often(schedule: Schedule, request: Request) -> None:
    for seed in range(200):
        prove(schedule, request, seed)


def _is_implied(schedule: Schedule, row: int, awaited: int) -> bool:
    behind = ancestors(schedule)
    return any(behind[other] >> awaited & 1 for other in schedule.predecessors(row).tolist())
