"""Trim: how switches cut packets for which they have no room to their headers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer

from netsim.errors import InputError


class Trim(BaseModel):
    """Settings of switches that trim: the defaults are those of NDP and uet-htsim (compositequeue.cpp).

    last: chance that a full queue cuts the last packet in it and takes the arriving one in its place (a fair coin: NDP,
    SIGCOMM 2017, section 3.1); 0 cuts the arriving one always, as switches do that trim where admission fails (SAI).
    marking: ECN looks at the queue when a packet leaves it ("dequeue") or when one comes ("enqueue").
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    last: Annotated[float, Field(ge=0.0, le=1.0)] = 0.5
    marking: Literal["dequeue", "enqueue"] = "dequeue"


def _off(value: Any) -> Any:
    """Let `trim = false` (also None and "off") mean switches that drop, and `trim = true` the defaults."""
    word = str(value).lower()
    if word in ("none", "false", "off"):
        return None
    if word in ("true", "on"):
        return Trim()
    if isinstance(value, Trim | dict):
        return value
    raise InputError(f"{value!r} is no way to trim", hint="write true, false, or a table { last = 0.5 }")


def _written(value: Trim | None, info: Any) -> Any:
    return value is not None if value in (None, Trim()) else value.model_dump(mode=info.mode)


Trimming = Annotated[Trim | None, BeforeValidator(_off), PlainSerializer(_written)]
