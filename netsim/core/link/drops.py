"""What does not arrive: packets that find no room, and packets that a wire loses by chance."""

import numpy as np

from netsim.core.state.dtypes import NONE
from netsim.core.state.packet_header import connection_of, is_ack, sequence_of
from netsim.kernel import inner
from netsim.kernel.rng import thirty_bits

LOSSES = 1 << 40  # added to a link's number: its losses and its marks are drawn apart


@inner
def forget(world, header, meta):
    """Strike a packet that will not arrive off its connection's books."""
    connection = world.connections[connection_of(header)]
    if is_ack(meta):
        connection.acks_dropped += 1
        return
    connection.dropped += 1
    if sequence_of(header) < connection.acked:
        return  # a copy of what has arrived long ago: its flow may be gone
    message_id = connection.acking
    while message_id != NONE and world.messages[message_id].end <= sequence_of(header):
        message_id = world.messages[message_id].next
    if message_id != NONE:
        world.flows[world.messages[message_id].flow].dropped += 1


@inner
def drop(world, link_id, header, meta):
    """A packet finds no room at this link."""
    world.links[link_id].drops += 1
    forget(world, header, meta)


@inner
def is_lost(world, link_id, link_class, arriving, header, meta):
    """Whether the wire loses the packet that is put on it now, and if so the books of that.

    arriving: packets put on it before that were not lost. The draw is that of the link's n-th packet in all.
    """
    link = world.links[link_id]
    if thirty_bits(world.settings[0].seed, np.int64(link_id) + LOSSES, arriving + link.lost) >= link_class.loss:
        return False
    link.lost += 1
    forget(world, header, meta)
    return True
