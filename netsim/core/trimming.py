"""A switch that cuts a data packet for which it has no room to its header, as in NDP and Ultra Ethernet.

Handley et al., "Re-architecting datacenter networks and stacks for low latency and high performance", SIGCOMM 2017,
section 3.1: the header goes into the control class, ahead of data, so that the receiver soon knows what is missing.
Always the packet that arrives is cut; the paper's coin, which cuts the last in the queue instead, is left out.
"""

import numpy as np

from netsim.core.journal import REFUSED, write_down
from netsim.core.losses import drop
from netsim.core.notes import carry_notes
from netsim.core.rings import append
from netsim.core.words import BYTES, TRIMMED, bytes_of, is_ack
from netsim.kernel import inner


@inner
def turn_away(world, l, label, state, now):
    """A packet finds no room in the queue of its class, row l."""
    if world.settings[0].journaling:
        write_down(world, np.uint32(l % world.settings[0].ports), now, REFUSED, label, state)
    drop(world, l, label, state)


@inner
def into_control(world, l, label, state, now, place):
    """An ACK or a header, noted at `place`, joins the control class of an egress, which has a limit of its own."""
    link = world.links[l]
    if link.control_backlog + bytes_of(state) > world.kinds[link.kind].control_room:
        turn_away(world, l, label, state, now)
        return
    link.control_backlog += bytes_of(state)
    link.free_at = max(link.free_at, now)
    append(world, link.control, now, label, state)
    if world.settings[0].noted:
        carry_notes(world, place, link.control)


@inner
def refuse(world, l, label, state, now, place):
    """There is no room for a packet in the queue of its class, row l: it is cut to its header, or dropped."""
    if not world.settings[0].trim or is_ack(state):
        turn_away(world, l, label, state, now)
        return
    world.gates[l].trims += 1
    cut = bytes_of(state) - world.settings[0].header
    into_control(world, np.uint32(l % world.settings[0].ports), label, state - (cut << BYTES) | TRIMMED, now, place)
