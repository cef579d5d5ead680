"""NDP: a first window at line rate, then one packet for every pull that the receiver sends (receiver-driven).

Handley et al., "Re-architecting datacenter networks and stacks for low latency and high performance", SIGCOMM 2017,
section 3.2. The window counts what is under way and what may be sent besides. A packet that has been answered leaves
it; a pull widens it, never beyond the first window. So does a credit: the ACK of a packet for which the receiver need
not pull, as it misses no more of the message than is on its way, lets the connection's next message begin.
"""

import numpy as np

from netsim.kernel import part
from netsim.transport.fixed_point import ONE

STATE = np.dtype([("first", "i8"), ("pulls", "i8")])  # the first window, packets in fixed point; pulls heard of
SETTINGS = np.dtype([("share", "i8")])  # of the line rate at which pulls are paced, 16 fractional bits


@part
def start(sender):
    """A new connection: the window it is given is its first."""
    sender.ndp.first = sender.cwnd


@part
def first_window(connection):
    """In packets."""
    return connection.ndp.first >> 16


@part
def begin(sender):
    """A message finds nothing waiting to be sent: it begins with what is left of a first window."""
    sender.cwnd = sender.ndp.first


@part
def has_no_more(sender, under_way):
    """Everything has been sent: the rest of the window is void."""
    sender.cwnd = under_way * ONE


@part
def on_answer(sender, packets, credited):
    """So many packets under way have been answered."""
    sender.cwnd = max(0, sender.cwnd - packets * ONE)
    if credited:
        sender.cwnd += ONE


@part
def on_pull(sender, pulls, wants):
    """The receiver has pulled so often in all; a pull is void if there is nothing to send."""
    state = sender.ndp
    if wants and pulls > state.pulls:
        sender.cwnd = min(state.first, sender.cwnd + (pulls - state.pulls) * ONE)
    state.pulls = max(state.pulls, pulls)


@part
def on_silence(sender, waited_for_pull):
    """A time-out: what was under way is lost, a first window of it may be sent; a pull that is lost is worth one."""
    if waited_for_pull:
        sender.cwnd = ONE
    else:
        sender.cwnd = sender.ndp.first


@part
def pace(time, settings):
    """From one pull to the next, when the pulled packet takes `time` ps on the line."""
    return -(-(time << 16) // settings.share)
