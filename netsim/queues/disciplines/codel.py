"""CoDel: marks, ever more often, once packets have waited longer than a target for an interval (RFC 8289)."""

import math

import numpy as np
from pydantic import Field

from netsim.kernel import part
from netsim.kernel.settings import KernelSettings
from netsim.units import Duration, parse_time

STATE = np.dtype([("above_since", "i8"), ("next_mark_at", "i8"), ("is_marking", "i8"), ("count", "i8"), ("last", "i8")])


class Codel(KernelSettings):
    """Settings of CoDel: interval is the longest usual round trip, target a twentieth of it (RFC 8289, 4.2 and 4.3)."""

    target: Duration = Field(default=parse_time("5us"), gt=0)
    interval: Duration = Field(default=parse_time("100us"), gt=0)


@part
def control_law(settings, at, count):
    return at + np.int64(settings.interval / math.sqrt(count))


@part
def is_above(settings, codel, waited, alone, now):
    """Whether packets have waited too long for a whole interval. alone: nothing waits behind this one."""
    if waited < settings.target or alone:
        codel.above_since = 0
        return False
    if codel.above_since == 0:
        codel.above_since = now
    return now - codel.above_since >= settings.interval


@part
def on_dequeue(settings, state, limits, backlog, wire_bytes, waited, sent, seed, row, now):
    codel = state.codel
    above = is_above(settings, codel, waited, backlog == wire_bytes, now)
    if codel.is_marking and above:
        if now < codel.next_mark_at:
            return False
        codel.count += 1
        codel.next_mark_at = control_law(settings, codel.next_mark_at, codel.count)
    elif above:
        again = codel.count - codel.last
        codel.count = again if again > 1 and now - codel.next_mark_at < 16 * settings.interval else 1
        codel.last, codel.next_mark_at = codel.count, control_law(settings, now, codel.count)
    codel.is_marking = above
    return above
