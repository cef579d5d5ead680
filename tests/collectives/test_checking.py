"""Schedules written by hand: which are refused, and by what words."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from netsim.collectives import Request, Schedule, check, depths, plan
from netsim.errors import InputError
from tests.inputs import refusal


def by_hand(rows: list[tuple[int, int, int]], waits: list[list[int]], **other: Any) -> Schedule:
    """A schedule of (source, target, bytes) and what each row waits for."""
    source, target, size = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    columns: dict[str, Any] = {
        "op": "mine",
        "algorithm": "own",
        "ranks": 4,
        "source": source.astype(np.int32),
        "target": target.astype(np.int32),
        "channel": np.zeros(len(source), np.int16),
        "bytes": size,
        "first_after": np.cumsum([0] + [len(each) for each in waits]),
        "after": np.array([row for each in waits for row in each], dtype=np.int32),
        "offset": np.zeros(len(source), np.int64),
        "reduces": np.zeros(len(source), np.bool_),
    }
    return Schedule(**{**columns, **other})


NOT_ITS_OWN = "row 1 waits for a row that its source neither receives nor sends: row 0"
TAKE_OUT = "take one of these out of `after`"
MAY_WAIT = "a row may wait for what its source receives or sends"
TWO = [(0, 1, 10), (1, 2, 10)]


@pytest.mark.parametrize(
    ("rows", "waits"),
    [
        ([], []),
        (TWO, [[], [0]]),
        ([(0, 1, 10), (0, 2, 10)], [[], [0]]),  # waits until its own sender has the ACK
        ([(1, 2, 10), (0, 1, 10)], [[1], []]),  # for a later row
        (TWO, [[], [0, 0]]),  # twice for the same
    ],
)
def test_sound_schedules_pass(rows: list[tuple[int, int, int]], waits: list[list[int]]) -> None:
    check(by_hand(rows, waits))


@pytest.mark.parametrize(
    ("rows", "waits", "message"),
    [
        (
            [(0, 1, 5), (2, 2, 5)],
            [[], []],
            "row 1 (2 -> 2, 5 bytes) sends to itself; leave it out or name another target",
        ),
        ([(0, 1, 0)], [[]], "row 0 (0 -> 1, 0 bytes) carries no bytes; give 1 byte or more, or leave the row out"),
        ([(0, 1, -3)], [[]], "row 0 (0 -> 1, -3 bytes) carries no bytes; give 1 byte or more, or leave the row out"),
        ([(0, 4, 5)], [[]], "row 0 (0 -> 4, 5 bytes) has a target outside the group; give 0..3"),
        ([(-1, 2, 5)], [[]], "row 0 (-1 -> 2, 5 bytes) has a source outside the group; give 0..3"),
        (TWO, [[], [7]], "row 1 waits for a row that does not exist: row 7; give a row number"),
        (TWO, [[], [-1]], "row 1 waits for a row that does not exist: row -1; give a row number"),
        ([(0, 1, 10), (2, 3, 10)], [[], [0]], f"{NOT_ITS_OWN}; {MAY_WAIT}"),
        ([(0, 1, 10), (1, 0, 10)], [[1], [0]], f"2 rows wait for each other in a cycle: 0 after 1 after 0; {TAKE_OUT}"),
        ([(0, 1, 10)], [[0]], f"1 rows wait for each other in a cycle: 0 after 0; {TAKE_OUT}"),
    ],
)
def test_unsound_schedules_are_refused(rows: list[tuple[int, int, int]], waits: list[list[int]], message: str) -> None:
    assert refusal(check, by_hand(rows, waits)) == f"own mine schedule: {message}"


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"target": np.zeros(1, np.int32)}, "target has 1 rows, source has 2; give every column the same length"),
        ({"first_after": np.array([0, 0])}, "first_after does not divide after among the rows; give 3 ascending"),
        ({"first_after": np.array([0, 1, 0])}, "first_after does not divide after among the rows; give 3 ascending"),
        ({"first_after": np.array([0, 2, 1])}, "first_after does not divide after among the rows; give 3 ascending"),
        ({"offset": np.array([0, -1])}, "row 1 (1 -> 2, 10 bytes) has a negative offset; give 0 or more"),
        ({"channel": np.array([-1, 0])}, "row 0 (0 -> 1, 10 bytes) has a negative channel; give 0 or more"),
    ],
)
def test_columns_that_do_not_fit_are_refused(columns: dict[str, Any], message: str) -> None:
    assert message in refusal(check, by_hand(TWO, [[], [0]], **columns))


def test_a_long_circle_is_named_in_part_and_rows_behind_it_are_not() -> None:
    rows = [(place % 4, (place + 1) % 4, 1) for place in range(12)]
    waits = [[11], *([place - 1] for place in range(1, 12))]
    with pytest.raises(InputError, match=r"12 rows wait for each other in a cycle: .* after .* after 0;"):
        check(by_hand(rows, waits))
    behind = by_hand([(0, 2, 1), (0, 1, 1), (1, 0, 1)], [[2], [2], [1]])
    assert "2 rows wait for each other in a cycle: 2 after 1 after 2;" in refusal(check, behind)
    assert depths(behind).tolist() == [-1, -1, -1]


def test_rows_of_every_stretch_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netsim.collectives.checking.ROWS_AT_ONCE", 3)
    good = plan(Request(op="all_reduce", ranks=4, bytes=400))
    check(good)
    after = good.after.copy()
    after[-1] = 1  # it sends 2 -> 3, the last row 1 -> 2
    with pytest.raises(InputError, match=f"row {len(good) - 1} waits for a row that its source neither .*: row 1;"):
        check(replace(good, after=after))


def test_depth_is_the_longest_way_from_a_row_that_waits_for_nothing() -> None:
    rows = [(2, 3, 1), (0, 1, 1), (1, 2, 1), (3, 2, 1)]
    assert depths(by_hand(rows, [[2, 3], [], [1], []])).tolist() == [2, 0, 1, 0]
