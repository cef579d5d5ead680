"""NSCC: the sender's congestion control of Ultra Ethernet, by ECN marks and queueing delay together.

Ultra Ethernet specification 1.0, section 3.6.13, with the parameters of uet-htsim (their origin is a network of
100 Gb/s with a round trip of 12 us, from which they scale by the bandwidth-delay product). An ACK without a mark widens
the window: in proportion to how far the delay is below the target, fast after a window's worth of nearly none, fairly
(all flows alike) above the target. A mark above the target narrows it once a round trip, by the average delay. Quick
adapt sets it to what arrived in the last round trip, when that is little and packets are trimmed or very late.

Two round trips matter. The network's (that of its longest path, one value for all) gives the target, the steps and
their period. The connection's own begins with it and falls to the shortest that it sees, of ACKs and of NACKs; it gives
the widest window and what quick adapt takes for little. Here a packet counts whole (there: by its bytes).
"""

from typing import Annotated

import numpy as np
from pydantic import Field

from netsim.kernel import inner, part
from netsim.transport.control_settings import Auto, ControlSettings, FixedPoint, Packets, Share, Whole
from netsim.transport.fixed_point import ONE, WIDEST
from netsim.transport.traits import Traits
from netsim.units import PS_BITS, Duration, parse_time

REFERENCE_RTT_PS = 12_000_000
REFERENCE_MBPS = 100_000
STATE = np.dtype(
    [
        ("most", "i8"),  # the widest window; windows are packets with 16 fractional bits
        ("base_rtt", "i8"),  # its own, ps
        ("network", "i8"),  # that of the network's longest path
        ("packet_ps", "i8"),  # a full packet at the NIC's rate
        ("increase", "i8"),  # gathered: packets times packets, 16 fractional bits
        ("average", "i8"),  # of the queueing delay, ps
        ("adapt_at", "i8"),  # end of the round trip that quick adapt looks at
        ("cut_at", "i8"),
        ("adjusted_at", "i8"),  # at first when the first packet was sent; -1 before that is known
        ("scale", "i4"),  # bandwidth times delay in units of the reference's, 16 fractional bits
        ("achieved", "i4"),  # packets acknowledged since quick adapt last looked
        ("received", "i4"),  # since the window was last adjusted
        ("ignored", "i4"),  # since quick adapt last acted
        ("to_ignore", "i4"),
        ("unhindered", "i4"),  # in a row with nearly no delay
        ("is_fast", "i4"),
        ("is_pressed", "i4"),  # a packet was trimmed: quick adapt should act
    ]
)
TRAITS = Traits(reacts_to_ecn=True, moves_window=True, unlimited=True)  # it has a limit of its own


class NsccSettings(ControlSettings):
    """Settings of NSCC, named and chosen as in uet-htsim; those in packets hold at 100 Gb/s and 12 us, and scale.

    base_rtt: of the whole network, from which target, steps and their period follow, and with which a connection's own
    begins; "auto" is the idle round trip of its longest path (uet-htsim's main_uec.cpp; UE 1.0 has it configured).
    target_qdelay: "auto" is one of these, as there without trimming (with it: 0.75). max_window: in what a NIC sends in
    the connection's own base RTT; with it a connection begins. qa_gate: quick adapt acts below max_window / 2^3.
    """

    base_rtt: Auto = "auto"
    target_qdelay: Auto = "auto"
    target_share: Annotated[float, Field(gt=0, le=100), FixedPoint()] = 1.0
    max_window: Annotated[float, Field(ge=1, le=100), FixedPoint()] = 1.5
    alpha: Packets = 4.0
    fi: Packets = 5.0
    eta: Packets = 0.15
    gamma: Share = 0.8
    max_md: Share = 0.5
    delay_alpha: Share = 0.0125
    fi_scale: Packets = 0.25
    fast_below: Duration = parse_time("1us")
    qa_threshold: Annotated[int, Field(ge=1, le=1000)] = 4  # targets
    qa_gate: Annotated[int, Field(ge=0, le=16)] = 3  # binary digits
    adjust_after: Whole = 8  # packets


