"""Chakra's nodes: the messages of mlcommons/chakra's `schema/protobuf/et_def.proto`, read and written."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from netsim.traces.chakra import wire

METADATA, MEM_LOAD, MEM_STORE, COMP, COMM_SEND, COMM_RECV, COMM_COLL = range(1, 8)
VERSION = "0.0.4"
COLLECTIVES = {  # CollectiveCommType
    0: "all_reduce",
    1: "reduce",
    2: "all_gather",
    3: "gather",
    4: "scatter",
    5: "broadcast",
    6: "all_to_all",
    7: "reduce_scatter",
    8: "reduce_scatter",
    9: "barrier",
}

_ID, _NAME, _TYPE, _CTRL_DEPS, _DATA_DEPS, _START, _DURATION, _ATTR = 1, 2, 3, 4, 5, 6, 7, 10
_NUMBERS = {_ID: "id", _TYPE: "type", _START: "start_micros", _DURATION: "duration_micros"}
_SIGNED, _PLAIN = (7, 9, 17, 19), (11, 13, 27)  # AttributeProto's numbers for int32, int64, sint; uint32, uint64, bool
_FLOATS, _FIXED = (3, 5), (15, 16, 21, 23, 25)
_BOOL_LIST, _STRING, _INT64, _INT32, _BOOL = 28, 29, 9, 7, 27
_ZIGZAG = (17, 19)

USED = ("is_cpu_op", "comm_type", "comm_size", "pg_name", "involved_dim", "comm_src", "comm_dst", "comm_tag", "netsim")
# Most attributes of a converted trace are of no use here: those that begin with another name are not looked into.
_IDLE = re.compile(b"\n(?!%s)[\x01-\x7f]" % b"|".join(re.escape(bytes([len(name)]) + name.encode()) for name in USED))

Attribute = bool | int | float | str | tuple[bool, ...]


@dataclass(slots=True)
class ChakraNode:
    """A node as written: times in microseconds, `attributes` by name."""

    id: int = 0
    name: str = ""
    type: int = 0
    data_deps: list[int] = field(default_factory=list)
    ctrl_deps: list[int] = field(default_factory=list)
    start_micros: int = 0
    duration_micros: int = 0
    attributes: dict[str, Attribute] = field(default_factory=dict)

    def whole(self, name: str, default: int) -> int:
        """An attribute that is a whole number."""
        value = self.attributes.get(name, default)
        return int(value) if isinstance(value, int | float) and value == value // 1 else default


def metadata(message: bytes) -> dict[str, Attribute]:
    """The attributes of a file's first message; WireError if it is none of today's schema."""
    found: dict[str, Attribute] = {}
    for number, kind, value in wire.fields(message):
        if number not in (1, 2) or kind != wire.BYTES or not isinstance(value, bytes):
            raise wire.WireError("it is no GlobalMetadata")
        if number == 2:
            name, content = _attribute(value)
            found[name] = content
    return found


def node(message: bytes) -> ChakraNode:
    """Read a node; what netsim does not use is passed over. WireError if it is none."""
    made = ChakraNode()
    for number, kind, value in wire.fields(message):
        if number in (_CTRL_DEPS, _DATA_DEPS) and kind in (wire.VARINT, wire.BYTES):
            (made.ctrl_deps if number == _CTRL_DEPS else made.data_deps).extend(wire.packed(value))
        elif isinstance(value, int):
            if number in _NUMBERS:
                setattr(made, _NUMBERS[number], value)
        elif number == _NAME and kind == wire.BYTES:
            made.name = value.decode("utf-8", errors="replace")
        elif number == _ATTR and kind == wire.BYTES and not _IDLE.match(value):
            name, content = _attribute(value)
            made.attributes[name] = content
    return made


def _attribute(message: bytes) -> tuple[str, Attribute]:
    """Read name and value; a value of zero may be left out by the writer."""
    name, content = "", None
    for number, kind, value in wire.fields(message):
        if number == 1 and isinstance(value, bytes):
            name = value.decode("utf-8", errors="replace")
        elif number > 2:
            content = _content(number, kind, value, content)
    return name, 0 if content is None else content


def _content(number: int, kind: int, value: wire.Value, before: Attribute | None) -> Attribute | None:
    if isinstance(value, int):
        if number in _ZIGZAG:
            return (value >> 1) ^ -(value & 1)
        if number in _SIGNED:
            return wire.signed(value)
        return bool(value) if number == _BOOL else value if number in _PLAIN else before
    if number == _STRING and kind == wire.BYTES:
        return value.decode("utf-8", errors="replace")
    if number == _BOOL_LIST and kind == wire.BYTES:
        inner = next((each for at, _, each in wire.fields(value) if at == 1), b"")
        return tuple(map(bool, wire.packed(inner)))
    if number in _FLOATS and len(value) in (4, 8):
        return wire.double(value)
    if number in _FIXED and kind != wire.BYTES:
        return int.from_bytes(value, "little", signed=number in (23, 25))
    return before


# --- writing ----------------------------------------------------------------------------------------------------------


def metadata_message(attributes: Mapping[str, Attribute]) -> bytes:
    """The first message of a file."""
    return wire.bytes_field(1, VERSION.encode()) + b"".join(
        wire.bytes_field(2, each) for each in _attributes(attributes)
    )


def node_message(made: ChakraNode) -> bytes:
    """A node as a message; zeros are left out as protobuf does."""
    numbers = [(_START, made.start_micros), (_DURATION, made.duration_micros)]
    return b"".join(
        [
            wire.number_field(_ID, made.id) if made.id else b"",
            wire.bytes_field(_NAME, made.name.encode()),
            wire.number_field(_TYPE, made.type),
            wire.packed_field(_DATA_DEPS, made.data_deps),
            *(wire.number_field(number, value) for number, value in numbers if value),
            *(wire.bytes_field(_ATTR, each) for each in _attributes(made.attributes)),
        ]
    )


def _attributes(attributes: Mapping[str, Attribute]) -> Iterator[bytes]:
    for name, value in attributes.items():
        yield wire.bytes_field(1, name.encode()) + _written(name, value)


def _written(name: str, value: Attribute) -> bytes:
    """A value under the type that ASTRA-sim looks for: ranks and tags are int32, sizes and kinds int64."""
    if isinstance(value, bool):
        return wire.number_field(_BOOL, value)
    if isinstance(value, int):
        return wire.number_field(_INT32 if name in ("comm_src", "comm_dst", "comm_tag") else _INT64, value)
    assert isinstance(value, str)
    return wire.bytes_field(_STRING, value.encode())
