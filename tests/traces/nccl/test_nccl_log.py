"""NCCL logs of whole jobs: ranks joined, sizes as full buffers, disagreements told, missing ranks only on demand."""

from pathlib import Path

import pytest

from netsim.traces import Operation, read
from tests.inputs import refusal, saved
from tests.traces.nccl.nccl_lines_of import call, calls, init, job, prefix, world
from tests.traces.operations import brief


def refused(folder: Path, *lines: str, fill: bool = False) -> str:
    text = refusal(job, folder, *lines, fill=fill)
    assert "job.log" in text
    return text


def test_every_rank_reports_and_one_operation_comes_out(tmp_path: Path) -> None:
    trace = job(tmp_path, *world(2), *calls(2))
    assert trace.operations == (Operation("all_reduce", "world", (0, 1), 40, "fp32"),)
    assert trace.operations[0].line == 3
    assert (trace.name, trace.ranks) == ("job", 2)
    assert not any("disagree" in note or "numbered" in note for note in trace.notes)


@pytest.mark.parametrize(
    ("op", "name", "size"),
    [
        ("AllReduce", "all_reduce", 40),
        ("Broadcast", "broadcast", 40),
        ("Reduce", "reduce", 40),
        ("AllGather", "all_gather", 80),
        ("ReduceScatter", "reduce_scatter", 80),
        ("AlltoAll", "all_to_all", 80),
        ("Gather", "gather", 80),
        ("Scatter", "scatter", 80),
    ],
)
def test_bytes_are_the_full_buffer(tmp_path: Path, op: str, name: str, size: int) -> None:
    root = 1 if name in ("broadcast", "reduce", "gather", "scatter") else 0
    (operation,) = job(tmp_path, *world(2), *calls(2, op, root=root)).operations
    assert (operation.op, operation.bytes, operation.root) == (name, size, root)


def test_datatypes(tmp_path: Path) -> None:
    for datatype, name, width in [(0, "int8", 1), (6, "fp16", 2), (8, "fp64", 8), (9, "bf16", 2), (11, "fp8e5m2", 1)]:
        (operation,) = job(tmp_path, *world(2), *calls(2, datatype=datatype)).operations
        assert (operation.dtype, operation.bytes) == (name, 10 * width)
    assert "datatype 12" in refused(tmp_path, *world(1), call(100, 0xA0, 1, datatype=12))


def test_a_broadcast_in_bytes_has_lost_its_type(tmp_path: Path) -> None:
    (operation,) = job(tmp_path, *world(1), call(100, 0xA0, 1, "Broadcast", datatype=0)).operations
    assert (operation.dtype, operation.bytes) == ("", 10)


def test_the_order_of_the_files_does_not_matter(tmp_path: Path) -> None:
    own = [[world(2)[rank], *(calls(2, count=n, turn=n)[rank] for n in (1, 2, 3))] for rank in (1, 0)]
    files = [saved(tmp_path / name, lines) for name, lines in zip("ab", own, strict=True)]
    assert brief(read(files)) == brief(read(files[::-1])) == [("all_reduce", (0, 1), 4 * n) for n in (1, 2, 3)]


def test_ranks_come_from_the_init_lines_not_from_pids(tmp_path: Path) -> None:
    lines = [init(100, 0xA0, 1, 2, "0x77"), init(101, 0xA1, 0, 2, "0x77")]
    tp = [init(100, 0xB0, 0, 1, "0x78"), call(100, 0xB0, 1), call(100, 0xA0, 2), call(101, 0xA1, 2)]
    assert brief(job(tmp_path, *lines, *tp)) == [("all_reduce", (1,), 40), ("all_reduce", (0, 1), 40)]


