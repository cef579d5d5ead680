"""A switch that cuts a data packet for which it has no room to its header, as in NDP and Ultra Ethernet.

Handley et al., "Re-architecting datacenter networks and stacks for low latency and high performance", SIGCOMM 2017,
section 3.1: the header goes into the control class, ahead of data, so that the receiver soon knows what is missing.
A coin decides whether the packet that arrives is cut or the last in the queue: without it senders that keep step with
each other lose always or never (ibid.).
"""

import numpy as np

from netsim.core.packet_header import BYTES, TRIMMED, bytes_of, is_ack, without_ingress
from netsim.core.packet_metadata import appended_place, carry_notes
from netsim.core.packet_trace import REFUSED, write_down
from netsim.core.random import thirty_bits
from netsim.core.rings import append, length
from netsim.core.wire_losses import drop
from netsim.kernel import inner

COINS = 1 << 41  # added to the number of a row: its coins, its marks and its losses are drawn apart


@inner
def turn_away(world, l, label, state, now):
    """A packet finds no room in the queue of its class, row l."""
    if world.settings[0].tracing:
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
    if world.settings[0].timestamped:
        carry_notes(world, place, link.control)


@inner
def refuse(world, l, label, state, now, place):
    """There is no room for a packet in the queue of its class, row l: it is cut to its header, or dropped."""
    if not world.settings[0].trim or is_ack(state):
        turn_away(world, l, label, state, now)
        return
    cut(world, l, label, state, now, place)


@inner
def cut(world, l, label, state, came_at, place):
    """A packet is left as its header."""
    world.gates[l].trims += 1
    payload = bytes_of(state) - world.settings[0].header
    header = state - (payload << BYTES) | TRIMMED
    into_control(world, np.uint32(l % world.settings[0].ports), label, header, came_at, place)


@inner
def takes_the_place(world, l, wire_bytes):
    """Whether a data packet that finds no room in row l gets that of the last in the queue, which is then cut.

    One that is being sent is not cut, nor one that is smaller than the packet that comes.
    """
    link = world.links[l]
    if length(link.payload) == 0:
        return False
    place = appended_place(link.payload)
    label, state, came_at = world.packet_pool[place].label, world.packet_pool[place].state, world.packet_pool[place].at
    drawn = thirty_bits(world.settings[0].seed, np.int64(l) + COINS, world.gates[l].trims)
    if bytes_of(state) < wire_bytes or drawn >= world.settings[0].trim_last:
        return False
    link.payload.tail -= 1
    link.backlog -= bytes_of(state)
    if world.pools[link.source].room > 0:
        world.pools[link.source].taken -= bytes_of(state)
    cut(world, l, label, without_ingress(state), came_at, place)
    return True
