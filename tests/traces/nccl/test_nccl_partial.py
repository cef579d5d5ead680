"""Logs that do not show all ranks: refused, filled in by symmetry, or taken as far as they go; each said plainly."""

import re
from pathlib import Path

from tests.inputs import refusal
from tests.traces.nccl.nccl_lines_of import call, init, job, world
from tests.traces.operations import brief

HALF = [*world(4)[1:3], call(101, 0xA1, 4), call(102, 0xA2, 4)]


def test_missing_ranks_are_named_and_refused_filled_in_or_a_finding(tmp_path: Path) -> None:
    how = r"--fill-missing-ranks \(fill_missing_ranks=True\)"
    assert re.search(rf"only 2 of 4 ranks .*\(not 0, 3\); .*{how}", refusal(job, tmp_path, *HALF))
    filled, partial = job(tmp_path, *HALF, fill=True), job(tmp_path, *HALF, partial=True)
    assert brief(filled) == brief(partial) == [("all_reduce", (0, 1, 2, 3), 40)]
    assert any("2 of 4 ranks" in each and "by symmetry" in each for each in filled.report.assumed)
    told = "2 of 4 ranks of a communicator seen (not 0, 3): what the others do is not in the log"
    assert (filled.report.findings, partial.report.findings) == ((), (f"{partial.source}:1: {told}",))
    assert not any("symmetry" in each for each in (*partial.report.assumed, *partial.notes))
    assert filled.report.seen == partial.report.seen == (1, 2)
    assert partial.report.unplaced == 0


def test_a_log_of_one_rank_keeps_its_groups_though_nothing_tells_who_the_others_are(tmp_path: Path) -> None:
    lines = [world(8)[0], init(100, 0xB0, 0, 4, "0x5"), init(100, 0xC0, 0, 2, "0x6")]
    lines += [call(100, 0xB0, 4), call(100, 0xC0, 2), call(100, 0xB0, 4), call(100, 0xA0, 8)]
    assert "do not tell who the others are" in refusal(job, tmp_path, *lines, fill=True)
    trace = job(tmp_path, *lines, partial=True)
    assert [(each.op, len(each.ranks)) for each in trace.operations] == [("all_reduce", size) for size in (4, 2, 4, 8)]
    assert [each.ranks for each in trace.operations] == [(0, 8, 9, 10), (0, 11), (0, 8, 9, 10), tuple(range(8))]
    assert (trace.ranks, trace.report.unplaced, trace.report.seen) == (12, 4, (0,))
    assert any("counted as ranks 8 and up" in each for each in trace.report.assumed)


def test_a_group_that_comes_again_has_the_same_strangers(tmp_path: Path) -> None:
    lines = [world(8)[0], init(100, 0xB0, 0, 4, "0x5"), init(100, 0xC0, 0, 4, "0x6")]
    trace = job(tmp_path, *lines, call(100, 0xB0, 4), call(100, 0xC0, 4), call(100, 0xA0, 8), partial=True)
    assert [each.ranks for each in trace.operations][:2] == [(0, 8, 9, 10)] * 2


def test_uneven_sends_of_one_rank_stay_flows(tmp_path: Path) -> None:
    ends = [(kind, peer) for peer in range(4) for kind in ("Send", "Recv")]
    lines = [call(100, 0xA0, 4, kind, 10 + peer, root=peer) for kind, peer in ends]
    trace = job(tmp_path, world(4)[0], *lines, partial=True)
    (operation,) = trace.operations
    assert operation.op == "flows"
    assert sorted(operation.flows) == [(0, 1, 44), (0, 2, 48), (0, 3, 52), (1, 0, 44), (2, 0, 48), (3, 0, 52)]


def test_nobody_is_placed_where_he_sends_to(tmp_path: Path) -> None:
    trace = job(tmp_path, call(100, 0xA0, 2, "Send", root=0), call(101, 0xA1, 2, "Recv", root=1))
    assert [(each.op, each.src, each.dst) for each in trace.operations] == [("send", 1, 0)]


def test_the_report_counts_what_was_read(tmp_path: Path) -> None:
    lines = [*world(2), call(100, 0xA0, 2), call(101, 0xA1, 2, host="node1"), "node1:1:1 [0] NCCL INFO AllReduce: opCo"]
    lines += ["node1:100:100 NCCL CALL ncclAllReduce(10,20,10,7,0,0,0xa0,0x1)", "a word [repeated 3x across cluster]"]
    lines += ["node1:100:100 [0] NCCL INFO AllReduce: 40 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..0}"]
    report = job(tmp_path, *lines).report
    assert (report.format, report.files, report.hosts, report.lines) == ("nccl_log", 1, 1, 8)
    assert (report.records, report.cut) == (2, 1)
    assert report.skipped == {"NCCL CALL lines that repeat INFO lines": 1, "lines hidden by Ray": 1}
    assert report.tuning == {"all_reduce ring ll": 1}
    table = report.as_table(2)
    assert (table["ranks"], table["ranks_seen"]) == (2, 2)


def test_stamps_tell_when_calls_were_made(tmp_path: Path) -> None:
    stamps = ["[2026-01-01 00:00:00.000] ", "[2026-01-01 00:00:00.250] "]
    calls = [f"{stamps[turn]}{call(100 + rank, 0xA0 + rank, 2)}" for turn in (0, 1) for rank in (0, 1)]
    trace = job(tmp_path, *world(2), *calls)
    assert [each.recorded_start_ps for each in trace.operations] == [0, 250 * 10**9]
    assert [each.op for each in trace.operations] == ["all_reduce"] * 2  # no computing is known in between
    assert any("when calls were made" in each for each in trace.report.assumed)


def test_marked_groups_hold_whatever_is_between_the_marks(tmp_path: Path) -> None:
    def mark(rank: int, what: str) -> str:
        return f"node1:{100 + rank}:{100 + rank} NCCL CALL ncclGroup{what}()"

    ends = {0: ("Send", 1), 1: ("Recv", 0)}
    alone = [call(100 + rank, 0xA0 + rank, 2, kind, root=peer) for rank, (kind, peer) in ends.items()]
    both = [line for rank in ends for line in (mark(rank, "Start"), alone[rank], mark(rank, "End"))]
    back = [call(100, 0xA0, 2, "Recv", root=1), call(101, 0xA1, 2, "Send", root=0)]
    marked = [*both, *(line for rank in ends for line in (mark(rank, "Start"), back[rank], mark(rank, "End")))]
    assert [each.op for each in job(tmp_path, *world(2), *marked).operations] == ["send", "send"]
    assert [each.op for each in job(tmp_path, *world(2), *alone, *back).operations] == ["flows"]
