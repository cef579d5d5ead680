"""Receiver-driven: what is missing is pulled, at the pace of the receiver's link, from all its senders in turn.

Handley et al., NDP (SIGCOMM 2017), section 3.2; as in EQDS (Olteanu et al., NSDI 2022) a receiver paces its pulls a
little below its line rate. A pull says how many there have been on its connection, so that the next makes up for a lost
one. What a sender does with them is up to its control.
"""

import numpy as np

from netsim.core.link.wire import time_to_send
from netsim.core.recovery.sack_sender import message_with
from netsim.core.state.dtypes import NEVER, NONE
from netsim.core.state.packet_header import ACK, CREDIT, PULL, make_header, make_meta
from netsim.core.state.packet_metadata import begin_metadata
from netsim.core.state.packet_pool import append, first_at, length, load_ring
from netsim.kernel import inner, part
from netsim.transport import dispatch


@inner
def credit_or_pull(world, connection_id, connection, sequence, is_header, now):
    """Something has come. It is due a pull, or, where what is missing is on its way already, a credit with its ACK.

    As many packets as the first window holds are on their way, or have been pulled, but for the one that has come.
    """
    sack = world.sack_state[connection_id]
    if sequence >= sack.known:
        message_id = message_with(world, connection.receiving, sequence)
        if message_id != NONE:
            sack.known = world.messages[message_id].end
    missing = sack.known - connection.expected - sack.ahead
    if not is_header and missing < dispatch.first_window(connection, world.settings[0].controls):
        return CREDIT
    sack.asked += 1
    if sack.asked - sack.pulled == 1:
        append(world, world.pullers[connection.back].pull_ring, now, connection_id, 0)
    return 0


@part
def next_pull(world, link_id):
    """When the next pull leaves for this NIC, or NEVER."""
    puller = world.pullers[link_id]
    if length(puller.pull_ring) == 0:
        return NEVER
    return max(puller.ready_at, first_at(world.packet_pool, load_ring(puller.pull_ring)))


@inner
def pull(world, link_id, now):
    """Send a pull to the sender whose turn it is; the next one waits for as long as its packet takes to come."""
    puller, link = world.pullers[link_id], world.links[link_id]
    ring = puller.pull_ring
    connection_id = world.packet_pool[ring.start + (ring.head & ring.mask)].header
    ring.head += 1
    connection, sack = world.connections[connection_id], world.sack_state[connection_id]
    sack.pulled += 1
    if sack.asked > sack.pulled:
        append(world, puller.pull_ring, now, connection_id, 0)
    full = world.settings[0].header_bytes + np.int64(connection.payload)
    time = time_to_send(world.link_classes[world.links[link_id ^ 1].link_class], full)
    puller.ready_at = now + dispatch.pull_gap(connection, world.settings[0].controls, time)
    link.free_at = max(link.free_at, now)
    meta = make_meta(world.settings[0].ack_bytes, connection.length - 1, ACK | PULL)
    append(world, link.control, now, make_header(connection_id, sack.pulled & 0xFFFFFFFF), meta)
    if world.settings[0].timestamped:
        begin_metadata(world, link.control, now, 0)
