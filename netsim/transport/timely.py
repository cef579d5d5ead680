"""TIMELY: a rate that follows the gradient of the round-trip time.

Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015, algorithm 1, and hyperactive
increase (HAI) after five raises in a row. Between the thresholds that algorithm has no single fixed point: rates stay
as different as they are. Zhu et al., "ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY", CoNEXT 2016,
section 4.3, mend that: gradient and distance from T_low decide together (`patched`). As in the ns-3 model of HPCC's
authors there is one update a round trip, and raises below T_low count for HAI too; the round trip of the idle route
stands for minRTT.
"""

import numpy as np

from netsim.kernel import inner, part
from netsim.transport.fixed_point import ONE
from netsim.transport.rates import gap_at, scaled

REFERENCE_MBPS = 10_000  # the line for which the paper gives delta
STATE = np.dtype(
    [
        ("line", "i8"),  # bit/s
        ("rate", "i8"),
        ("idle", "i8"),  # round trip when nothing is in the way, ps
        ("rtt", "i8"),  # of the last update; 0 before the first
        ("drift", "i8"),  # moving average of its change, ps
        ("round_end", "i8"),
        ("raises", "i8"),  # in a row
    ]
)
SETTINGS = np.dtype(
    [
        ("alpha", "i8"),  # weight of the newest change; fractions have 16 digits
        ("beta", "i8"),
        ("beta_patched", "i8"),
        ("low", "i8"),  # T_low and T_high in ps, or
        ("high", "i8"),
        ("low_share", "i8"),  # where those are 0, in idle round trips
        ("high_share", "i8"),
        ("delta", "i8"),  # bit/s at a line of 10 Gb/s
        ("hai", "i8"),  # after `hai_after` raises in a row each is so many times delta
        ("hai_after", "i8"),
        ("least", "i8"),  # the lowest rate as a share of the line: 1 / least
        ("patched", "i8"),
    ]
)


@part
def start(sender, line_bps, idle_ps):
    state = sender.timely
    state.line = line_bps
    state.rate = line_bps
    state.idle = idle_ps


@part
def threshold(fixed, share, idle):
    return fixed if fixed else (idle * share) >> 16


@part
def raised(state, settings):
    """By how much the rate is raised this time."""
    times = settings.hai if state.raises >= settings.hai_after else 1
    state.raises += 1
    return scaled(settings.delta, state.line, REFERENCE_MBPS) * times


@inner
def update(state, rtt, settings):
    """The next rate, from a round trip and its gradient."""
    low = threshold(settings.low, settings.low_share, state.idle)
    high = threshold(settings.high, settings.high_share, state.idle)
    gradient = (state.drift << 16) // state.idle
    if rtt < low:
        return state.rate + raised(state, settings)
    if rtt > high:
        state.raises = 0
        return state.rate - ((state.rate * (settings.beta * (rtt - high) // rtt)) >> 16)
    if not settings.patched:
        if gradient <= 0:
            return state.rate + raised(state, settings)
        state.raises = 0
        return state.rate - ((state.rate * min((settings.beta * gradient) >> 16, ONE)) >> 16)
    weight = max(0, min(2 * gradient + ONE // 2, ONE))  # 0 below a gradient of -1/4, 1 above 1/4
    if weight == 0:
        return state.rate + raised(state, settings)
    state.raises = 0
    error = ((rtt - low) << 16) // low
    cut = min((settings.beta_patched * weight * error) >> 32, ONE)
    step = (scaled(settings.delta, state.line, REFERENCE_MBPS) * (ONE - weight)) >> 16
    return state.rate - ((state.rate * cut) >> 16) + step


@part
def on_round_trip(sender, gained, rtt, settings):
    state = sender.timely
    if gained == 0 or sender.acked < state.round_end:
        return
    state.round_end = sender.next
    if state.rtt > 0:
        state.drift += ((rtt - state.rtt - state.drift) * settings.alpha) >> 16
        state.rate = max(state.line // settings.least, min(update(state, rtt, settings), state.line))
    state.rtt = rtt


@part
def on_send(sender, wire_bytes):
    return gap_at(sender.timely.rate, sender.timely.line, wire_bytes)
