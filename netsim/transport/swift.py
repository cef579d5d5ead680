"""Swift: a window that holds the round trip at a target, and that may be smaller than one packet.

Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the Datacenter", SIGCOMM 2020, algorithm 1
and section 3.5: the target grows with the switches on the way (topology scaling) and as a window gets small, because
then many flows share the queue (flow scaling). Hosts here take no time, so there is one window, for the fabric.
"""

import numpy as np

from netsim.kernel import inner, part
from netsim.transport.fixed_point import ONE

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
SETTINGS = np.dtype(
    [
        ("base_target", "i8"),  # ps; 0: "auto"
        ("hop_scale", "i8"),  # ps for each switch
        ("fs_range", "i8"),  # ps: flow scaling adds so much at most
        ("fs_alpha", "i8"),  # ps: fs_alpha / sqrt(window in packets) - fs_beta
        ("fs_beta", "i8"),
        ("ai", "i8"),  # packets a round trip; fractions have 16 digits
        ("beta", "i8"),
        ("max_mdf", "i8"),
        ("min_cwnd", "i8"),  # packets
        ("max_cwnd", "i8"),  # 0: "auto"
        ("retx_reset_threshold", "i8"),
    ]
)
BASE_PS = 20_000_000  # the least that base_target comes to under "auto": as in csg-htsim
MOST = 1 << 26  # the least that a window may come to under "auto": 1,024 packets
SCALED = 1 << 32  # a window of 2^16 packets: above it flow scaling adds nothing whatever the settings


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
def start(sender, idle_ps, settings):
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
def on_round_trip(sender, gained, rtt, now, settings):
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
def on_loss(sender, now, settings):
    cut(sender, settings.max_mdf, now, settings)


@part
def on_timeout(sender, now, settings):
    state = sender.swift
    state.timeouts += 1
    if state.timeouts >= settings.retx_reset_threshold:
        keep(sender, settings.min_cwnd, settings)
    else:
        cut(sender, settings.max_mdf, now, settings)


@part
def on_send(sender):
    """Below a window of one packet: the gap in ps to the next."""
    state = sender.swift
    return 0 if state.window >= ONE else state.rtt * ONE // state.window
