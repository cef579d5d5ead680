"""Walking through a large JSON file value by value: memory grows with the largest value, not with the file.

A file that ends in the middle gives what came before its end, and says so; one that is wrong in the middle is refused.
"""

import codecs
import json
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from netsim.errors import InputError
from netsim.traces.limits import MAX_LINE
from netsim.traces.lines import blocks

CHUNK = 1 << 20  # characters taken in at a time
MAX_VALUE = MAX_LINE  # characters of one value that is taken whole
_NUMBER_END = re.compile(r"[-+.eE0-9]*")  # of a number that is cut off by the end of the file
_SPACE = re.compile(r"[ \t\r\n]*")
_NEAR_THE_END = 16  # a literal, number or escape that is not whole yet is found so near the end of what was read
_decode = json.JSONDecoder().raw_decode


class JsonWindow:
    """The text of a JSON file from somewhere on, as far as it was taken in, and the place up to which it is done."""

    def __init__(self, path: Path, errors: str = "replace") -> None:
        self.path, self._chunks = path, _texts(path, errors)
        self._buffer, self._at, self._ended = "", 0, False
        self._line, self._counted = 1, 0  # the line at a place up to which lines were counted

    def _take_in(self, size: int, kept: int) -> bool:
        """Take in so much more, and let go what stands before `kept`; False at the end of the file."""
        self._line_of(kept)
        parts = [self._buffer[kept:]]
        while size > 0 and not self._ended:
            parts.append(next(self._chunks, ""))
            self._ended = not parts[-1]
            size -= len(parts[-1])
        self._buffer, self._at, self._counted = "".join(parts), self._at - kept, 0
        return len(parts) > 2 or not self._ended

    def _line_of(self, at: int) -> int:
        """Count lines on from where they were counted last; places are asked for nearly in order."""
        if at >= self._counted:
            self._line += self._buffer.count("\n", self._counted, at)
        else:
            self._line -= self._buffer.count("\n", at, self._counted)
        self._counted = at
        return self._line

    def _wrong(self, what: str, at: int) -> InputError:
        where = f"{self.path}:{self._line_of(at)}"
        return InputError(what, where=where, hint="give the file as the program wrote it")


class JsonWalk(JsonWindow):
    """Iterates over the values of a JSON file, as (key, value).

    Of an object each member comes in turn; where its key is in `streamed` and it is an array, the items of the array
    come in turn. Of an array the items come with the key "". With `many` the file holds values one after another, and
    each comes with the key "". `line` is where the last value begins; `cut` tells, at the end, that the file was not
    whole. Nesting deeper than the interpreter's own limit (about a thousand) is an InputError.
    """

    def __init__(self, path: Path, streamed: Collection[str] = (), *, many: bool = False) -> None:
        super().__init__(path)
        self.streamed, self.many, self.cut, self.line = streamed, many, False, 1

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        try:
            if self.many:
                while self._peek():
                    yield "", self._value()
                return
            first = self._peek()
            if first == "{":
                yield from self._members()
            elif first == "[":
                yield from self._items("")
            else:
                raise self._no_json("neither an object nor a list begins here")
            if self._peek():
                raise self._no_json("something follows the end")
        except _CutError:
            self.cut = True

    def _members(self) -> Iterator[tuple[str, Any]]:
        for _ in self._elements("{", "}"):
            if self._peek() != '"':
                raise self._end_or("a key in quotes is missing")
            key = self._value()
            self._expect(":")
            if key in self.streamed and self._peek() == "[":
                yield from self._items(key)
            else:
                yield key, self._value()

    def _items(self, key: str) -> Iterator[tuple[str, Any]]:
        for _ in self._elements("[", "]"):
            yield key, self._value()

    def _elements(self, begin: str, end: str) -> Iterator[None]:
        """Step over the brackets and the commas between them; who iterates takes what stands between two of those."""
        self._expect(begin)
        found = "," if self._peek() != end else end
        while found == ",":
            yield
            found = self._peek()
            if found not in (",", end) or not found:
                raise self._end_or(f"a comma or {end} is missing")
            self._at += found == ","
        self._at += 1

    def _expect(self, what: str) -> None:
        if self._peek() != what:
            raise self._end_or(f"{what} is missing")
        self._at += 1

    def _peek(self) -> str:
        """Step over white space and look at the next character; "" at the end of the file."""
        while True:
            self._at = _SPACE.match(self._buffer, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            if not self._more():
                return ""

    def _value(self) -> Any:
        self._peek()
        self.line = self._line_of(self._at)
        while True:
            try:
                value, end = _decode(self._buffer, self._at)
            except RecursionError:
                raise self._no_json("brackets are nested too deep") from None
            except json.JSONDecodeError as error:
                if not unfinished(error, self._buffer):
                    raise self._no_json(error.msg, error.pos) from None
            except ValueError:
                raise self._no_json("a number is too long") from None
            else:
                if self._is_whole(value, end):
                    self._at = end
                    return value
            if self._ended:
                raise _CutError
            self._more()

    def _is_whole(self, value: Any, end: int) -> bool:
        """Tell whether a value ends here; a number may go on behind the end of what was read: 1 | .5e3."""
        if not isinstance(value, int | float) or isinstance(value, bool):
            return end < len(self._buffer) or self._ended
        if end >= len(self._buffer):
            return False
        goes_on = _NUMBER_END.fullmatch(self._buffer, end) if self._ended else self._buffer[end] not in ",]} \t\r\n"
        return not goes_on

    def _more(self) -> bool:
        """Take in as much again as is left over, so that a long value is not begun too often; False at the end."""
        rest = len(self._buffer) - self._at
        if rest > MAX_VALUE:
            raise self._no_json(f"one value is longer than {MAX_VALUE:,} characters")
        return self._take_in(max(1, rest), kept=self._at)

    def _end_or(self, what: str) -> Exception:
        """What is wrong here: the file has ended, or it is not JSON."""
        return self._no_json(what) if self._peek() else _CutError()

    def _no_json(self, what: str, at: int | None = None) -> InputError:
        return self._wrong(f"this is not JSON ({what})", self._at if at is None else at)


def unfinished(error: json.JSONDecodeError, text: str) -> bool:
    """Tell whether a value that cannot be decoded may only be longer than this text of it."""
    near = error.pos >= len(text) - _NEAR_THE_END
    return near or error.msg.startswith("Unterminated string")


class _CutError(Exception):
    """The file ends in the middle of a value."""


def _texts(path: Path, errors: str) -> Iterator[str]:
    """The file's text in chunks; `errors` says what becomes of bytes that are no UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")(errors=errors)
    for _, block in blocks(path, CHUNK):
        if text := decoder.decode(block):
            yield text
    if text := decoder.decode(b"", final=True):
        yield text
