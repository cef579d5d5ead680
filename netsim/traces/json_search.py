"""Finding a few objects in a very large JSON file: those that have a certain name, and the values of certain keys.

A profiler writes a million events, of which a thousand are collectives. Bytes are searched, and only the objects
found are decoded: ten times faster than decoding everything, in memory that does not grow with the file.
"""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from netsim.errors import InputError
from netsim.traces.json_stream import unfinished
from netsim.traces.limits import MAX_LINE
from netsim.traces.lines import blocks

BLOCK = 1 << 20  # bytes taken in at a time
MAX_OBJECT = 1 << 20  # bytes of one object that is looked for; an event has a few hundred
OVERLAP = 1 << 16  # bytes kept of what was searched: an object may begin before its name does
TRIES = 16  # brackets before a name that may be the beginning of its object
_FIRST_SLICE = 1 << 12
_decode = json.JSONDecoder().raw_decode


class Found(NamedTuple):
    """An object that was looked for: the key it stands under (""  for one found by its name), and its line."""

    key: str
    value: Any
    line: int


class JsonSearch:
    """Iterates over the objects of a JSON file whose "name" begins as `names` (a regular expression) says.

    The values of `keys` are found too, wherever they stand. `damaged` counts objects that could not be read; `cut`
    tells, at the end, that the file does not end as JSON does.
    """

    def __init__(self, path: Path, names: str, keys: Sequence[str] = ()) -> None:
        self.path, self.damaged, self.cut = path, 0, False
        listed = "|".join(map(re.escape, keys)) or r"(?!)"
        self._mark = re.compile(rf'"name"\s*:\s*"(?:{names})|"({listed})"\s*:\s*'.encode())
        self._blocks = (block for _, block in blocks(path, BLOCK))
        self._buffer, self._at, self._ended = b"", 0, False
        self._line, self._counted = 1, 0  # the line at a place up to which lines were counted

    def __iter__(self) -> Iterator[Found]:
        while not self._ended:
            self._more()
            while mark := self._mark.search(self._buffer, self._at):
                found = self._value_of(mark) if mark[1] else self._object_around(mark)
                if found is not None:
                    yield found
        self.cut = self._buffer.rstrip()[-1:] not in (b"}", b"]")

    def _more(self) -> None:
        """Take in another block; what was searched goes, but for the end of it."""
        gone = max(0, min(self._at, len(self._buffer) - OVERLAP))
        self._line, self._counted = self._line_of(gone), 0
        block = next(self._blocks, b"")
        self._ended = not block
        # Not quite to the end: a mark may be half read.
        self._at = max(self._at, len(self._buffer) - 64) - gone
        self._buffer = self._buffer[gone:] + block

    def _value_of(self, mark: re.Match[bytes]) -> Found | None:
        start, key = mark.end(), (mark[1] or b"").decode()
        read = self._read(start, MAX_LINE)
        if read is None:
            self._at = start
            self.damaged += 1
            return None
        value, self._at = read
        return Found(key, value, self._line_of(start))

    def _object_around(self, mark: re.Match[bytes]) -> Found | None:
        """Read the object that holds this name: the nearest bracket before it that opens something longer."""
        low, start = max(0, mark.start() - OVERLAP), mark.start()
        for _ in range(TRIES):
            start = self._buffer.rfind(b"{", low, start)
            if start < 0:
                break
            read = self._read(start, MAX_OBJECT)
            if read is not None and read[1] > mark.start():
                value, self._at = read
                return Found("", value, self._line_of(start))
        self.damaged += 1
        self._at = mark.end()
        return None

    def _read(self, start: int, limit: int) -> tuple[Any, int] | None:
        """Decode the value that begins here; gives it and where it ends, or None where it cannot be read."""
        size = _FIRST_SLICE
        while True:
            self._reach(start + size)
            text = self._buffer[start : start + size].decode("utf-8", errors="surrogateescape")
            try:
                value, end = _decode(text)
            except RecursionError:
                what = "this is not JSON netsim can read (brackets are nested too deep)"
                where = f"{self.path}:{self._line_of(start)}"
                raise InputError(what, where=where, hint="give the file as the program wrote it") from None
            except json.JSONDecodeError as error:
                whole = start + size >= len(self._buffer) and self._ended
                if whole or size >= limit or not unfinished(error, text):
                    return None
                size *= 8
            except ValueError:  # a number of thousands of digits
                return None
            else:
                return value, start + len(text[:end].encode("utf-8", errors="surrogateescape"))

    def _reach(self, end: int) -> None:
        """Take in blocks until the buffer is so long, or the file ends."""
        parts, length = [self._buffer], len(self._buffer)
        while length < end and not self._ended:
            parts.append(next(self._blocks, b""))
            length += len(parts[-1])
            self._ended = not parts[-1]
        self._buffer = b"".join(parts) if len(parts) > 1 else self._buffer

    def _line_of(self, at: int) -> int:
        """Count lines on from where they were counted last; places are asked for nearly in order."""
        low, high = min(at, self._counted), max(at, self._counted)
        lines = self._buffer.count(b"\n", low, high)
        self._line, self._counted = self._line + (lines if at >= self._counted else -lines), at
        return self._line
