"""HPCC: every link of the route says how full it is; the window follows the fullest.

Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, algorithm 1. As the ns-3 model of its authors does,
it holds the rate R = W / T and derives the window from it, reacts to every ACK, and takes maxStage 0 (their results
page calls the paper's 5 a typo). T is the round trip of the idle route. What the links say: core/host/telemetry.py.

Long flows that have less than some 16 packets each of an idle round trip share unevenly (Jain's index 0.7 to 0.95), as
Algorithm 1 alone does: W_AI is weak against what a flow hears, which differs by whole packets.
"""

from typing import Annotated

import numpy as np
from pydantic import Field

from netsim.kernel import inner, part
from netsim.transport.control_settings import ControlSettings, FixedPoint, Least, Whole
from netsim.transport.fixed_point import LOAD_BITS, ONE
from netsim.transport.rates import gap_at, scaled
from netsim.transport.traits import Traits
from netsim.units import Rate, parse_rate

WIDEST = 1 << 40  # windows of 2^24 packets
REFERENCE_MBPS = 25_000  # the line for which W_AI is given
STATE = np.dtype(
    [
        ("line", "i8"),  # bit/s
        ("rate", "i8"),  # R
        ("settled", "i8"),  # the same once a round: Rc = Wc / T
        ("idle", "i8"),  # T, ps
        ("full", "i8"),  # the window at line rate, packets with 16 fractional bits
        ("most", "i8"),  # the widest window allowed
        ("load", "i8"),  # U
        ("round_end", "i8"),  # lastUpdateSeq
        ("stage", "i8"),  # incStage
    ]
)
TRAITS = Traits(reacts_to_ecn=False, moves_window=True, unlimited=False)


class HpccSettings(ControlSettings):
    """Settings of HPCC: eta and max_stage as in its authors' simulations; ai is W_AI / T at 25 Gb/s: it scales."""

    eta: Annotated[float, Field(gt=0, le=1), FixedPoint(LOAD_BITS)] = 0.95  # the load aimed at
    max_stage: Whole = 0
    ai: Rate = parse_rate("10Mb/s")
    least: Least = 1000


@part
def start(sender, settings, line_bps, idle_ps, network_ps, wire_bytes):
    state = sender.hpcc
    state.line = line_bps
    state.rate = line_bps
    state.settled = line_bps
    state.idle = idle_ps
    state.full = min((((line_bps // 10**6) * idle_ps // (8 * 10**6)) << 16) // wire_bytes, WIDEST)
    state.most = max(sender.cwnd, ONE)
    state.load = 1 << LOAD_BITS


@part
def base_rtt(sender, settings):
    return sender.hpcc.idle


@inner
def on_telemetry(sender, settings, gained, load, span):
    """Links have spoken: `load` is that of the fullest, over `span` ps (0: nothing is known of the time before)."""
    state = sender.hpcc
    if span == 0:
        if state.round_end == 0:
            state.round_end = sender.next
        return
    span = min(span, state.idle)
    state.load = (state.load * (state.idle - span) + load * span) // state.idle
    multiplies = state.load >= settings.eta or state.stage >= settings.max_stage
    rate = state.settled + scaled(settings.ai, state.line, REFERENCE_MBPS)
    if multiplies:
        rate += state.settled * settings.eta // max(state.load, 1) - state.settled
    state.rate = max(state.line // settings.least, min(rate, state.line))
    if gained > 0 and sender.acked > state.round_end:  # the first packet sent at the rate of this round is there
        state.settled = state.rate
        state.stage = 0 if multiplies else state.stage + 1
        state.round_end = sender.next
    window = state.full * (state.rate // 10**3) // (state.line // 10**3)
    sender.cwnd = max(ONE, min(window + ONE - 1, state.most))  # a packet goes if any part of it is in the window


@part
def on_send(sender, settings, wire_bytes, now):
    return gap_at(sender.hpcc.rate, sender.hpcc.line, wire_bytes)
