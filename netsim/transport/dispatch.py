"""From the code in a connection's row to its control. An if-chain costs nothing measurable; functions as data would."""

import numpy as np

from netsim.kernel import part
from netsim.transport import CODES, dcqcn, dctcp, hpcc, ndp, none, nscc, swift, timely, window

NO_CONTROL, WINDOW, DCTCP, DCQCN = CODES["none"], CODES["window"], CODES["dctcp"], CODES["dcqcn"]
TIMELY, SWIFT, HPCC, NSCC, NDP = (CODES[name] for name in ("timely", "swift", "hpcc", "nscc", "ndp"))


@part
def start(sender, line_bps, idle_ps, network_ps, wire_bytes, settings):
    """A new connection on a NIC of this rate; idle round trip of a full packet, and its bytes on the wire.

    network_ps: the longest of these in the network.
    """
    if sender.control == NO_CONTROL:
        none.start(sender)
    elif sender.control == WINDOW:
        window.start(sender)
    elif sender.control == DCTCP:
        dctcp.start(sender)
    elif sender.control == DCQCN:
        dcqcn.start(sender, line_bps)
    elif sender.control == TIMELY:
        timely.start(sender, line_bps, idle_ps)
    elif sender.control == SWIFT:
        swift.start(sender, idle_ps, settings.swift)
    elif sender.control == HPCC:
        hpcc.start(sender, line_bps, idle_ps, wire_bytes)
    elif sender.control == NSCC:
        nscc.start(sender, line_bps, network_ps, wire_bytes, settings.nscc)
    elif sender.control == NDP:
        ndp.start(sender)


@part
def on_ack(sender, advanced, marked, now, settings):
    """An ACK has come; `advanced` if it acknowledged something new, `marked` if the packet it answers was."""
    if sender.control == DCTCP:
        dctcp.on_ack(sender, advanced, marked, now, settings.dctcp)


@part
def on_round_trip(sender, gained, marked, rtt, outstanding, now, settings):
    """An ACK has come that knows when the packet it answers was sent, rtt ps ago.

    gained: packets it acknowledges for the first time; outstanding: packets still under way.
    """
    if sender.control == TIMELY:
        timely.on_round_trip(sender, gained, rtt, settings.timely)
    elif sender.control == SWIFT:
        swift.on_round_trip(sender, gained, rtt, now, settings.swift)
    elif sender.control == NSCC:
        nscc.on_round_trip(sender, gained, marked, rtt, outstanding, now, settings.nscc)


@part
def on_telemetry(sender, gained, load, span, settings):
    """An ACK has come that knows how full the links were: the fullest of them over the last `span` ps."""
    if sender.control == HPCC:
        hpcc.on_telemetry(sender, gained, load, span, settings.hpcc)


@part
def on_notification(sender, now, settings):
    """A congestion notification (CNP) has come."""
    if sender.control == DCQCN:
        dcqcn.on_notification(sender, now, settings.dcqcn)


@part
def on_send(sender, wire_bytes, now, settings):
    """A packet starts now. Returns the gap in ps to the start of the next, 0 where the control does not pace."""
    if sender.control == DCQCN:
        return dcqcn.on_send(sender, wire_bytes, now, settings.dcqcn)
    if sender.control == TIMELY:
        return timely.on_send(sender, wire_bytes)
    if sender.control == SWIFT:
        return swift.on_send(sender)
    if sender.control == HPCC:
        return hpcc.on_send(sender, wire_bytes)
    return 0


@part
def in_packets(sender, lost_bytes):
    """Windows count packets, of whatever size: whole ones at least."""
    return max(1, lost_bytes // np.int64(sender.payload))


@part
def on_nack(sender, lost_bytes, rtt, outstanding, now, settings):
    """The receiver says that packets came trimmed to their headers, so many bytes of them, sent rtt ps ago.

    outstanding: packets under way, these among them.
    """
    if sender.control == DCTCP:
        dctcp.on_nack(sender, in_packets(sender, lost_bytes))
    elif sender.control == SWIFT:
        swift.on_loss(sender, now, settings.swift)
    elif sender.control == NSCC:
        nscc.on_nack(sender, in_packets(sender, lost_bytes), rtt, outstanding, now, settings.nscc)


@part
def on_loss(sender, lost_bytes, now, settings):
    """The receiver says that packets are missing, so many bytes of them."""
    if sender.control == SWIFT:
        swift.on_loss(sender, now, settings.swift)
    elif sender.control == NSCC:
        nscc.on_loss(sender, in_packets(sender, lost_bytes))


@part
def on_timeout(sender, now, settings):
    """Everything unacknowledged is about to be retransmitted."""
    if sender.control == DCTCP:
        dctcp.on_timeout(sender)
    elif sender.control == SWIFT:
        swift.on_timeout(sender, now, settings.swift)
    elif sender.control == NSCC:
        nscc.on_timeout(sender)
