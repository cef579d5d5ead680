"""Protobuf's wire format: messages as numbered fields, without a schema; and files of messages behind their lengths.

https://protobuf.dev/programming-guides/encoding/
"""

import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

from netsim.errors import InputError
from netsim.traces.lines import blocks

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
MAX_VARINT = 10  # bytes
MAX_MESSAGE = 1 << 26  # 64 MiB: a node that carries a whole input file is some hundred kilobytes

Value = int | bytes
Field = tuple[int, int, Value]  # number, wire type, value; of fixed32 and fixed64 the raw bytes


class WireError(ValueError):
    """Bytes that are no protobuf message."""


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Read a varint: its value (64 bits, unsigned) and the place after it."""
    if at < len(data) and data[at] < 0x80:  # most are of one byte
        return data[at], at + 1
    value = shift = 0
    for place in range(at, min(at + MAX_VARINT, len(data))):
        value |= (data[place] & 0x7F) << shift
        if data[place] < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, place + 1
        shift += 7
    raise WireError("a number is cut off" if at + MAX_VARINT > len(data) else "a number is too long")


def fields(message: bytes) -> Iterator[Field]:
    """The fields of a message in their order."""
    at, end = 0, len(message)
    while at < end:
        key, at = varint(message, at)
        number, kind = key >> 3, key & 7
        if not number:
            raise WireError("there is no field 0")
        if kind == VARINT:
            value, at = varint(message, at)
            yield number, kind, value
            continue
        if kind == BYTES:
            size, at = varint(message, at)
        elif kind in (FIXED32, FIXED64):
            size = 4 if kind == FIXED32 else 8
        else:
            raise WireError(f"there is no wire type {kind}")
        if at + size > end:
            raise WireError(f"field {number} is cut off")
        yield number, kind, message[at : at + size]
        at += size


def signed(value: int) -> int:
    """An int32 or int64 as protobuf writes it: two's complement in 64 bits."""
    return value - (1 << 64) if value >> 63 else value


def packed(value: Value) -> Iterator[int]:
    """The numbers of a repeated varint field: packed, or a single one."""
    if isinstance(value, int):
        yield value
        return
    at = 0
    while at < len(value):
        number, at = varint(value, at)
        yield number


def double(value: bytes) -> float:
    """A double, or a float if it has four bytes."""
    return float(struct.unpack("<d" if len(value) == 8 else "<f", value)[0])


def messages(path: Path) -> Iterator[bytes]:
    """The messages of a file, each behind its length; a cut or damaged file is an InputError that tells which."""
    rest, number = b"", 1
    for _, block in blocks(path):
        rest = rest + block if rest else block
        at = 0
        while at < len(rest):
            size, start = _length(path, rest, at, number)
            if not start or start + size > len(rest):
                break
            yield rest[start : start + size]
            at, number = start + size, number + 1
        rest = rest[at:]
    if rest:
        hint = "copy the file again: its end is missing"
        raise InputError(f"ends within its message {number:,}", where=str(path), hint=hint)


def _length(path: Path, data: bytes, at: int, number: int) -> tuple[int, int]:
    """The length of the next message and where it starts; 0 where the length itself is not all there yet."""
    try:
        size, start = varint(data, at)
    except WireError:
        if len(data) - at < MAX_VARINT:
            return 0, 0
        size, start = MAX_MESSAGE + 1, at
    if size > MAX_MESSAGE:
        what = f"message {number:,} is longer than {MAX_MESSAGE:,} bytes"
        raise InputError(what, where=str(path), hint="the file is damaged, or no Chakra trace: write it again")
    return size, start


# --- writing ----------------------------------------------------------------------------------------------------------


def as_varint(value: int) -> bytes:
    """A number as varint; negative ones take ten bytes."""
    value &= 0xFFFF_FFFF_FFFF_FFFF
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number_field(number: int, value: int) -> bytes:
    """A varint field."""
    return as_varint(number << 3 | VARINT) + as_varint(value)


def bytes_field(number: int, value: bytes) -> bytes:
    """A field of bytes, text or an inner message."""
    return as_varint(number << 3 | BYTES) + as_varint(len(value)) + value


def packed_field(number: int, values: Iterable[int]) -> bytes:
    """A repeated number; nothing where there is none."""
    content = b"".join(map(as_varint, values))
    return bytes_field(number, content) if content else b""


def behind_length(message: bytes) -> bytes:
    """A message as it stands in a file of messages."""
    return as_varint(len(message)) + message
