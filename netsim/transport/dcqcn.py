"""DCQCN: a rate that congestion notifications cut and that timers and bytes sent raise again.

Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, section 3: the cut on a CNP (eq. 1),
the decay of alpha (eq. 2), fast recovery (eq. 3), additive increase (eq. 4) and hyper increase. NICs that are sold
keep the target through cuts in a row (`clamp`); that they cut by half at most and once a monitor period at most
follows from alpha <= 1 and from the interval of CNPs. They look once a period whether a CNP came: here alpha rises with
the CNP and its period begins anew, as in the paper. Timers are caught up with when the sender sends or hears; a packet
that waits for its turn sees what they will raise, not a cut that comes meanwhile.
"""

import numpy as np

from netsim.kernel import inner, part
from netsim.units import PS_BITS

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
SETTINGS = np.dtype(
    [
        ("gain", "i8"),  # g, 16 fractional bits
        ("alpha_timer", "i8"),  # ps
        ("increase_timer", "i8"),
        ("byte_counter", "i8"),
        ("fast_recovery", "i8"),  # F, expirations
        ("additive", "i8"),  # bit/s at a line of 40 Gb/s, for which the paper gives them
        ("hyper", "i8"),
        ("min_rate", "i8"),  # bit/s
        ("clamp", "i8"),  # every cut sets the target; otherwise only one after an increase does (NVIDIA clamp_tgt_rate)
        ("cnp_interval", "i8"),  # ps: a receiver notifies a sender at most once in so long
    ]
)
REFERENCE_MBPS = 40_000


@part
def start(sender, line_bps):
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
        step = settings.additive
        if min(timers, counters) > settings.fast_recovery:
            step = settings.hyper
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
            state.alpha -= (state.alpha * settings.gain) >> 16
            state.alpha_at += settings.alpha_timer
        else:
            state.timers += np.int32(1)
            state.raise_at += settings.increase_timer
            raise_rate(state, settings)


@inner
def on_notification(sender, now, settings):
    """A CNP: the rate is the new target (see `clamp`), and is cut by half of alpha."""
    state = sender.dcqcn
    catch_up(state, now, settings)
    if settings.clamp or max(state.timers, state.counters) > 0:
        state.goal = state.rate
    cut = (state.rate * (state.alpha >> 10)) >> 21
    state.rate = max(settings.min_rate, state.rate - cut)
    state.alpha += ((ONE - state.alpha) * settings.gain) >> 16
    state.timers, state.counters, state.sent_bytes = 0, 0, 0
    state.alpha_at = now + settings.alpha_timer
    state.raise_at = now + settings.increase_timer
    state.cut = 1


@part
def on_send(sender, wire_bytes, now, settings):
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
