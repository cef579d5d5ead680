"""Reading a pickle that holds plain data, and nothing else: lists, tuples, dicts, texts, numbers, truths and None.

A pickle is a program. Python's own unpickler, even with `find_class` barred, can be made to take gigabytes by one
short instruction; this one knows only instructions that build plain data, and counts what it builds.
"""

import pickletools
import struct
from collections.abc import Callable
from typing import Any

from netsim.errors import InputError

MAX_BUILT = 1 << 22  # lists, tuples and dicts, about 500 MB of them
HIGHEST_PROTOCOL = 5
_MARK = object()
_BINGET, _LONG_BINGET, _BINPUT, _LONG_BINPUT, _BININT1, _TEXT, _BEGIN, _STOP = (ord(letter) for letter in "hjqrKX(.")
_KEYS = {str, int, float, bool, type(None)}
_number = struct.Struct("<I").unpack_from


def load(data: bytes, where: str) -> Any:
    """Build the value that a pickle of plain data holds. Raises InputError; builds nothing but plain data."""
    machine = _Machine(data)
    try:
        return machine.run()
    except InputError as error:
        raise InputError(error.what, where=where, hint=error.hint) from None
    except (IndexError, struct.error, ValueError, OverflowError, KeyError) as error:
        what = f"is a damaged or cut pickle (at byte {machine.at:,}: {type(error).__name__})"
        raise InputError(what, where=where, hint="copy it again, or dump it as JSON") from None


class _Machine:
    """The stack, the memo and the place in the pickle."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at, self.built = data, 0, 0
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def run(self) -> Any:
        """Carry out the instructions until the one that says stop."""
        # Those that dumps are made of stand here in full: a call for each takes three times as long.
        data, stack, memo, at = self.data, self.stack, self.memo, 0
        try:
            while True:
                code = data[at]
                at += 1
                if code == _BINGET:
                    stack.append(memo[data[at]])
                    at += 1
                elif code == _LONG_BINGET:
                    stack.append(memo[_number(data, at)[0]])
                    at += 4
                elif code in (_BINPUT, _LONG_BINPUT):
                    if stack[-1] is _MARK:
                        raise ValueError("a mark is no value")
                    memo[data[at] if code == _BINPUT else _number(data, at)[0]] = stack[-1]
                    at += 1 if code == _BINPUT else 4
                elif code == _BININT1:
                    stack.append(data[at])
                    at += 1
                elif code == _TEXT:
                    end = at + 4 + _number(data, at)[0]
                    if end > len(data):
                        raise ValueError("the pickle ends")
                    stack.append(data[at + 4 : end].decode("utf-8", errors="replace"))
                    at = end
                elif code == _BEGIN:
                    stack.append(_MARK)
                elif code == _STOP:
                    self.at = max(self.at, at)
                    return self._pop()
                else:
                    self.at = max(self.at, at)
                    self._other_step(code)
                    at = self.at
        finally:
            self.at = max(self.at, at)

    def _other_step(self, code: int) -> None:
        if code not in _STEPS:
            raise self._refused(code)
        _STEPS[code](self)

    def _refused(self, code: int) -> InputError:
        name = next((each.name for each in pickletools.opcodes if ord(each.code) == code), f"instruction {code}")
        what = f"asks for more than plain data ({name} at byte {self.at - 1:,}): such a pickle can run any program"
        return InputError(what, hint="give the dump as PyTorch wrote it, or dump it as JSON")

    def take(self, size: int) -> bytes:
        """The next bytes; raises ValueError where the pickle ends before."""
        if not 0 <= size <= len(self.data) - self.at:
            raise ValueError("the pickle ends")
        taken = self.data[self.at : self.at + size]
        self.at += size
        return taken

    def number(self, size: int) -> int:
        """The next bytes as a number without sign."""
        return int.from_bytes(self.take(size), "little")

    def build(self, value: Any) -> None:
        """Put a new list, tuple or dict on the stack."""
        self.built += 1
        if self.built > MAX_BUILT:
            raise InputError(f"holds more than {MAX_BUILT:,} lists and tuples", hint="give a smaller dump")
        self.stack.append(value)

    def _pop(self) -> Any:
        value = self.stack.pop()
        if value is _MARK:
            raise ValueError("a mark is no value")
        return value

    def pop_to_mark(self) -> list[Any]:
        """Take what lies above the last mark, and the mark."""
        at = len(self.stack) - 1
        while self.stack[at] is not _MARK:
            at -= 1
            if at < 0:
                raise ValueError("there is no mark")
        values = self.stack[at + 1 :]
        del self.stack[at:]
        return values

    def top(self, count: int) -> None:
        """Make a tuple of the uppermost values."""
        values = [self._pop() for _ in range(count)]
        self.build(tuple(reversed(values)))

    def append(self, values: list[Any]) -> None:
        """Add to the list on the stack."""
        into = self.stack[-1]
        if not isinstance(into, list):
            raise ValueError("not a list")
        into.extend(values)

    def set_items(self, values: list[Any]) -> None:
        """Add keys and values to the dict on the stack."""
        into = self.stack[-1]
        if not isinstance(into, dict) or len(values) % 2:
            raise ValueError("not a dict")
        keys = values[::2]
        if not _KEYS.issuperset(map(type, keys)):
            raise ValueError("a key must be a text or number")
        into.update(zip(keys, values[1::2], strict=True))

    def remember(self, number: int) -> None:
        """Note the uppermost value under a number."""
        value = self.stack[-1]
        if value is _MARK:
            raise ValueError("a mark is no value")
        self.memo[number] = value

    def text(self, size: int) -> None:
        """Put a text on the stack."""
        self.stack.append(self.take(size).decode("utf-8", errors="replace"))

    def protocol(self) -> None:
        """Check the version of the instructions."""
        if self.number(1) > HIGHEST_PROTOCOL:
            raise ValueError("unknown protocol")


_STEPS: dict[int, Callable[[_Machine], object]] = {
    0x80: _Machine.protocol,
    0x95: lambda m: m.take(8),  # FRAME: only tells a length
    ord("N"): lambda m: m.stack.append(None),
    0x88: lambda m: m.stack.append(True),
    0x89: lambda m: m.stack.append(False),
    ord("J"): lambda m: m.stack.append(int.from_bytes(m.take(4), "little", signed=True)),
    ord("M"): lambda m: m.stack.append(m.number(2)),
    0x8A: lambda m: m.stack.append(int.from_bytes(m.take(m.number(1)), "little", signed=True)),  # LONG1
    ord("G"): lambda m: m.stack.append(struct.unpack(">d", m.take(8))[0]),
    0x8C: lambda m: m.text(m.number(1)),  # SHORT_BINUNICODE
    0x8D: lambda m: m.text(m.number(8)),  # BINUNICODE8
    ord("]"): lambda m: m.build([]),
    ord("}"): lambda m: m.build({}),
    ord(")"): lambda m: m.build(()),
    ord("t"): lambda m: m.build(tuple(m.pop_to_mark())),
    0x85: lambda m: m.top(1),
    0x86: lambda m: m.top(2),
    0x87: lambda m: m.top(3),
    ord("a"): lambda m: m.append([m._pop()]),
    ord("e"): lambda m: m.append(m.pop_to_mark()),
    ord("s"): lambda m: m.set_items([m._pop(), m._pop()][::-1]),
    ord("u"): lambda m: m.set_items(m.pop_to_mark()),
    0x94: lambda m: m.remember(len(m.memo)),  # MEMOIZE
}
