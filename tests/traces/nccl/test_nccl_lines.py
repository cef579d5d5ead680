"""One line of an NCCL log: what stands in front of it, what is cut, what looks like a call and is none."""

import time
from dataclasses import replace
from typing import TypeVar

import pytest

from netsim.traces.nccl.lines import Cut, Destroyed, GroupMark, Init, Reported, Tuned, Where, events

CALL = (
    "AllReduce: opCount 1f sendbuff 0x7f01 recvbuff (nil) count 33554432 datatype 7 op 0 root 0 "
    "comm 0x5632aa [nranks=16] stream 0x5632bb"
)
LINE = f"node7:31125:31130 [3] NCCL INFO {CALL}"
WRITER = Where("node7", "31125", "31130", "3")

Event = TypeVar("Event")


def only(text: str, kind: type[Event] = Reported) -> Event:  # type: ignore[assignment]
    (event,) = events(text)
    assert isinstance(event, kind)
    return event


def test_a_call_is_read_whole() -> None:
    pointers = {"comm": "0x5632aa", "stream": "0x5632bb"}
    numbers = {"op_count": 31, "count": 33_554_432, "datatype": 7, "root": 0, "nranks": 16, "global_rank": -1}
    assert only(LINE) == Reported(writer=WRITER, op="all_reduce", by_call=False, **numbers, **pointers)


@pytest.mark.parametrize(
    "before",
    [
        "(RayTrainWorker pid=1234, ip=10.0.0.1) ",
        "(EngineCore_DP0 pid=9) (RayWorkerWrapper pid=7, ip=10.0.0.1) ",
        "2: ",
        "[1,3]<stdout>:",
        "[0] ",
        "gpu1505: ",
        "17:",
        "> ",
        "[2026-03-03 12:11:38] ",
        " 45%|####      | 9/20 [00:01<00:02]\r",
        "\x1b[36m",
        "node9:1:2 [0] NCCL INFO ",
        "node9:1:2 [0] NCCL INFO AllReduce: opCount 3 sendbuff 0x7 ",
    ],
)
def test_what_a_launcher_or_another_writer_puts_in_front(before: str) -> None:
    *cut, event = events(before + LINE)
    assert isinstance(event, Reported)
    assert event.writer == WRITER
    assert len(cut) == before.count("opCount")


def test_lines_without_prefix_and_with_a_numeric_host() -> None:
    assert only(CALL).writer == Where("", "", "", "")
    assert only(f"64:1215:1215 [0] NCCL INFO {CALL}").writer.host == "64"


def test_two_calls_on_one_line() -> None:
    first, second = events(f"{LINE} task 0 globalrank 5node8:7:7 [0] NCCL INFO {CALL}")
    assert isinstance(first, Reported)
    assert isinstance(second, Reported)
    assert (first.writer.host, first.global_rank) == ("node7", 5)
    assert second.writer.process == "7"


def test_a_key_that_newer_versions_add_does_no_harm() -> None:
    event = only(LINE.replace("count 33554432", "acc (nil) count 33554432"))
    assert event.count == 33_554_432


def test_a_line_cut_anywhere_before_its_stream_is_counted_and_never_guessed() -> None:
    begin, end = LINE.index("opCount") + 1, LINE.index(" stream ") + len(" stream ")
    for length in range(begin, end):
        assert only(LINE[:length], Cut) == Cut(WRITER, "all_reduce"), LINE[:length]


def test_a_line_mixed_with_another_is_counted() -> None:
    assert [type(event) for event in events(LINE.replace("33554432", "3355node8"))] == [Cut]
    assert [type(event) for event in events(LINE.replace("[nranks=16]", "[nranks="))] == [Cut]


@pytest.mark.parametrize(
    "text",
    [
        "node7:1:1 [0] NCCL INFO     AllReduce |    10.4/   1.2 |    15.8/   0.0 |",
        "node7:1:1 [0] NCCL INFO Channel 00/02 :    0   1   2",
        "node7:1:1 [0] NCCL INFO Ring 00 : 26[2] -> 24[0] via P2P/IPC",
        "node7:1:1 [0] NCCL INFO Init timings - ncclCommInitRank: rank 0 nranks 16 total 1.58",
        "node7:1:1 [0] NCCL INFO AllReduce: only a word",
        "time in AllReduce: opCountless",
    ],
)
def test_what_looks_like_a_call_and_is_none(text: str) -> None:
    assert list(events(text)) == []


