"""What is refused, and the one line that says so."""

from typing import Any

import numpy as np
import pytest

from netsim.collectives import Layout, Request, plan
from netsim.errors import InputError
from tests.collectives.requests import layout_of


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"ranks": 0}, "all_reduce: ranks = 0; a group has at least 1 rank"),
        ({"bytes": -1}, "all_reduce: bytes = -1; give 0 or more bytes"),
        ({"root": 4}, "all_reduce: root = 4; give a position in 0..3"),
        ({"root": -1}, "all_reduce: root = -1; give a position in 0..3"),
        ({"channels": 0}, "all_reduce: channels = 0; give 1 to 32767 channels"),
        ({"channels": 1 << 15}, "all_reduce: channels = 32768; give 1 to 32767 channels"),
        ({"chunk_bytes": 0}, "all_reduce: chunk_bytes = 0; give at least 1 byte"),
        ({"layout": Layout.flat(3)}, "all_reduce: layout has 3 members; describe all 4 ranks"),
        ({"sizes": [[1, 2], [3, 4]]}, "all_reduce: sizes has shape (2, 2); give a matrix of shape (4, 4)"),
        ({"sizes": np.eye(4, dtype=int) - 1}, "all_reduce: sizes[0][1] = -1; give 0 or more bytes"),
    ],
)
def test_a_wish_without_sense_is_refused(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        Request(**{"op": "all_reduce", "ranks": 4, **asked})
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("asked", "algorithm", "message"),
    [
        (
            Request(op="all_reduc", ranks=4),
            None,
            "collective: unknown operation 'all_reduc'; did you mean 'all_reduce'?",
        ),
        (Request(op="all_reduce", ranks=4), "rings", "all_reduce: unknown algorithm 'rings'; did you mean 'ring'?"),
        (Request(op="broadcast", ranks=4), "", "broadcast: unknown algorithm ''; one of: ring, tree"),
        (Request(op="send", ranks=3), None, "send: 3 ranks; a send is between 2 ranks: sender, receiver"),
        (
            Request(op="all_to_all_v", ranks=2),
            None,
            "all_to_all_v: sizes are missing; give sizes[i][j], the bytes from rank i to rank j",
        ),
        (Request(op="flows", ranks=2), None, "flows: flows are missing; give a list of [source, target, bytes]"),
        (
            Request(op="flows", ranks=2, flows=np.zeros((3, 2), np.int64)),
            None,
            "flows: flows have shape (3, 2); give a list of [source, target, bytes]",
        ),
        (
            Request(op="flows", ranks=2, flows=[(0, 1, 5), (0, 2, 5)]),
            None,
            "flows: flow 1 is [0, 2, 5]; give ranks in 0..1",
        ),
        (
            Request(op="flows", ranks=3, flows=[(0, 1, 5), (1, 2, 5)], after=[[], [2]]),
            None,
            "flows: flow 1 is [1, 2, 5]; it waits for a flow outside 0..1",
        ),
        (
            Request(op="flows", ranks=3, flows=[(0, 1, 5), (1, 2, 5)], after=[[]]),
            None,
            "flows: after or flow_channels do not fit the flows; give one for each flow",
        ),
        (
            Request(op="flows", ranks=3, flows=[(0, 1, 5), (2, 1, 5)], after=[[], [0]]),
            None,
            (
                "direct flows schedule: row 1 waits for a row that its source neither receives nor sends: row 0; "
                "a row may wait for what its source receives or sends"
            ),
        ),
        (
            Request(op="flows", ranks=2, flows=[(0, 1, 5)], flow_channels=[16384], channels=2),
            None,
            "flows: flow 0 is [0, 1, 5]; its channel is not below 32767",
        ),
        (
            Request(op="flows", ranks=2, flows=[(1, 1, 5)]),
            None,
            "flows: flow 0 is [1, 1, 5]; a rank needs no network to reach itself: leave the flow out",
        ),
        (Request(op="flows", ranks=2, flows=[(0, 1, -5)]), None, "flows: flow 0 is [0, 1, -5]; give 0 or more bytes"),
    ],
)
def test_what_cannot_be_planned_is_refused(asked: Request, algorithm: str | None, message: str) -> None:
    with pytest.raises(InputError) as caught:
        plan(asked, algorithm)
    assert str(caught.value) == message


@pytest.mark.parametrize("op", ["all_reduce", "all_gather", "broadcast", "all_to_all", "gather"])
def test_a_chunk_so_small_that_memory_would_run_out_is_refused(op: str) -> None:
    with pytest.raises(InputError, match=r"chunk flows or more .*; use a larger chunk_bytes or fewer channels"):
        plan(Request(op=op, ranks=8, bytes=1 << 33, chunk_bytes=1))


def test_a_layout_names_server_and_rail_of_everybody() -> None:
    with pytest.raises(InputError, match=r"layout: server has shape \(2,\) and rail \(3,\); give one"):
        layout_of([0, 0], [0, 0, 0])
