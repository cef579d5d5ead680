"""What does not arrive: packets that find no room, and packets that a wire loses by chance."""

import numpy as np

from netsim.core.packet_header import connection_of, is_ack, sequence_of
from netsim.core.random import thirty_bits
from netsim.core.tables import NONE
from netsim.kernel import inner

LOSSES = 1 << 40  # added to a link's number: its losses and its marks are drawn apart


@inner
def forget(world, label, state):
    """Strike a packet that will not arrive off its connection's books."""
    connection = world.connections[connection_of(label)]
    if is_ack(state):
        connection.acks_dropped += 1
        return
    connection.dropped += 1
    if sequence_of(label) < connection.acked:
        return  # a copy of what has arrived long ago: its flow may be gone
    m = connection.acking
    while m != NONE and world.messages[m].end <= sequence_of(label):
        m = world.messages[m].next
    if m != NONE:
        world.flows[world.messages[m].flow].dropped += 1


@inner
def drop(world, l, label, state):
    """A packet finds no room at this link."""
    world.links[l].drops += 1
    forget(world, label, state)


@inner
def is_lost(world, l, kind, arriving, label, state):
    """Whether the wire loses the packet that is put on it now, and if so the books of that.

    arriving: packets put on it before that were not lost. The draw is that of the link's n-th packet in all.
    """
    link = world.links[l]
    if thirty_bits(world.settings[0].seed, np.int64(l) + LOSSES, arriving + link.lost) >= kind.loss:
        return False
    link.lost += 1
    forget(world, label, state)
    return True
