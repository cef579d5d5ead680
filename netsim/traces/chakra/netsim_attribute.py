"""What a native trace says of an operation and Chakra has no field for: one attribute `netsim` on its nodes.

It is JSON with keys of the native format; other programs pass over attributes that they do not know. Without it a file
is read as any other: the operations, bytes and dependencies stand in Chakra's own fields.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from netsim.traces.chakra.nodes import Attribute
from netsim.traces.fields import Fields, parse_object
from netsim.traces.graphs.graph import Part
from netsim.traces.limits import MAX_CELLS, MAX_CHANNEL, MAX_OPERATIONS
from netsim.traces.native_write import plain_keys
from netsim.traces.trace import Operation
from netsim.units import time_text

KEY = "netsim"
HELPER = json.dumps({"helper": 1})
KEYS = (
    *("op", "helper", "part", "begin", "channel", "group", "ranks", "bytes", "dtype", "root"),
    *("duration", "algorithm", "stream", "start", "recorded"),
)
AS_NATIVE = ("group", "dtype", "root", "algorithm", "stream", "start", "recorded")
MAX_TEXT = 1 << 22


@dataclass(frozen=True, slots=True)
class NetsimAttribute:
    """`number` is the operation's place in the native trace, `values` are fields of Operation."""

    number: int | None = None
    helper: bool = False
    part: Part | None = None
    group: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)

    def of(self, operation: Operation) -> Operation:
        """The operation with what is told of it."""
        return replace(operation, **self.values) if self.values else operation


NOTHING = NetsimAttribute()


def text(number: int, operation: Operation, part: Part | None = None, **more: Any) -> str:
    """What to write at the nodes of an operation, or of one flow of it."""
    if part:
        begin = time_text(part.start_ps) if part.start_ps else None
        more = {"part": part.number, "begin": begin, "channel": part.channel or None}
    native = plain_keys(operation)
    values = {"op": number, **{key: native[key] for key in AS_NATIVE}, **more}
    return json.dumps({key: value for key, value in values.items() if value not in (None, "")})


def recorded(attributes: Mapping[str, Attribute], where: str, ranks: int) -> NetsimAttribute:
    """Read what is told at a node; `ranks` is how many there are."""
    content = attributes.get(KEY)
    if not isinstance(content, str) or len(content) > MAX_TEXT:
        return NOTHING
    fields = Fields(parse_object(content, where), where)
    fields.only(KEYS, "the attribute netsim")
    if "helper" in fields:
        return NetsimAttribute(helper=True)
    values: dict[str, Any] = {}
    if "ranks" in fields:
        values["ranks"] = fields.ranks(fields.values["ranks"], '"ranks"', ranks)
    for key in ("dtype", "algorithm", "stream"):
        if key in fields:
            values[key] = fields.text(key, '"text"')
    if "root" in fields:
        values["root"] = fields.whole("root", "0", 0, ranks - 1)
    if "bytes" in fields:
        values["bytes"] = fields.size("bytes")
    for key, name in (("duration", "duration_ps"), ("start", "start_ps")):
        if key in fields:
            values[name] = fields.time(key)
    values |= _recorded(fields)
    number = fields.whole("op", "0", 0, MAX_OPERATIONS) if "op" in fields else None
    group = fields.text("group", '"tp"') if "group" in fields else ""
    return NetsimAttribute(number, part=_part(fields), group=group, values=values)


def _part(fields: Fields) -> Part | None:
    """Which flow of a matrix a send is."""
    if "part" not in fields:
        return None
    start = fields.time("begin") if "begin" in fields else 0
    channel = fields.whole("channel", "1", 0, MAX_CHANNEL) if "channel" in fields else 0
    return Part(fields.whole("part", "0", 0, MAX_CELLS), start, channel)


def _recorded(fields: Fields) -> dict[str, int]:
    """The times of a real run."""
    real = Fields(fields.values["recorded"] if isinstance(fields.values.get("recorded"), dict) else {}, fields.where)
    named = {"start": "recorded_start_ps", "duration": "recorded_duration_ps"}
    return {name: real.time(key) for key, name in named.items() if key in real}
