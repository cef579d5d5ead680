"""Go-back-N: packets count in order only. A gap brings a NAK, and all from there on is retransmitted.

As InfiniBand's reliable connections do: the receiver keeps nothing that comes after a gap and complains once; or, as
htsim's RoCE does, of every packet beyond it.
"""

import numpy as np

from netsim.core.messages import has_arrived, is_acknowledged, last_payload
from netsim.core.packet_header import ACK, CNP, MARK, NAK, connection_of, label, sequence_of, state
from netsim.core.packet_metadata import carry_notes
from netsim.core.rings import append
from netsim.core.tables import NONE
from netsim.core.timers import start_timer
from netsim.kernel import inner, part
from netsim.transport import dispatch


@part
def next_packet(world, c, connection, now):
    """The next packet of a connection that may send: its label and state."""
    sequence = connection.next
    message = world.messages[connection.sending]
    payload = np.int64(connection.payload)
    if sequence + 1 == message.end:
        payload = last_payload(message.bytes, connection.payload)
        connection.sending = message.next
    if sequence == connection.acked:
        start_timer(world, c, connection, now)
    connection.next = sequence + 1
    connection.injected += 1
    return label(c, sequence), state(world.settings[0].header + payload, 0, 0)


@part
def on_data(world, name, content, now, place):
    """Only the packet that should come next counts; the first after a gap brings a NAK; each gets an ACK."""
    c = connection_of(name)
    connection = world.connections[c]
    sequence = sequence_of(name)
    connection.received += 1
    flags = ACK | (content & MARK)
    m = connection.receiving
    if content & MARK and sequence >= connection.expected:
        world.flows[world.messages[m].flow].marked += 1
    if content & MARK and now >= connection.cnp_at:
        flags |= CNP
        connection.cnp_at = now + world.settings[0].controls.dcqcn.cnp_interval
    arrived = False
    if sequence == connection.expected:
        connection.expected += 1
        connection.nak_pending = 0
        arrived = connection.expected == world.messages[m].end
    elif sequence > connection.expected and (connection.nak_pending == 0 or world.settings[0].nak_per_packet):
        connection.nak_pending = 1
        flags |= NAK
    link = world.links[connection.back]
    link.free_at = max(link.free_at, now)
    answer = state(world.settings[0].ack, connection.length - 1, flags)
    append(world, link.control, now, label(c, connection.expected), answer)
    if world.settings[0].timestamped:
        carry_notes(world, place, link.control)
    if arrived:
        connection.receiving = world.messages[m].next
        has_arrived(world, m, now)


@inner
def rewind(world, connection, sequence):
    """Send again from `sequence` on."""
    connection.next = sequence
    m = connection.acking
    while m != NONE and world.messages[m].end <= sequence:
        m = world.messages[m].next
    connection.sending = m


@inner
def go_back(world, connection, sequence, now):
    """A NAK has come: the packet that it names is missing."""
    rewind(world, connection, sequence)
    dispatch.on_loss(connection, np.int64(connection.payload), now, world.settings[0].controls)


@part
def acknowledge(world, connection, sequence, now):
    """Everything before `sequence` has arrived."""
    connection.acked = sequence
    connection.progress_at = now
    if connection.next < sequence:  # a late ACK overtook a rewind
        rewind(world, connection, sequence)
    m = connection.acking
    while m != NONE and world.messages[m].end <= sequence:
        following = world.messages[m].next
        connection.acking = following
        if following == NONE:
            connection.last = NONE
        is_acknowledged(world, m, now)
        m = connection.acking