def test_groups_inside_the_world(tmp_path: Path) -> None:
    inner = [init(100 + rank, 0xB0 + rank, rank // 2, 2, f"0x{rank % 2}5") for rank in range(4)]
    gathers = [call(100 + rank, 0xB0 + rank, 2, "AllGather") for rank in range(4)]
    trace = job(tmp_path, *world(4), *inner, *calls(4), *gathers)
    assert brief(trace) == [("all_reduce", (0, 1, 2, 3), 40), ("all_gather", (0, 2), 80), ("all_gather", (1, 3), 80)]
    assert [each.group for each in trace.operations] == ["world", "comm1", "comm2"]
    assert trace.by_rank() == [[0, 1], [0, 2], [0, 1], [0, 2]]


def test_splits_without_an_id_are_joined_by_parent_and_colour(tmp_path: Path) -> None:
    lines = world(4)
    for rank in range(4):
        more = f" parent 0x{0xA0 + rank:x} color {rank % 2} key 0"
        lines.append(init(100 + rank, 0xB0 + rank, rank // 2, 2, "", more))
    inner = [call(100 + rank, 0xB0 + rank, 2) for rank in range(4)]
    trace = job(tmp_path, *lines, *calls(4), *inner)
    assert brief(trace) == [("all_reduce", (0, 1, 2, 3), 40), ("all_reduce", (0, 2), 40), ("all_reduce", (1, 3), 40)]


def test_a_writer_glued_to_the_rest_of_a_cut_line_is_still_known(tmp_path: Path) -> None:
    cut = f"{prefix(101)}AllReduce: opCount 1 sendbuff 0x7f"
    lines = [call(100, 0xA0, 2), call(101, 0xA1, 2), call(101, 0xA1, 2, count=1), cut + call(100, 0xA0, 2, count=1)]
    assert brief(job(tmp_path, *world(2), *lines)) == [("all_reduce", (0, 1), 40), ("all_reduce", (0, 1), 4)]


@pytest.mark.parametrize(
    ("positions", "groups"),
    [((0, 1, 0, 1), [(0, 1), (2, 3)]), ((0, 0, 1, 1), [(0, 2), (1, 3)])],
    ids=["blocks", "steps"],
)
def test_groups_of_old_versions_have_no_id_and_are_joined_by_rank(
    tmp_path: Path, positions: tuple[int, ...], groups: list[tuple[int, ...]]
) -> None:
    pids = (103, 101, 100, 102)  # process numbers say nothing about ranks
    lines = [init(pid, 0xA0, rank, 4) for rank, pid in enumerate(pids)]
    lines += [init(pid, 0xB0, positions[rank], 2) for rank, pid in enumerate(pids)]
    lines += [call(pid, 0xA0, 4) for pid in pids] + [call(pid, 0xB0, 2) for pid in pids]
    trace = job(tmp_path, *lines)
    assert [each.ranks for each in trace.operations] == [(0, 1, 2, 3), *groups]
    assert any("joined by size" in note for note in trace.notes)


def test_one_pointer_in_two_processes_is_two_ranks(tmp_path: Path) -> None:
    lines = [init(100, 0xA0, 0, 2, "0x77"), init(101, 0xA0, 1, 2, "0x77"), call(100, 0xA0, 2), call(101, 0xA0, 2)]
    assert brief(job(tmp_path, *lines)) == [("all_reduce", (0, 1), 40)]


def test_a_pointer_that_comes_again_is_another_communicator(tmp_path: Path) -> None:
    destroyed = [f"{prefix(100)}comm 0xa0 rank 0 nranks 1 cudaDev 0 busId 1 - Destroy COMPLETE"]
    first = [init(100, 0xA0, 0, 1, "0x1"), call(100, 0xA0, 1)]
    second = [init(100, 0xA0, 0, 1, "0x2"), call(100, 0xA0, 1)]
    assert len(job(tmp_path, *first, *destroyed, *second).operations) == 2
    assert len(job(tmp_path, *first, *second).operations) == 2


def test_without_init_lines_ranks_are_numbered_as_people_count_and_that_is_told(tmp_path: Path) -> None:
    trace = job(tmp_path, *(call(7, 0xA0 + n, 2, "Broadcast", root=1, host=f"node{n}") for n in (10, 9)))
    assert brief(trace) == [("broadcast", (0, 1), 40)]
    assert any("numbered by host" in note for note in trace.notes)


def test_one_process_that_drives_all_ranks(tmp_path: Path) -> None:
    outer = [call(100, 0xA0 + rank, 4, turn=3) for rank in range(4)]
    assert brief(job(tmp_path, *outer)) == [("all_reduce", (0, 1, 2, 3), 40)]
    inner = [call(100, 0xB0 + rank, 2, turn=5) for rank in range(4)]
    assert "drives several ranks" in refused(tmp_path, *outer, *inner)


def test_cut_lines_and_call_lines_are_counted(tmp_path: Path) -> None:
    repeated = "node1:100:100 NCCL CALL ncclAllReduce(10,20,10,7,0,0,0xa0,0x1)"
    trace = job(tmp_path, *world(1), *calls(1), f"{prefix(100)}AllReduce: opCount 1 sendb", repeated)
    assert len(trace.operations) == 1
    assert any(note.startswith("1 calls were cut off") for note in trace.notes)
    assert any(note.startswith("1 NCCL CALL lines repeat") for note in trace.notes)


def test_calls_of_names_that_are_not_known_are_counted(tmp_path: Path) -> None:
    lines = [call(100, 0xA0, 1, name) for name in ("AllReduce", "PutSignal", "PutSignal", "WaitSignal")]
    lines.append("node1:100:100 NCCL CALL ncclPutSignal(10,20,10,7,0,0,0xa0,0x1)")
    for text in (lines, [*lines, *["Bootstrap : Using eth0" * 9] * 99]):  # mostly calls, and mostly others
        trace = job(tmp_path, *world(1), *text)
        assert len(trace.operations) == 1
        assert trace.report.skipped == {
            "PutSignal calls, which netsim does not know, left out": 2,
            "WaitSignal calls, which netsim does not know, left out": 1,
        }
        assert "2 PutSignal calls, which netsim does not know, left out" in trace.notes
    assert "(1 ranks that enter communicators, 2 PutSignal calls" in refused(tmp_path, *world(1), *lines[1:])


def test_call_lines_alone_are_used(tmp_path: Path) -> None:
    lines = []
    for rank in range(2):
        lines.append(f"n:{rank}:1 NCCL CALL ncclCommInitRank(0x{rank}a, 2, 0x77, {rank}, 0)")
        lines.append(f"n:{rank}:1 NCCL CALL ncclReduce(10,20,10,7,0,1,0x{rank}a,0x1)")
    (operation,) = job(tmp_path, *lines).operations
    assert (operation.op, operation.bytes, operation.root, operation.ranks) == ("reduce", 40, 1, (0, 1))
    assert "do not say how many ranks" in refused(tmp_path, lines[1], lines[3])


@pytest.mark.parametrize("line", ["", "Epoch 1: loss 0.5", f"{prefix(1)}Bootstrap : Using eth0"])
def test_a_log_without_calls_names_the_settings(tmp_path: Path, line: str) -> None:
    assert "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,COLL" in refused(tmp_path, line)


def test_missing_ranks_of_a_group_follow_the_steps_of_the_seen_ones(tmp_path: Path) -> None:
    lines = [*world(8)[:3], init(100, 0xB0, 0, 4, "0x5"), init(102, 0xB2, 1, 4, "0x5")]
    lines += [call(100, 0xB0, 4), call(102, 0xB2, 4), *calls(8)[:3]]
    trace = job(tmp_path, *lines, fill=True)
    assert brief(trace) == [("all_reduce", (0, 2, 4, 6), 40), ("all_reduce", tuple(range(8)), 40)]
    assert any("only 4 of 8 ranks are in groups of 4" in note for note in trace.notes)
    one = [*world(8)[:1], init(100, 0xB0, 0, 4, "0x5"), call(100, 0xB0, 4), call(100, 0xA0, 8)]
    assert "do not tell who the others are" in refused(tmp_path, *one, fill=True)


def test_a_rank_that_disagrees_is_told_and_the_others_hold(tmp_path: Path) -> None:
    lines = [call(100 + rank, 0xA0 + rank, 3, count=11 if rank == 1 else 10, turn=1) for rank in range(3)]
    trace = job(tmp_path, *world(3), *lines)
    assert brief(trace) == [("all_reduce", (0, 1, 2), 40)]
    (note,) = [note for note in trace.notes if "job.log:5" in note]
    assert "rank 1 calls all_reduce of 44 bytes" in note


def test_the_same_rank_twice_is_refused(tmp_path: Path) -> None:
    lines = [*world(2), init(102, 0xA2, 0, 2, "0x77"), *[call(100 + rank, 0xA0 + rank, 2) for rank in range(3)]]
    assert "rank 0 of one communicator of 2 reports twice" in refused(tmp_path, *lines)


def test_streams_may_overlap_and_one_stream_keeps_its_order(tmp_path: Path) -> None:
    first = [call(100, 0xA0, 2, count=1, stream=1), call(100, 0xA0, 2, count=2, stream=2)]
    second = [call(101, 0xA1, 2, count=1, stream=8), call(101, 0xA1, 2, count=2, stream=9)]
    trace = job(tmp_path, *world(2), *first, *second)
    assert [each.stream for each in trace.operations] == ["default", "stream1"]


def test_opposite_orders_on_one_stream_are_a_deadlock(tmp_path: Path) -> None:
    second = [init(100 + rank, 0xB0 + rank, rank, 2, "0x78") for rank in range(2)]
    lines = [call(100, 0xA0, 2), call(100, 0xB0, 2, count=5), call(101, 0xB1, 2, count=5), call(101, 0xA1, 2)]
    text = refused(tmp_path, *world(2), *second, *lines)
    assert "job.log:5: some ranks call all_reduce of 40 bytes before another operation, and others after it" in text
    apart = [*lines[:3], call(101, 0xA1, 2, stream=2)]
    assert len(job(tmp_path, *world(2), *second, *apart).operations) == 2


def test_opposite_orders_on_one_communicator_are_a_deadlock(tmp_path: Path) -> None:
    counts = ((1, 2, 3), (1, 3, 2))
    lines = [call(100 + n, 0xA0 + n, 2, count=size, turn=t) for n in (0, 1) for t, size in enumerate(counts[n])]
    recorded = "all_reduce of 8 bytes fp32 before all_reduce of 12 bytes fp32, and others after it: a deadlock"
    assert recorded in refused(tmp_path, *world(2), *lines)


def test_absurd_numbers_are_cut_lines_or_refused(tmp_path: Path) -> None:
    for absurd in [call(100, 0xA0, 10**12), call(100, 0xA0, 2, root=5), call(100, 0xA0, 2, count=-1)]:
        trace = job(tmp_path, *world(1), call(100, 0xA0, 1), absurd)
        assert len(trace.operations) == 1
        assert any("1 calls were cut" in note for note in trace.notes)
    assert "cannot be true" in refused(tmp_path, *world(1), call(100, 0xA0, 1, count=10**17))


def test_calls_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netsim.traces.nccl.log.MAX_CALLS", 3)
    assert "more than 3 calls" in refused(tmp_path, *world(1), *[call(100, 0xA0, 1)] * 4)


def test_communicators_that_wait_for_more_ranks_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netsim.traces.joining.communicators.MAX_OPEN", 3)
    lines = [call(100, 0xA0 + n, 2, turn=n) for n in range(4)]
    assert "more than 3 communicators of 2 ranks" in refused(tmp_path, *lines)


def test_bytes_that_are_no_text_do_no_harm(tmp_path: Path) -> None:
    path = saved(tmp_path / "job.log", "\n".join(world(1)).encode() + b"\n\xff\xfe\xc3 " + call(100, 0xA0, 1).encode())
    assert len(read(path).operations) == 1


def test_a_hidden_repetition_is_told(tmp_path: Path) -> None:
    trace = job(tmp_path, *world(1), call(100, 0xA0, 1) + " [repeated 12x across cluster]")
    assert any("RAY_DEDUP_LOGS=0" in note for note in trace.notes)
