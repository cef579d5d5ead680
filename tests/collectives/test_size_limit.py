"""A schedule that no memory holds is refused in one line before it is made, and one that fits is not."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netsim.collectives import ALGORITHMS, Request, plan
from tests.collectives.requests import requests
from tests.collectives.test_algorithms import EVERY_ENTRY, unhurried
from tests.inputs import measured, refusal

GIB = 1 << 30
CUT = [(op, name) for op, known in ALGORITHMS.items() for name in known if op != "barrier"]  # that is one byte each


def request_of(op: str, ranks: int, **cut: int | None) -> Request:
    """1 GiB per rank in all."""
    ranks = 2 if op == "send" else ranks
    sizes = np.full((ranks, ranks), GIB // ranks)
    ring = [(rank, (rank + 1) % ranks, GIB) for rank in range(ranks)]
    return Request(op=op, ranks=ranks, bytes=GIB, sizes=sizes, flows=ring, **cut)


def refused_in_little_memory(request: Request, algorithm: str | None = None) -> str:
    """The message; no more than 256 MB are taken until then."""
    message, peak = measured(refusal, plan, request, algorithm)
    assert peak < 1 << 28
    return message


@pytest.mark.parametrize(("op", "algorithm"), CUT)
@pytest.mark.parametrize("channels", [None, 64])
def test_what_is_cut_into_single_bytes_is_refused(op: str, algorithm: str, channels: int | None) -> None:
    message = refused_in_little_memory(request_of(op, 1024, chunk_bytes=1, channels=channels), algorithm)
    assert message.startswith("collective: the schedule would have ")
    assert message.endswith(" chunk flows or more (limit 268,435,456); use a larger chunk_bytes or fewer channels")


@EVERY_ENTRY
@pytest.mark.parametrize("channels", [None, 4])
def test_a_usual_request_is_planned(op: str, algorithm: str, channels: int | None) -> None:
    assert len(plan(request_of(op, 64, channels=channels), algorithm)) > 0


@EVERY_ENTRY
@unhurried
@given(data=st.data())
def test_exactly_what_goes_beyond_the_limit_is_refused(op: str, algorithm: str, data: st.DataObject) -> None:
    request = data.draw(requests(op))
    schedule = plan(request, algorithm)
    pairs = request.ranks * (request.ranks - 1) if algorithm == "pairwise" else 0  # whose table is made in any case
    limit = max(len(schedule), len(schedule.after), pairs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("netsim.collectives.schedule.MOST_ROWS", limit)
        assert len(plan(request, algorithm)) == len(schedule)
        patch.setattr("netsim.collectives.schedule.MOST_ROWS", limit - 1)
        refusal(plan, request, algorithm)


@pytest.mark.parametrize(
    ("asked", "algorithm"),
    [
        ({"op": "all_to_all", "ranks": 300, "bytes": 300 * 16, "chunk_bytes": 1}, "bruck"),
        ({"op": "flows", "ranks": 3, "flows": [(0, 1, 1 << 20), (1, 2, 1 << 20)], "after": [[], [0]]}, None),
    ],
)
def test_few_rows_that_wait_for_too_many_are_refused(asked: dict[str, Any], algorithm: str | None) -> None:
    message = refused_in_little_memory(Request(**{"chunk_bytes": 16, **asked}), algorithm)
    assert " dependencies or more (limit 268,435,456);" in message
