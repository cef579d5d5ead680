"""What is refused, and the one line that says so."""

from typing import Any

import numpy as np
import pytest

from netsim.collectives import Layout, Request, plan
from tests.collectives.requests import layout_of
from tests.collectives.test_checking import MAY_WAIT, NOT_ITS_OWN
from tests.inputs import refusal

TWO = [(0, 1, 5), (1, 2, 5)]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"ranks": 0}, "ranks = 0; a group has at least 1 rank"),
        ({"bytes": -1}, "bytes = -1; give 0 or more bytes"),
        ({"root": 4}, "root = 4; give a position in 0..3"),
        ({"root": -1}, "root = -1; give a position in 0..3"),
        ({"channels": 0}, "channels = 0; give 1 to 32767 channels"),
        ({"channels": 1 << 15}, "channels = 32768; give 1 to 32767 channels"),
        ({"chunk_bytes": 0}, "chunk_bytes = 0; give at least 1 byte"),
        ({"layout": Layout.flat(3)}, "layout has 3 members; describe all 4 ranks"),
        ({"sizes": [[1, 2], [3, 4]]}, "sizes has shape (2, 2); give a matrix of shape (4, 4)"),
        ({"sizes": np.eye(4, dtype=int) - 1}, "sizes[0][1] = -1; give 0 or more bytes"),
    ],
)
def test_a_wish_without_sense_is_refused(asked: dict[str, Any], message: str) -> None:
    assert refusal(Request, **{"op": "all_reduce", "ranks": 4, **asked}) == f"all_reduce: {message}"


@pytest.mark.parametrize(
    ("asked", "algorithm", "message"),
    [
        ({"op": "all_reduc"}, None, "collective: unknown operation 'all_reduc'; did you mean 'all_reduce'?"),
        ({"op": "all_reduce"}, "rings", "all_reduce: unknown algorithm 'rings'; did you mean 'ring'?"),
        ({"op": "broadcast"}, "", "broadcast: unknown algorithm ''; one of: ring, tree"),
        ({"op": "send"}, None, "send: 3 ranks; a send is between 2 ranks: sender, receiver"),
        (
            {"op": "all_to_all_v"},
            None,
            "all_to_all_v: sizes are missing; give sizes[i][j], the bytes from rank i to rank j",
        ),
    ],
)
def test_what_cannot_be_planned_is_refused(asked: dict[str, Any], algorithm: str | None, message: str) -> None:
    assert refusal(plan, Request(ranks=3, **asked), algorithm) == message


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "flows are missing; give a list of [source, target, bytes]"),
        ({"flows": np.zeros((3, 2), int)}, "flows have shape (3, 2); give a list of [source, target, bytes]"),
        ({"flows": [(0, 1, 5), (0, 3, 5)]}, "flow 1 is [0, 3, 5]; give ranks in 0..2"),
        ({"flows": [(1, 1, 5)]}, "flow 0 is [1, 1, 5]; a rank needs no network to reach itself: leave the flow out"),
        ({"flows": [(0, 1, -5)]}, "flow 0 is [0, 1, -5]; give 0 or more bytes"),
        ({"flows": TWO, "after": [[], [2]]}, "flow 1 is [1, 2, 5]; it waits for a flow outside 0..1"),
        ({"flows": TWO, "after": [[]]}, "after or flow_channels do not fit the flows; give one for each flow"),
        ({"flows": TWO[::-1], "after": [[], [0]]}, f"{NOT_ITS_OWN}; {MAY_WAIT}"),
        (
            {"flows": [(0, 1, 5)], "flow_channels": [16384], "channels": 2},
            "flow 0 is [0, 1, 5]; its channel is not below 32767",
        ),
    ],
)
def test_flows_without_sense_are_refused(asked: dict[str, Any], message: str) -> None:
    where = "direct flows schedule" if message.startswith("row") else "flows"
    assert refusal(plan, Request(op="flows", ranks=3, **asked)) == f"{where}: {message}"


def test_a_layout_names_server_and_rail_of_everybody() -> None:
    assert "layout: server has shape (2,) and rail (3,); give one" in refusal(layout_of, [0, 0], [0, 0, 0])
