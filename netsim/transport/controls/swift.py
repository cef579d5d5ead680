"""Swift: a window that holds the round trip at a target, and that may be smaller than one packet.

Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the Datacenter", SIGCOMM 2020, algorithm 1
and section 3.5: the target grows with the switches on the way (topology scaling) and as a window gets small, because
then many flows share the queue (flow scaling). Hosts here take no time, so there is one window, for the fabric.
"""

from math import sqrt
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from netsim.kernel import inner, part
from netsim.transport.control_settings import Auto, ControlSettings, FixedPoint, Packets, Share, derived
from netsim.transport.fixed_point import ONE
from netsim.transport.traits import Traits
from netsim.units import Duration, parse_time

STATE = np.dtype(
    [
        ("window", "i8"),  # packets, 16 fractional bits; below one packet it sets the pace
        ("rtt", "i8"),  # the last one, ps
        ("cut_at", "i8"),
        ("timeouts", "i8"),  # in a row
        ("base_ps", "i8"),  # ps: what a round trip may take without switches and queues
        ("most", "i8"),  # the widest window
    ]
)
TRAITS = Traits(reacts_to_ecn=False, moves_window=True, unlimited=False)
BASE_PS = 20_000_000  # the least that base_target comes to under "auto": as in csg-htsim
MOST = 1 << 26  # the least that a window may come to under "auto": 1,024 packets
SCALED = 1 << 32  # a window of 2^16 packets: above it flow scaling adds nothing whatever the settings


class SwiftSettings(ControlSettings):
    """Settings of Swift, named as in the paper; it gives no numbers for most: these are those of csg-htsim.

    base_target must hold the idle round trip: "auto" is that, and at least 20 us; hop_scale counts the switches on the
    way. max_cwnd: "auto" is twice the first window, and at least 1,024 packets.
    """

    base_target: Auto = "auto"
    hop_scale: Duration = parse_time("3.053us")  # 20 us / 6.55
    fs_range: Duration = parse_time("100us")
    fs_min_cwnd: Packets = 0.1
    fs_max_cwnd: Packets = 100
    ai: Packets = 1
    beta: Share = 0.8
    max_mdf: Share = 0.5
    min_cwnd: Annotated[float, Field(ge=0.0001, le=1), FixedPoint()] = 0.001
    max_cwnd: Annotated[Annotated[float, Field(ge=1, le=1 << 20)] | Literal["auto"], FixedPoint()] = "auto"
    retx_reset_threshold: Annotated[int, Field(ge=1)] = 5

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.fs_min_cwnd >= self.fs_max_cwnd:
            raise ValueError("swift.fs_min_cwnd is not below fs_max_cwnd; flow scaling needs a range of windows")
        return self

    @derived
    def fs_alpha(self) -> int:
        """Flow scaling adds fs_alpha / sqrt(window in packets) - fs_beta, ps."""
        return round(self._fs_alpha)

    @derived
    def fs_beta(self) -> int:
        """It adds nothing from fs_max_cwnd on."""
        return round(self._fs_alpha / sqrt(self.fs_max_cwnd))

    @property
    def _fs_alpha(self) -> float:
        return self.fs_range / (1 / sqrt(self.fs_min_cwnd) - 1 / sqrt(self.fs_max_cwnd))


@inner
def root(number):
    """The whole part of a square root (Newton), for 0 < number < 2^62."""
    guess = number
    better = (guess + 1) // 2
    while better < guess:
        guess = better
        better = (guess + number // guess) // 2
    return guess


@inner
def target_delay(base, window, switches, settings):
    """What a round trip may take, ps."""
    scaling = (settings.fs_alpha << 16) // root(min(window, SCALED - 1) << 16) - settings.fs_beta
    scaling = max(0, min(scaling, settings.fs_range))
    return base + switches * settings.hop_scale + scaling


@part
def start(sender, settings, line_bps, idle_ps, network_ps, wire_bytes):
    state = sender.swift
    state.base_ps = settings.base_target if settings.base_target > 0 else max(BASE_PS, idle_ps)
    state.most = settings.max_cwnd if settings.max_cwnd > 0 else max(MOST, 2 * sender.cwnd)
    state.window = sender.cwnd
    state.rtt = idle_ps
    state.cut_at = -idle_ps


@part
def keep(sender, window, settings):
    """The new window, within its limits. One packet may always be on the way: below that the pace counts."""
    sender.swift.window = max(settings.min_cwnd, min(window, sender.swift.most))
    sender.cwnd = max(ONE, sender.swift.window)


@part
def cut(sender, share, now, settings):
    """Take a share off the window, once a round trip."""
    state = sender.swift
    if now - state.cut_at >= state.rtt:
        state.cut_at = now
        keep(sender, state.window - ((state.window * share) >> 16), settings)


@inner
def on_round_trip(sender, settings, gained, marked, rtt, outstanding, now):
    state = sender.swift
    state.rtt = rtt
    if gained > 0:
        state.timeouts = 0
    target = target_delay(state.base_ps, state.window, np.int64(sender.length) - 1, settings)
    if rtt >= target:
        cut(sender, min(settings.beta * (rtt - target) // rtt, settings.max_mdf), now, settings)
    elif state.window >= ONE:
        keep(sender, state.window + (settings.ai * gained << 16) // state.window, settings)
    else:
        keep(sender, state.window + settings.ai * gained, settings)


@part
def on_nack(sender, settings, packets, rtt, outstanding, now):
    cut(sender, settings.max_mdf, now, settings)


@part
def on_loss(sender, settings, packets, now):
    cut(sender, settings.max_mdf, now, settings)


@part
def on_timeout(sender, settings, outstanding, now):
    state = sender.swift
    state.timeouts += 1
    if state.timeouts >= settings.retx_reset_threshold:
        keep(sender, settings.min_cwnd, settings)
    else:
        cut(sender, settings.max_mdf, now, settings)


@part
def on_send(sender, settings, wire_bytes, now):
    """Below a window of one packet: the gap in ps to the next."""
    state = sender.swift
    return 0 if state.window >= ONE else state.rtt * ONE // state.window
