"""DRR: classes take turns, each with a quantum of bytes a round and what it left of the last (SIGCOMM 1995)."""

import numpy as np
from pydantic import Field

from netsim.kernel import part
from netsim.kernel.settings import KernelSettings
from netsim.units import Size

STATE = np.dtype([("deficit", "i8"), ("turn", "i8")])  # turn: whose it is, in the row of class 0


class Drr(KernelSettings):
    """Settings of DRR. quantum: bytes per class and round.

    Shreedhar and Varghese, "Efficient Fair Queueing Using Deficit Round Robin", SIGCOMM 1995, 3. By default one full
    packet, so that a class sends in each of its turns; with less it may wait several rounds for one packet.
    """

    quantum: Size = Field(default=4160, ge=64)


@part
def next_class(settings, states, row, stride, head_bytes):
    for k in range(head_bytes.size):
        if head_bytes[k] == 0:
            states[row + k * stride].drr.deficit = 0
    link = states[row].drr
    while not 0 < head_bytes[link.turn] <= states[row + link.turn * stride].drr.deficit:
        link.turn = (link.turn + 1) % head_bytes.size
        if head_bytes[link.turn]:
            states[row + link.turn * stride].drr.deficit += settings.quantum
    return link.turn


@part
def on_transmit(settings, state, wire_bytes):
    state.drr.deficit -= wire_bytes
    return 0
