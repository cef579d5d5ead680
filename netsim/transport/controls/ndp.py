"""NDP: a first window at line rate, then one packet for every pull that the receiver sends (receiver-driven).

Handley et al., "Re-architecting datacenter networks and stacks for low latency and high performance", SIGCOMM 2017,
section 3.2. The window counts what is under way and what may be sent besides. A packet that has been answered leaves
it; a pull widens it, never beyond the first window. So does a credit: the ACK of a packet for which the receiver need
not pull, as it misses no more of the message than is on its way, lets the connection's next message begin.
"""

import numpy as np

from netsim.kernel import part
from netsim.transport.control_settings import ControlSettings, Share
from netsim.transport.fixed_point import ONE
from netsim.transport.traits import Traits

STATE = np.dtype([("first", "i8"), ("pulls", "i8")])  # the first window, packets in fixed point; pulls heard of
TRAITS = Traits(reacts_to_ecn=False, moves_window=True, unlimited=False)


class NdpSettings(ControlSettings):
    """Settings of NDP. share: of the line rate, at which pulls are paced (0.99, as htsim's NDP does)."""

    share: Share = 0.99


@part
def start(sender, settings, line_bps, idle_ps, network_ps, wire_bytes):
    """A new connection: the window it is given is its first."""
    sender.ndp.first = sender.cwnd


@part
def first_window(sender, settings):
    return sender.ndp.first >> 16


@part
def on_backlog(sender, settings):
    """A message finds nothing waiting to be sent: it begins with what is left of a first window."""
    sender.cwnd = sender.ndp.first


@part
def on_drained(sender, settings, outstanding):
    """Everything has been sent: the rest of the window is void."""
    sender.cwnd = outstanding * ONE


@part
def on_answer(sender, settings, packets, credited):
    sender.cwnd = max(0, sender.cwnd - packets * ONE)
    if credited:
        sender.cwnd += ONE


@part
def on_pull(sender, settings, pulls, wants):
    """A pull is void if there is nothing to send."""
    state = sender.ndp
    if wants and pulls > state.pulls:
        sender.cwnd = min(state.first, sender.cwnd + (pulls - state.pulls) * ONE)
    state.pulls = max(state.pulls, pulls)


@part
def on_timeout(sender, settings, outstanding, now):
    """What was under way is lost, a first window of it may be sent; a pull that is lost is worth one."""
    if outstanding == 0:
        sender.cwnd = ONE
    else:
        sender.cwnd = sender.ndp.first


@part
def pull_gap(sender, settings, packet_ps):
    return -(-(packet_ps << 16) // settings.share)
