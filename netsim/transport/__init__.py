"""How a sender yields (congestion control, one file each) and what it sends again (loss recovery).

To add a control: one file with STATE, SETTINGS and a kernel `start`, and those of `on_ack`,
`on_notification`, `on_send`, `on_timeout` that it needs; one line in CONTROLS (and PACED);
one branch in `dispatch.py`. This page imports no kernels, so that a scenario can be read without the compiler.
"""

CONTROLS = {
    "none": "line rate: a sender never waits for acknowledgements",
    "window": "a fixed window of packets that may be on the way",
    "dctcp": "a window cut in proportion to the marked fraction of a round (SIGCOMM 2010)",
    "dcqcn": "a rate that congestion notifications cut and timers raise again (SIGCOMM 2015)",
}
RECOVERIES = {
    "go_back_n": "packets count in order only; after a gap (NAK) or a time-out all from the gap on is sent again",
}

PACED = ("dcqcn",)  # controls that space their packets out in time

NOTED = ()  # controls that must know of a packet when it was sent (core/notes.py)
TELEMETERED = ()  # and what the links on its way said of themselves

__all__ = ["CONTROLS", "NOTED", "PACED", "RECOVERIES", "TELEMETERED"]
