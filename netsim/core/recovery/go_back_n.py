"""Go-back-N: packets count in order only. A gap brings a NAK, and all from there on is retransmitted.

As InfiniBand's reliable connections do: the receiver keeps nothing that comes after a gap and sends one NAK; or, as
htsim's RoCE does, one for every packet beyond it.
"""

import numpy as np

from netsim.core.flows.messages import has_arrived, is_acknowledged
from netsim.core.recovery.timers import start_timer
from netsim.core.state.dtypes import NONE
from netsim.core.state.packet_header import ACK, CNP, MARK, NAK, connection_of, make_header, make_meta, sequence_of
from netsim.core.state.packet_metadata import carry_metadata
from netsim.core.state.packet_pool import append
from netsim.core.state.packet_sizes import last_payload
from netsim.kernel import inner, part
from netsim.transport import dispatch


@part
def next_packet(world, connection_id, connection, now):
    """The next packet of a connection that may send: its label and state."""
    sequence = connection.next
    message = world.messages[connection.sending]
    payload = np.int64(connection.payload)
    if sequence + 1 == message.end:
        payload = last_payload(message.bytes, connection.payload)
        connection.sending = message.next
    if sequence == connection.acked:
        start_timer(world, connection_id, connection, now)
    connection.next = sequence + 1
    connection.injected += 1
    return make_header(connection_id, sequence), make_meta(world.settings[0].header_bytes + payload, 0, 0)


@part
def on_data(world, header, meta, now, pool_index):
    """Only the packet that should come next counts; the first after a gap brings a NAK; each gets an ACK."""
    connection_id = connection_of(header)
    connection = world.connections[connection_id]
    sequence = sequence_of(header)
    connection.received += 1
    flags = ACK | (meta & MARK)
    message_id = connection.receiving
    if meta & MARK and sequence >= connection.expected:
        world.flows[world.messages[message_id].flow].marked += 1
    if meta & MARK and world.settings[0].cnp_interval and now >= connection.cnp_at:
        flags |= CNP
        connection.cnp_at = now + world.settings[0].cnp_interval
    arrived = False
    if sequence == connection.expected:
        connection.expected += 1
        connection.nak_pending = 0
        arrived = connection.expected == world.messages[message_id].end
    elif sequence > connection.expected and (connection.nak_pending == 0 or world.settings[0].nak_per_packet):
        connection.nak_pending = 1
        flags |= NAK
    link = world.links[connection.back]
    link.free_at = max(link.free_at, now)
    answer = make_meta(world.settings[0].ack_bytes, connection.length - 1, flags)
    append(world, link.control, now, make_header(connection_id, connection.expected), answer)
    if world.settings[0].timestamped:
        carry_metadata(world, pool_index, link.control)
    if arrived:
        connection.receiving = world.messages[message_id].next
        has_arrived(world, message_id, now)


@inner
def rewind(world, connection, sequence):
    """Retransmit from `sequence` on."""
    connection.next = sequence
    message_id = connection.acking
    while message_id != NONE and world.messages[message_id].end <= sequence:
        message_id = world.messages[message_id].next
    connection.sending = message_id


@inner
def go_back(world, connection, sequence, now):
    """A NAK has come: the packet that it names is missing."""
    rewind(world, connection, sequence)
    dispatch.on_loss(connection, world.settings[0].controls, 1, now)


@part
def acknowledge(world, connection, sequence, now):
    """Everything before `sequence` has arrived."""
    connection.acked = sequence
    connection.last_progress_at = now
    if connection.next < sequence:  # a late ACK overtook a rewind
        rewind(world, connection, sequence)
    message_id = connection.acking
    while message_id != NONE and world.messages[message_id].end <= sequence:
        following = world.messages[message_id].next
        connection.acking = following
        if following == NONE:
            connection.last = NONE
        is_acknowledged(world, message_id, now)
        message_id = connection.acking
