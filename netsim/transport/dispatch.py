"""From the code in a connection's row to its control. An if-chain costs nothing measurable; functions as data would."""

from netsim.kernel import part
from netsim.transport import dctcp, none, window
from netsim.transport.states import CODES

NO_CONTROL, WINDOW = CODES["none"], CODES["window"]


@part
def start(sender):
    if sender.control == NO_CONTROL:
        none.start(sender)
    elif sender.control == WINDOW:
        window.start(sender)
    else:
        dctcp.start(sender)


@part
def on_ack(sender, advanced, marked, now, settings):
    if sender.control == NO_CONTROL:
        none.on_ack(sender, advanced, marked, now, settings)
    elif sender.control == WINDOW:
        window.on_ack(sender, advanced, marked, now, settings)
    else:
        dctcp.on_ack(sender, advanced, marked, now, settings)


@part
def on_timeout(sender):
    if sender.control == NO_CONTROL:
        none.on_timeout(sender)
    elif sender.control == WINDOW:
        window.on_timeout(sender)
    else:
        dctcp.on_timeout(sender)
