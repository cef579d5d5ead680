"""Looking through a log by blocks finds what looking at every line finds, whatever the blocks and the packing."""

import gzip
from collections import Counter
from pathlib import Path

import pytest

from netsim.traces import progress, read
from netsim.traces.lines import blocks
from netsim.traces.nccl import scan as nccl_scan
from netsim.traces.nccl.lines import events
from netsim.traces.nccl.scan import LogLine, clean_blocks, lines_in
from tests.inputs import saved
from tests.traces.nccl.nccl_lines_of import call, prefix, world

DULL = [
    f"{prefix(100)}Channel 00/02 :    0   1   2",
    "Epoch 1: loss 0.5",
    "",
    "x" * 300,
    f"{prefix(101)}Connected all rings",
]
TELLING = [
    *world(2),
    f"{prefix(100)}comm 0xa0 rank 0 nranks 2 cudaDev 0 busId 1 - Init START",
    call(100, 0xA0, 2),
    f"{prefix(100)}AllReduce: opCount 1 sendb",
    f"{prefix(100)}Recv:",
    *[call(101, 0xA1, 2, op) for op in ("AllGather", "ReduceScatter", "Broadcast", "Reduce", "AlltoAll", "Gather")],
    *[call(101, 0xA1, 2, op) for op in ("Scatter", "Send", "Recv")],
    "n:1:1 NCCL CALL ncclAllReduce(10,20,10,7,0,0,0xa0,0x1)",
    "n:1:1 NCCL CALL ncclGroupStart()",
    "n:1:1 NCCL CALL ncclCommInitRank(0xa, 2, 0x77, 0, 0)",
    f"{prefix(100)}AllReduce: 4 Bytes -> Algo RING proto SIMPLE",
    f"{prefix(100)}comm 0xa0 rank 0 nranks 2 cudaDev 0 busId 1 - Destroy COMPLETE",
]


def found(path: Path, counts: Counter[str] | None = None) -> list[LogLine]:
    found = clean_blocks(path, Counter() if counts is None else counts)
    return [line for first, block in found for line in lines_in(first, block)]


@pytest.mark.parametrize("line", TELLING)
def test_every_line_that_tells_something_is_found(tmp_path: Path, line: str) -> None:
    assert list(events(line))
    path = saved(tmp_path / "log", [*DULL, line, *DULL])
    assert [(each.number, each.text) for each in found(path)] == [(len(DULL) + 1, line)]


@pytest.mark.parametrize("size", [1, 7, 64, 1000, 1 << 20])
def test_blocks_are_whole_lines_and_add_up(tmp_path: Path, size: int) -> None:
    text = "\n".join([*DULL, *TELLING, "no newline at the end"])
    parts = list(blocks(saved(tmp_path / "log", text), size))
    assert b"".join(part for _, part in parts).decode() == text
    for number, part in parts:
        before = text.encode()[: text.encode().index(part)] if size > 300 else b""
        assert size <= 300 or (number == before.count(b"\n") + 1 and (not before or before.endswith(b"\n")))


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
@pytest.mark.parametrize("size", [400, 1000, 1 << 20])
def test_numbers_of_lines_do_not_depend_on_blocks(
    tmp_path: Path, size: int, packed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nccl_scan, "blocks", lambda path: blocks(path, size))
    lines = [line for pair in zip(TELLING, DULL * 5, strict=False) for line in pair]
    content = ("\n".join(lines) + "\n").encode()
    path, counts = saved(tmp_path / "log", gzip.compress(content) if packed else content), Counter[str]()
    assert [(each.number, each.text) for each in found(path, counts)] == [
        (number, line) for number, line in enumerate(lines, start=1) if list(events(line))
    ]
    assert counts["lines"] == len(lines)


def test_colours_are_taken_off_even_inside_a_word(tmp_path: Path) -> None:
    coloured = call(100, 0xA0, 2).replace("AllReduce", "\x1b[1;32mAll\x1b[0mReduce\x1b[0m")
    path = saved(tmp_path / "log", [f"\x1b[36m{coloured}\x1b[0m"])
    assert [each.text for each in found(path)] == [call(100, 0xA0, 2)]


def test_only_the_last_line_may_be_cut(tmp_path: Path) -> None:
    path = saved(tmp_path / "log", f"{call(100, 0xA0, 2)}\n{call(100, 0xA0, 2)}")
    assert [each.whole for each in found(path)] == [True, False]


def test_a_stream_cut_by_the_end_of_the_file_is_the_known_one(tmp_path: Path) -> None:
    whole = [*world(1), *[call(100, 0xA0, 1, stream=0x7F12)] * 2]
    path = saved(tmp_path / "job.log", "\n".join(whole)[:-2])
    assert [(each.op, each.stream) for each in read(path).operations] == [("all_reduce", "default")] * 2


def test_reading_tells_how_far_it_is(tmp_path: Path) -> None:
    path = saved(tmp_path / "job.log", [*world(1), call(100, 0xA0, 1), *["x" * 1000] * 3000])
    recorded: list[tuple[Path, int, int]] = []
    with progress.watched_by(lambda *each: recorded.append(each)):
        read(path)
    size = path.stat().st_size
    assert [done for _, done, _ in recorded] == [1 << 20, 2 << 20, size]
    assert {(path, total) for path, _, total in recorded} == {(path, size)}
    recorded.clear()
    read(path)
    assert recorded == []


def test_a_line_longer_than_any_block_counts_as_one(tmp_path: Path) -> None:
    path = saved(tmp_path / "log", ["x" * (5 << 20), call(100, 0xA0, 2)])
    assert [each.number for each in found(path)] == [2]
