"""Finding a few objects in a very large JSON file: those that have a certain name, and the values of certain keys.

A profiler writes a million events, of which a thousand are collectives. Text is searched, and only the objects
found are decoded: ten times faster than decoding everything, in memory that does not grow with the file.
"""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from netsim.traces.json_stream import JsonWindow, unfinished
from netsim.traces.limits import MAX_LINE

MAX_OBJECT = 1 << 20  # characters of one object that is looked for; an event has a few hundred
OVERLAP = 1 << 16  # characters kept of what was searched: an object may begin before its name does
TRIES = 16  # brackets before a name that may be the beginning of its object
_decode = json.JSONDecoder().raw_decode


class Found(NamedTuple):
    """An object that was looked for: the key it stands under (""  for one found by its name), and its line."""

    key: str
    value: Any
    line: int


class JsonSearch(JsonWindow):
    """Iterates over the objects of a JSON file whose "name" begins as `names` (a regular expression) says.

    The values of `keys` are found too, wherever they stand. `damaged` counts objects that could not be read; `cut`
    tells, at the end, that the file does not end as JSON does.
    """

    def __init__(self, path: Path, names: str, keys: Sequence[str] = ()) -> None:
        super().__init__(path, errors="surrogateescape")
        self.damaged, self.cut = 0, False
        listed = "|".join(map(re.escape, keys)) or r"(?!)"
        self._mark = re.compile(rf'"name"\s*:\s*"(?:{names})|"({listed})"\s*:\s*')

    def __iter__(self) -> Iterator[Found]:
        while not self._ended:
            kept = max(0, min(self._at, len(self._buffer) - OVERLAP))
            self._at = max(self._at, len(self._buffer) - 64)  # not quite to the end: a mark may be half read
            self._take_in(1, kept)
            while mark := self._mark.search(self._buffer, self._at):
                found = self._value_of(mark) if mark[1] else self._object_around(mark)
                if found is not None:
                    yield found
        self.cut = self._buffer.rstrip()[-1:] not in ("}", "]")

    def _value_of(self, mark: re.Match[str]) -> Found | None:
        self._at = mark.end()
        read = self._read(mark.end(), MAX_LINE)
        if read is None:
            self.damaged += 1
            return None
        value, self._at = read
        return Found(mark[1], value, self._line_of(mark.end()))

    def _object_around(self, mark: re.Match[str]) -> Found | None:
        """Read the object that holds this name: the nearest bracket before it that opens something longer."""
        low, start = max(0, mark.start() - OVERLAP), mark.start()
        for _ in range(TRIES):
            start = self._buffer.rfind("{", low, start)
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
        while True:
            try:
                return _decode(self._buffer, start)
            except RecursionError:
                what = "this is not JSON netsim can read (brackets are nested too deep)"
                raise self._wrong(what, start) from None
            except json.JSONDecodeError as error:
                length = len(self._buffer) - start
                if self._ended or length >= limit or not unfinished(error, self._buffer):
                    return None
                self._take_in(max(1, length), kept=0)
            except ValueError:  # a number of thousands of digits
                return None
