"""Trim: a packet for which a switch has no room is cut to its header.

Handley et al., "Re-architecting datacenter networks and stacks for low latency and high performance", SIGCOMM 2017,
section 3.1: the header goes into the control class, ahead of data, so that the receiver soon knows what is missing.
"""

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, PlainSerializer

from netsim.errors import InputError
from netsim.kernel import part
from netsim.kernel.rng import thirty_bits
from netsim.kernel.settings import FixedPoint, KernelSettings
from netsim.queues.verdicts import TRIM, TRIM_LAST

COINS = 1 << 41  # added to the number of a row: its coins, its marks and its losses are drawn apart


class Trim(KernelSettings):
    """Settings of switches that trim: the defaults are those of NDP and uet-htsim (compositequeue.cpp).

    last: chance that a full queue cuts the last packet in it and takes the arriving one in its place (a fair coin: NDP,
    SIGCOMM 2017, section 3.1); 0 cuts the arriving one always, as switches do that trim where admission fails (SAI).
    marking: ECN looks at the queue when a packet leaves it ("dequeue") or when one comes ("enqueue").
    """

    last: Annotated[float, Field(ge=0.0, le=1.0), FixedPoint(30)] = 0.5
    marking: Literal["dequeue", "enqueue"] = "dequeue"

    @classmethod
    def names(cls) -> list[str]:
        """Kernels find `marking` in the rows of links."""
        return ["last"]


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


@part
def on_full(settings, state, last_bytes, wire_bytes, seed, row, trims):
    """A coin decides which packet is cut: without it senders that keep step lose always or never (ibid.).

    A packet that is smaller than the one that comes is not cut in its favour.
    """
    if last_bytes >= wire_bytes and thirty_bits(seed, np.int64(row) + COINS, trims) < settings.last:
        return TRIM_LAST
    return TRIM
