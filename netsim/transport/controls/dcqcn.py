"""DCQCN: a rate that congestion notifications cut and that timers and bytes sent raise again.

Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, section 3: the cut on a CNP (eq. 1),
the decay of alpha (eq. 2), fast recovery (eq. 3), additive increase (eq. 4) and hyper increase. NICs that are sold
keep the target through cuts in a row (`clamp_tgt_rate`); that they cut by half and once a monitor period at most
follows from alpha <= 1 and from the interval of CNPs. They look once a period whether a CNP came: here alpha rises with
the CNP and its period begins anew, as in the paper. Timers are caught up with when the sender sends or hears; a packet
that waits for its turn sees what they will raise, not a cut that comes meanwhile.
"""

from typing import Annotated

import numpy as np
from pydantic import Field, field_validator

from netsim.kernel import inner, part
from netsim.transport.control_settings import ControlSettings, Share
from netsim.transport.traits import Traits
from netsim.units import PS_BITS, Duration, Rate, Size, parse_rate, parse_time

ONE = 1 << 30  # alpha has 30 fractional bits
STATE = np.dtype(
    [
        ("line", "i8"),  # rates in bit/s: of its NIC, current, target
        ("rate", "i8"),
        ("goal", "i8"),
        ("alpha", "i8"),
        ("alpha_at", "i8"),  # when the timers expire next, ps
        ("raise_at", "i8"),
        ("sent_bytes", "i8"),  # since the byte counter last expired
        ("timers", "i4"),  # expirations of timer and byte counter since the last cut
        ("counters", "i4"),
        ("cut", "i8"),  # it has been cut and has not yet come back to line rate
    ]
)
REFERENCE_MBPS = 40_000  # the line for which the paper gives ai and hai
SHORTEST_TIMER_PS = 100_000  # a kernel catches up with each expiration
TRAITS = Traits(reacts_to_ecn=True, moves_window=False, unlimited=True)


class DcqcnSettings(ControlSettings):
    """Settings of DCQCN, named as in the paper; the defaults are those of NICs that are sold (ConnectX-4 and later).

    They are what `mlxconfig query` lists and NVIDIA documents ("DCQCN CC Parameters", DOCA 3.4): DCE_TCP_G 1019, so
    that g = (1024 - 1019) / 1024; DCE_TCP_RTT 1 us (alpha_timer); RPG_TIME_RESET 300 us (increase_timer);
    RPG_BYTE_RESET 32767, of 64 bytes (byte_counter); RPG_THRESHOLD 1 (fast_recovery); RPG_MIN_RATE 1 Mb/s;
    CLAMP_TGT_RATE false; MIN_TIME_BETWEEN_CNPS 4 us (cnp_interval; RATE_REDUCE_MONITOR_PERIOD is 4 us too).
    RPG_AI_RATE 5 Mb/s and RPG_HAI_RATE 50 Mb/s are taken for 25 Gb/s and scale with the rate, as in the simulations of
    HPCC (SIGCOMM 2019); ai and hai are at 40 Gb/s, as the paper's. PAPER_2015 in presets.py holds the paper's values.
    """

    g: Share = 5 / 1024
    alpha_timer: Duration = parse_time("1us")
    increase_timer: Duration = parse_time("300us")
    byte_counter: Annotated[Size, Field(gt=0)] = 32_767 * 64
    fast_recovery: Annotated[int, Field(ge=1)] = 1
    ai: Rate = parse_rate("8Mb/s")
    hai: Rate = parse_rate("80Mb/s")
    min_rate: Rate = parse_rate("1Mb/s")
    clamp_tgt_rate: bool = False  # every cut sets the target; otherwise only one after an increase does
    cnp_interval: Annotated[Duration, Field(gt=0)] = parse_time("4us")  # a receiver notifies at most once in so long

    @field_validator("alpha_timer", "increase_timer")
    @classmethod
    def _long_enough(cls, timer: int) -> int:
        if timer < SHORTEST_TIMER_PS:
            raise ValueError("shorter than 100ns; give at least 100ns")
        return timer


@part
def start(sender, settings, line_bps, idle_ps, network_ps, wire_bytes):
    state = sender.dcqcn
    state.line = line_bps
    state.rate = line_bps
    state.goal = line_bps
    state.alpha = ONE


@part
def raised(line, goal, rate, timers, counters, settings):
    """Target and rate after an expiration of timer or byte counter.

    Fast recovery halves the way to the target; later the target moves on, faster when timer and bytes agree.
    """
    if max(timers, counters) >= settings.fast_recovery:
        step = settings.ai
        if min(timers, counters) > settings.fast_recovery:
            step = settings.hai
        goal = min(line, goal + step * (line // 10**6) // REFERENCE_MBPS)
    return goal, min(line, (goal + rate + 1) // 2)


@part
def raise_rate(state, settings):
    state.goal, state.rate = raised(state.line, state.goal, state.rate, state.timers, state.counters, settings)
    if state.rate == state.line and state.goal == state.line:
        state.cut = 0


@inner
def catch_up(state, now, settings):
    """Let the timers that have expired by now do what they do."""
    while state.cut and min(state.alpha_at, state.raise_at) <= now:
        if state.alpha_at <= state.raise_at:
            state.alpha -= (state.alpha * settings.g) >> 16
            state.alpha_at += settings.alpha_timer
        else:
            state.timers += np.int32(1)
            state.raise_at += settings.increase_timer
            raise_rate(state, settings)


@inner
def on_notification(sender, settings, now):
    """A CNP: the rate is the new target (see `clamp_tgt_rate`), and is cut by half of alpha."""
    state = sender.dcqcn
    catch_up(state, now, settings)
    if settings.clamp_tgt_rate or max(state.timers, state.counters) > 0:
        state.goal = state.rate
    cut = (state.rate * (state.alpha >> 10)) >> 21
    state.rate = max(settings.min_rate, state.rate - cut)
    state.alpha += ((ONE - state.alpha) * settings.g) >> 16
    state.timers, state.counters, state.sent_bytes = 0, 0, 0
    state.alpha_at = now + settings.alpha_timer
    state.raise_at = now + settings.increase_timer
    state.cut = 1


@part
def on_send(sender, settings, wire_bytes, now):
    """The gap in ps from the start of this packet to that of the next."""
    state = sender.dcqcn
    catch_up(state, now, settings)
    if state.cut:
        state.sent_bytes += wire_bytes
        while state.sent_bytes >= settings.byte_counter:
            state.sent_bytes -= settings.byte_counter
            state.counters += np.int32(1)
            raise_rate(state, settings)
    if state.rate >= state.line:
        return 0
    return gap(state, wire_bytes, now, settings)


@inner
def gap(state, wire_bytes, now, settings):
    """Picoseconds until these bytes have passed at the rate, which the timer raises meanwhile if no CNP comes."""
    left, at, raise_at = wire_bytes * PS_BITS, now, state.raise_at  # bits times ps in a second
    goal, rate, timers = state.goal, state.rate, np.int64(state.timers)
    while at + (left + rate - 1) // rate > raise_at and rate < state.line:
        left -= rate * (raise_at - at)
        at = raise_at
        raise_at += settings.increase_timer
        timers += 1
        goal, rate = raised(state.line, goal, rate, timers, np.int64(state.counters), settings)
    return at - now + (left + rate - 1) // rate
