"""TIMELY: a rate that follows the gradient of the round-trip time.

Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015, algorithm 1, and hyperactive
increase (HAI) after five raises in a row. Between the thresholds that algorithm has no single fixed point: rates stay
as different as they are. Zhu et al., "ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY", CoNEXT 2016,
section 4.3, mend that: gradient and distance from T_low decide together (`patched`). As in the ns-3 model of HPCC's
authors there is one update a round trip, and raises below T_low count for HAI too; the round trip of the idle route
stands for minRTT.
"""

from typing import Annotated, Self

import numpy as np
from pydantic import Field, model_validator

from netsim.kernel import inner, part
from netsim.transport.control_settings import Auto, ControlSettings, Least, Share, Whole
from netsim.transport.fixed_point import ONE
from netsim.transport.rates import gap_at, scaled
from netsim.transport.traits import Traits
from netsim.units import Rate, parse_rate

REFERENCE_MBPS = 10_000  # the line for which the paper gives delta
LOW, HIGH = 5 * ONE // 2, 25 * ONE  # T_low and T_high under "auto", in idle round trips
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
TRAITS = Traits(reacts_to_ecn=False, moves_window=False, unlimited=True)


class TimelySettings(ControlSettings):
    """Settings of TIMELY. Shares, delta (at 10 Gb/s: it scales) and HAI from the paper, section 5 and algorithm 1.

    Its thresholds, 50 us and 500 us over a round trip of 20 us, scale with the idle round trip: "auto" is 2.5 and 25 of
    them. After `hai_after` raises in a row each is `hai` times delta. patched: the rule of CoNEXT 2016 between the
    thresholds, with its beta; false: the one of 2015.
    """

    alpha: Share = 0.875  # weight of the newest change
    beta: Share = 0.8
    beta_patched: Share = 0.008
    t_low: Auto = "auto"
    t_high: Auto = "auto"
    delta: Rate = parse_rate("10Mb/s")
    hai: Annotated[int, Field(ge=1, le=10**6)] = 5
    hai_after: Whole = 5
    least: Least = 1000
    patched: bool = True

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if isinstance(self.t_low, int) and isinstance(self.t_high, int) and self.t_low >= self.t_high:
            raise ValueError("timely.t_low is not below t_high; the rate is raised below t_low and cut above t_high")
        return self


@part
def start(sender, settings, line_bps, idle_ps, network_ps, wire_bytes):
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
    low = threshold(settings.t_low, LOW, state.idle)
    high = threshold(settings.t_high, HIGH, state.idle)
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
def on_round_trip(sender, settings, gained, marked, rtt, outstanding, now):
    state = sender.timely
    if gained == 0 or sender.acked < state.round_end:
        return
    state.round_end = sender.next
    if state.rtt > 0:
        state.drift += ((rtt - state.rtt - state.drift) * settings.alpha) >> 16
        state.rate = max(state.line // settings.least, min(update(state, rtt, settings), state.line))
    state.rtt = rtt


@part
def on_send(sender, settings, wire_bytes, now):
    return gap_at(sender.timely.rate, sender.timely.line, wire_bytes)
