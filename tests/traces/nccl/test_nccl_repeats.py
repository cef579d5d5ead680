"""Lines that differ from earlier ones only in opCount and buffers give what they would give if each was taken apart."""

from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from netsim.errors import InputError
from netsim.traces import Trace, read
from netsim.traces.nccl import log as nccl_log
from netsim.traces.nccl import repeats as nccl_repeats
from tests.traces.nccl.nccl_lines_of import call, calls, init, job, prefix, world

DESTROYED = f"{prefix(100)}comm 0xa0 rank 0 nranks 2 cudaDev 0 busId 1 - Destroy COMPLETE"
LINES = [
    *[call(100 + rank, 0xA0 + rank, 2, op, turn=3) for rank in range(2) for op in ("AllReduce", "Broadcast")],
    *[call(100 + rank, 0xA0 + rank, 2, op, root=1 - rank, turn=7) for rank in range(2) for op in ("Send", "Recv")],
    *[f"node1:{100 + rank}:{100 + rank} NCCL CALL ncclAllReduce(10,20,10,7,0,0,0xa{rank},0x1)" for rank in range(2)],
    *[f"node1:10{n}:10{n} NCCL CALL ncclSend(10,20,10,7,0,{1 - n},0xa{n},0x1)" for n in range(2)],
    *[f"node1:100:100 NCCL CALL ncclGroup{which}()" for which in ("Start", "End")],
    *[init(100 + rank, 0xA0 + rank, rank, 2, "0x78") for rank in range(2)],
    DESTROYED,
    "Epoch 1: loss 0.5",
    f"{prefix(100)}AllReduce: opCount 1 sendb",
    call(100, 0xA0, 2).replace("sendbuff 0x10", "sendbuff garbage"),
    call(100, 0xA0, 2) + call(101, 0xA1, 2),
    call(100, 0xA0, 2).replace("opCount 0", "opCount 0x1_f"),
    "\x1b[32m" + call(101, 0xA1, 2) + "\x1b[0m\r",
    "[2026-01-02 10:00:00.5] " + call(100, 0xA0, 2),
    call(100, 0xA0, 2) + " task 0 globalrank 0",
]
TURNS, BUFFERS = ("0", "1", "2a", "ffffffffffffffff"), ("0x10", "0x7f00", "(nil)")
VARIED = st.tuples(st.sampled_from(LINES), st.sampled_from(TURNS), st.sampled_from(BUFFERS))


def varied(line: str, turn: str, buffer: str) -> str:
    return line.replace("opCount 3", f"opCount {turn}").replace("sendbuff 0x10", f"sendbuff {buffer}")


def outcome(path: Path, each_apart: bool) -> tuple[Trace | str, object]:
    with patch.object(nccl_log, "is_dense", lambda _: not each_apart):
        try:
            trace = read(path, fill_missing_ranks=True)
        except InputError as error:
            return str(error), None
    lines = [operation.line for operation in trace.operations]
    return trace, (lines, replace(trace.report), trace.notes)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(chosen=st.lists(VARIED, max_size=40), begun=st.booleans(), ended=st.booleans())
def test_both_ways_give_the_same(tmp_path: Path, chosen: list[tuple[str, str, str]], begun: bool, ended: bool) -> None:
    lines = [*(world(2) if begun else []), *(varied(*each) for each in chosen)]
    (tmp_path / "log").write_text("\n".join(["NCCL INFO", *lines]) + ("\n" if ended else ""))
    assert outcome(tmp_path / "log", each_apart=False) == outcome(tmp_path / "log", each_apart=True)


def test_most_lines_are_not_taken_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    plain = nccl_log.events
    monkeypatch.setattr(nccl_log, "events", lambda text: seen.append(text) or plain(text))
    lines = [line for turn in range(500) for line in calls(2, turn=turn)]
    assert len(job(tmp_path, *world(2), *lines).operations) == 500
    assert len(seen) == 4  # two that begin a communicator, and the first call of each rank


def test_a_pointer_that_comes_again_is_another_communicator(tmp_path: Path) -> None:
    again = [init(100 + rank, 0xA0 + rank, 1 - rank, 2, "0x78") for rank in range(2)]
    both = [*calls(2), *calls(2, "Broadcast")]
    lines = [*world(2), *both, DESTROYED, DESTROYED.replace("100:100", "101:101").replace("0xa0", "0xa1")]
    trace = job(tmp_path, *lines, *again, *both)
    assert [operation.ranks for operation in trace.operations] == [(0, 1), (0, 1), (1, 0), (1, 0)]


def test_what_is_remembered_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nccl_repeats, "MOST_KINDS", 3)
    lines = [call(100, 0xA0, 1, count=1 + turn % 7, turn=turn % 5) for turn in range(100)]
    trace = job(tmp_path, *world(1), *lines)
    assert [operation.bytes for operation in trace.operations] == [4 * (1 + turn % 7) for turn in range(100)]
