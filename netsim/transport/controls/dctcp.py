"""DCTCP: cut the window by half the moving average of the marked fraction, once a round.

Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010: alpha <- (1 - g) alpha + g F (eq. 1) and
cwnd <- cwnd (1 - alpha / 2) (eq. 2).
"""

import numpy as np

from netsim.kernel import part
from netsim.transport.control_settings import ControlSettings, Share
from netsim.transport.fixed_point import ONE, WIDEST
from netsim.transport.traits import Traits

STATE = np.dtype([("alpha", "i8"), ("round_end", "i8"), ("acks", "i8"), ("marks", "i8")])
TRAITS = Traits(reacts_to_ecn=True, moves_window=True, unlimited=False)


class DctcpSettings(ControlSettings):
    """Settings of DCTCP. gain: weight g of the newest marked fraction; 1/16 as in the paper, section 4."""

    gain: Share = 1 / 16


@part
def on_ack(sender, settings, advanced, marked, now):
    state = sender.dctcp
    state.acks += 1
    if marked:
        state.marks += 1
    if advanced and sender.acked >= state.round_end:
        state.alpha += ((state.marks * ONE // state.acks - state.alpha) * settings.gain) >> 16
        if state.marks > 0:
            window = sender.cwnd - ((sender.cwnd * state.alpha) >> 17)
        else:
            window = sender.cwnd + ONE
        sender.cwnd = max(ONE, min(window, WIDEST))
        state.acks = 0
        state.marks = 0
        state.round_end = sender.next


@part
def on_nack(sender, settings, packets, rtt, outstanding, now):
    """So many packets were trimmed: they leave the window for good, as under uet-htsim's DCTCP (the paper has none)."""
    sender.cwnd = max(ONE, sender.cwnd - packets * ONE)


@part
def on_timeout(sender, settings, outstanding, now):
    sender.cwnd = max(ONE, sender.cwnd >> 1)
    sender.dctcp.round_end = sender.acked
