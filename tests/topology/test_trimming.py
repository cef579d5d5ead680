"""The ways to write how switches trim."""

from typing import Any

import pytest

from netsim.queues.disciplines.trim import Trim
from netsim.topology import FatTree


@pytest.mark.parametrize(
    ("written", "meant", "shown"),
    [
        (True, Trim(last=0.5, marking="dequeue"), True),
        ("on", Trim(), True),
        ({}, Trim(), True),
        (False, None, False),
        ("off", None, False),
        (None, None, False),
        ({"last": 0}, Trim(last=0), {"last": 0.0, "marking": "dequeue"}),
        ({"marking": "enqueue"}, Trim(marking="enqueue"), {"last": 0.5, "marking": "enqueue"}),
    ],
)
def test_true_false_or_a_table(written: Any, meant: Trim | None, shown: Any) -> None:
    fabric = FatTree(k=4, trim=written)
    assert fabric.trim == meant
    assert fabric.build().trim == meant
    assert fabric.model_dump(mode="json")["trim"] == shown
    assert FatTree.model_validate(fabric.model_dump(mode="json")) == fabric


@pytest.mark.parametrize("written", [{"last": 1.5}, {"last": -1}, {"marking": "departure"}, {"coin": 1}, 7, "at times"])
def test_what_is_no_way_to_trim_is_refused(written: Any) -> None:
    with pytest.raises(ValueError, match=r"trim\.(last|marking|coin)|is no way to trim"):
        FatTree(k=4, trim=written)