@pytest.mark.parametrize(
    ("text", "details"),
    [
        ("{} - COMPLETE", {}),
        ("{} cudaDev 6 nvmlDev 5 - Init COMPLETE", {"cudaDev": "6"}),
        ("{} cudaDev 6 busId b1000 commId 0x9a - Init COMPLETE", {"cudaDev": "6", "commId": "0x9a"}),
        (
            "ncclCommSplit {} cudaDev 6 busId 70 parent 0x18 color 15 key 0- Init COMPLETE",
            {"cudaDev": "6", "parent": "0x18", "color": "15"},
        ),
    ],
)
def test_init_lines_of_all_versions(text: str, details: dict[str, str]) -> None:
    event = only("node7:31125:31130 [3] NCCL INFO " + text.format("comm 0x1 rank 3 nranks 8"), Init)
    assert (event.comm, event.rank, event.nranks, event.started) == ("0x1", 3, 8, False)
    assert dict(event.details) == details


def test_destroy() -> None:
    text = "node7:31125:31130 [3] NCCL INFO comm 0x1 rank 3 nranks 8 cudaDev 6 busId b1 - Destroy COMPLETE"
    assert only(text, Destroyed) == Destroyed(WRITER, "0x1")


def test_call_lines() -> None:
    event = only("gc01:42:43 NCCL CALL ncclAllReduce(7f5d,7f5e,10485760,0,0,0,0x55d8,0x55d9)")
    assert (event.count, event.comm, event.by_call) == (10_485_760, "0x55d8", True)
    assert event.writer == Where("gc01", "42", "43", "")
    entered = only("gc01:42:43 NCCL CALL ncclCommInitRank(0x55d8, 16, 0x52, 4, 0)", Init)
    assert (entered.rank, entered.nranks) == (4, 16)


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("262144 Bytes -> Algo 0 proto 1 time 54.7", "tree ll128"),
        ("AllReduce: 10056384 Bytes -> Algo 1 proto 2 time 522.6", "all_reduce ring simple"),
        ("AllReduce: 4 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..0}", "all_reduce ring simple"),
        ("AllGather [Symmetric]: 4 Bytes -> Kernel AllGather_LL nchannels 2", "all_gather allgather_ll"),
        ("AllReduce: 4 Bytes -> Algo 9 proto 0 time 1.0", "all_reduce number 9 ll"),
    ],
)
def test_what_was_chosen_for_a_call(text: str, choice: str) -> None:
    event = only(f"node7:31125:31130 [3] NCCL INFO {text}", Tuned)
    assert (event.writer, event.choice) == (WRITER, choice)


def test_marks_of_groups() -> None:
    writer = Where("gc01", "42", "43", "")
    assert only("gc01:42:43 NCCL CALL ncclGroupStart()", GroupMark) == GroupMark(writer, True)
    assert only("gc01:42:43 NCCL CALL ncclGroupEnd()", GroupMark) == GroupMark(writer, False)


@pytest.mark.parametrize(
    ("stamp", "time_ns"),
    [
        ("[1970-01-02 00:00:01.000002] ", 86_401_000_002_000),
        ("[1970-01-01T01:00:00,5] ", 3_600_500_000_000),
        ("[1970-01-02 00:00:01] ", -1),  # a second is too coarse to tell when calls were made
        ("[1970-02-31 00:00:01.5] ", -1),
        ("", -1),
    ],
)
def test_stamps_of_time(stamp: str, time_ns: int) -> None:
    event = only(f"rank 3> {stamp}{LINE}")
    assert event.writer == replace(WRITER, time_ns=time_ns)


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "a:",
        "1:1:",
        "NCCL ",
        "AllReduce: op",
        "comm 0x1 rank 1 nranks 1 ",
        "NCCL CALL ncclSend(",
        "\x1b[1",
        " Bytes -> ",
        "1 Bytes -> Algo ",
    ],
)
def test_hostile_lines_take_linear_time(unit: str) -> None:
    line = "NCCL INFO " + unit * (65_536 // len(unit)) + " COMPLETE NCCL CALL"
    started = time.perf_counter()
    for _ in events(line):
        pass
    assert time.perf_counter() - started < 3