@part
def start(sender, settings, line_bps, idle_ps, network_ps, wire_bytes):
    """The window begins at its widest, unless the user has it begin narrower."""
    state = sender.nscc
    state.network = network_ps
    state.packet_ps = max(1, PS_BITS * wire_bytes // line_bps)
    state.scale = (line_bps // 10**6) * network_ps // (REFERENCE_RTT_PS // 10) * ONE // (10 * REFERENCE_MBPS)
    state.adjusted_at = -1
    learn(state, network_ps, settings)
    sender.cwnd = min(sender.cwnd, state.most)


@part
def learn(state, base_ps, settings):
    state.base_rtt = base_ps
    state.most = max(ONE, min(((base_ps * ONE // state.packet_ps) * settings.max_window) >> 16, WIDEST))


@part
def has_seen(state, rtt, now, settings):
    """A round trip: the shortest is the base. The first tells when the first packet was sent."""
    if state.adjusted_at < 0:
        state.adjusted_at = now - rtt
    if rtt < state.base_rtt:
        learn(state, rtt, settings)


@part
def target_of(state, settings):
    return settings.target_qdelay if settings.target_qdelay else (state.network * settings.target_share) >> 16


@part
def keep(sender, window):
    sender.cwnd = max(ONE, min(window, sender.nscc.most))


@inner
def quick_adapt(sender, lost, marked, delay, outstanding, now, settings):
    """Returns whether this ACK has been dealt with: quick adapt has acted, or still waits for what was under way."""
    state = sender.nscc
    target, done = target_of(state, settings), False
    if marked and state.ignored < state.to_ignore:
        done = True
    elif now > state.adapt_at:
        late = lost or state.is_pressed > 0 or delay > settings.qa_threshold * target
        achieved = np.int64(state.achieved) * ONE
        if state.adapt_at > 0 and late and achieved < state.most >> settings.qa_gate:
            keep(sender, achieved)
            state.to_ignore = outstanding
            state.ignored = 0
            state.is_pressed = 0
            done = True
        state.achieved = 0
        state.adapt_at = now + state.base_rtt + target
    if done:
        state.increase = 0
        state.received = 0
    return done


@part
def increase_in_proportion(sender, gained, below, delay, settings):
    """`below`: how far the delay is below the target, ps."""
    state = sender.nscc
    scale = np.int64(state.scale)
    state.unhindered = state.unhindered + gained if delay < settings.fast_below else 0
    if delay < settings.fast_below and (state.is_fast or np.int64(state.unhindered) * ONE > sender.cwnd):
        state.is_fast = 1
        sender.cwnd += gained * ((settings.fi_scale * scale) >> 16)
    else:
        state.is_fast = 0
        state.increase += gained * ((settings.alpha * scale) >> 16) * below // REFERENCE_RTT_PS


@part
def decrease(sender, target, now, settings):
    state = sender.nscc
    state.is_fast = 0
    state.unhindered = 0
    if state.average > target and now - state.cut_at > state.base_rtt:
        share = min(settings.gamma * (state.average - target) // state.average, settings.max_md)
        state.cut_at = now
        keep(sender, sender.cwnd - ((sender.cwnd * share) >> 16))


@part
def adjust(sender, now, settings):
    """What was gathered takes effect, and once a round trip of the network a little more."""
    state = sender.nscc
    window = sender.cwnd + (state.increase << 16) // sender.cwnd
    if now - state.adjusted_at >= state.network:
        window += (settings.eta * np.int64(state.scale)) >> 16
        state.adjusted_at = now
    state.increase = 0
    state.received = 0
    keep(sender, window)


@part
def average_with(state, sample, settings):
    state.average += ((sample - state.average) * settings.delay_alpha) >> 16


@inner
def on_round_trip(sender, settings, gained, marked, rtt, outstanding, now):
    state = sender.nscc
    has_seen(state, rtt, now, settings)
    delay, target = rtt - state.base_rtt, target_of(state, settings)
    state.achieved += gained
    state.received += gained
    state.ignored += gained
    average_with(state, delay if marked or delay <= target else state.base_rtt // 4, settings)
    if quick_adapt(sender, False, marked, delay, outstanding, now, settings):
        return
    if marked:
        if delay >= target:
            decrease(sender, target, now, settings)
    elif delay >= target:
        state.increase += gained * ((settings.fi * np.int64(state.scale)) >> 16)
    else:
        increase_in_proportion(sender, gained, target - delay, delay, settings)
    keep(sender, sender.cwnd)
    if state.received > settings.adjust_after or now - state.adjusted_at > state.network:
        adjust(sender, now, settings)


@part
def on_nack(sender, settings, packets, rtt, outstanding, now):
    """Packets were trimmed: their queue was full. They are still among those outstanding."""
    state = sender.nscc
    has_seen(state, rtt, now, settings)
    state.ignored += packets
    state.is_pressed = 1
    average_with(state, state.network, settings)
    if not quick_adapt(sender, True, True, 0, outstanding, now, settings):
        keep(sender, sender.cwnd - packets * ONE)


@part
def on_loss(sender, settings, packets, now):
    keep(sender, sender.cwnd - packets * ONE)


@part
def on_timeout(sender, settings, outstanding, now):
    keep(sender, sender.cwnd - ONE)
