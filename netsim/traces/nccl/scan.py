"""Finding the few lines of an NCCL log that matter, in blocks of bytes: most tell of rings, channels, programs."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from netsim.traces.lines import blocks

_ANSI = re.compile(rb"\x1b\[[0-9;]*[A-Za-z]")
_MARKS = (  # every line that nccl_lines makes something of holds one of these
    *(b"Reduce:", b"Gather:", b"Scatter:", b"Broadcast:", b"AlltoAll:", b"Send:", b"Recv:"),
    b": opCount ",  # calls that netsim does not know
    *(b" COMPLETE", b"Init START", b"NCCL CALL nccl", b" Bytes -> ", b"NCCL version "),
)
MARK = re.compile(b"|".join(map(re.escape, _MARKS)))
_REPEATED = re.compile(rb"\[repeated \d+x across cluster\]")


class LogLine(NamedTuple):
    """A line that may matter; `whole` unless the file ends within it."""

    number: int
    text: str
    whole: bool


def clean_blocks(path: Path, counts: Counter[str]) -> Iterator[tuple[int, bytes]]:
    """Yield (number of the first line, lines without colours); `lines` and `hidden` are counted in `counts`."""
    for first, block in blocks(path):
        if b"\x1b[" in block:
            block = _ANSI.sub(b"", block)
        if b"[repeated " in block:
            counts["hidden"] += len(_REPEATED.findall(block))
        yield first, block
        counts["lines"] += block.count(b"\n") + (not block.endswith(b"\n"))


def lines_in(first: int, block: bytes) -> Iterator[LogLine]:
    """Yield the lines of a block that may report something."""
    number, place = first, 0
    for start in sorted(_starts(block)):
        number += block.count(b"\n", place, start)
        place = start
        end = block.find(b"\n", start)
        text = block[start : end if end >= 0 else len(block)].decode("utf-8", errors="replace")
        yield LogLine(number, text, end >= 0)


def _starts(block: bytes) -> set[int]:
    """Find where the lines begin that hold a mark."""
    starts = set()
    for mark in _MARKS:
        at = block.find(mark)
        while at >= 0:
            starts.add(block.rfind(b"\n", 0, at) + 1)
            end = block.find(b"\n", at)
            at = block.find(mark, end) if end >= 0 else -1
    return starts
