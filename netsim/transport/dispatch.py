"""From the code in a connection's row to its control. An if-chain costs nothing measurable; functions as data would."""

from netsim.kernel import part
from netsim.transport import dcqcn, dctcp, ndp, none, window
from netsim.transport.states import CODES

NO_CONTROL, WINDOW, DCTCP, DCQCN = CODES["none"], CODES["window"], CODES["dctcp"], CODES["dcqcn"]


@part
def start(sender, line_bps):
    """A new connection on a NIC of this rate."""
    if sender.control == NO_CONTROL:
        none.start(sender)
    elif sender.control == WINDOW:
        window.start(sender)
    elif sender.control == DCTCP:
        dctcp.start(sender)
    elif sender.control == DCQCN:
        dcqcn.start(sender, line_bps)
    else:
        ndp.start(sender)


@part
def on_ack(sender, advanced, marked, now, settings):
    """An ACK has come; `advanced` if it acknowledged something new, `marked` if the packet it answers was."""
    if sender.control == DCTCP:
        dctcp.on_ack(sender, advanced, marked, now, settings.dctcp)


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
    return 0


@part
def on_timeout(sender):
    """Everything unacknowledged is about to be sent again."""
    if sender.control == DCTCP:
        dctcp.on_timeout(sender)
