"""Trace: by_rank, digest, the group "world"."""

from dataclasses import replace

import pytest

from netsim.traces import Group, Operation, Trace

TP = Group("tp", (0, 1))
FIRST = Operation("all_reduce", "tp", (0, 1), 100)
SEND = Operation("send", None, (1, 2), 50, src=1, dst=2)
TRACE = Trace("small", 4, {"tp": TP}, (FIRST, SEND, FIRST))


def test_world_always_exists() -> None:
    assert TRACE.groups["world"] == Group("world", (0, 1, 2, 3))


def test_each_rank_has_its_operations_in_program_order() -> None:
    assert TRACE.by_rank() == [[0, 2], [0, 1, 2], [1], []]


def test_name_notes_source_and_line_do_not_change_the_digest() -> None:
    other = Trace("other", 4, {"tp": TP}, (replace(FIRST, line=9), SEND, FIRST), "elsewhere", ("a note",))
    assert other.digest() == TRACE.digest()
    assert len(TRACE.digest()) == 64


@pytest.mark.parametrize(
    "changed",
    [
        replace(TRACE, ranks=5, groups={"tp": TP}),
        replace(TRACE, groups={"tp": Group("tp", (1, 0))}),
        replace(TRACE, operations=(FIRST, FIRST, SEND)),
        replace(TRACE, operations=(replace(FIRST, bytes=101), SEND, FIRST)),
        replace(TRACE, operations=(replace(FIRST, stream="copy"), SEND, FIRST)),
        replace(TRACE, operations=(replace(FIRST, recorded_duration_ps=1), SEND, FIRST)),
    ],
)
def test_any_other_change_changes_the_digest(changed: Trace) -> None:
    assert changed.digest() != TRACE.digest()


def test_a_trace_can_be_a_key() -> None:
    assert {TRACE: 1}[Trace("small", 4, {"tp": TP}, TRACE.operations)] == 1
