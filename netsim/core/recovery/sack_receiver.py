"""Selective repeat, the receiver: packets count in any order, messages are delivered in turn, each with its last gap.

Every packet is answered: with the end of what is here without a gap, or, if the packet lies beyond a gap, with its own
number (SACK). A header, what trimming leaves of a packet, is answered with a NACK of its number.
"""

from netsim.core.flows.messages import has_arrived
from netsim.core.recovery.receiver_credit import credit_or_pull
from netsim.core.recovery.sack_sender import message_with
from netsim.core.state.dtypes import NONE
from netsim.core.state.packet_header import (
    ACK,
    CNP,
    MARK,
    NAK,
    SACK,
    TRIMMED,
    connection_of,
    make_header,
    make_meta,
    sequence_of,
)
from netsim.core.state.packet_metadata import carry_metadata
from netsim.core.state.packet_pool import append
from netsim.core.state.sack_scoreboard import WORD, bitmap_bit, grow_bitmap, has_packet
from netsim.kernel import inner


@inner
def mark_received(world, connection_id, connection, sequence):
    """A packet is here that was not: `expected` moves over what is here without a gap."""
    sack = world.sack_state[connection_id]
    if sequence > connection.expected:
        while (sequence >> WORD) - (connection.expected >> WORD) > sack.bitmap_mask:
            grow_bitmap(world, connection_id, connection)
        word, bit = bitmap_bit(world, connection_id, sequence)
        world.sack_scoreboard[word] |= bit
        sack.ahead += 1
        return
    connection.expected += 1
    while sack.ahead > 0:
        word, bit = bitmap_bit(world, connection_id, connection.expected)
        if not world.sack_scoreboard[word] & bit:
            break
        world.sack_scoreboard[word] ^= bit
        sack.ahead -= 1
        connection.expected += 1


@inner
def deliver(world, connection, now):
    """Messages of which everything is here have arrived, first come first."""
    message_id = connection.receiving
    while message_id != NONE and world.messages[message_id].end <= connection.expected:
        connection.receiving = world.messages[message_id].next
        has_arrived(world, message_id, now)
        message_id = connection.receiving


@inner
def on_data(world, header, meta, now, pool_index):
    """A data packet, or the header that is left of one, has come; the answer takes its metadata."""
    connection_id, sequence = connection_of(header), sequence_of(header)
    connection = world.connections[connection_id]
    sack = world.sack_state[connection_id]
    connection.received += 1
    flags = ACK | (meta & MARK)
    is_news = not has_packet(world, connection_id, connection, sequence)
    if meta & MARK:
        if is_news:
            message_id = message_with(world, connection.receiving, sequence)
            world.flows[world.messages[message_id].flow].marked += 1
        if world.settings[0].cnp_interval and now >= connection.cnp_at:
            flags |= CNP
            connection.cnp_at = now + world.settings[0].cnp_interval
    answered = sequence
    if meta & TRIMMED:
        sack.headers += 1
        if is_news:
            flags |= NAK
    elif is_news:
        mark_received(world, connection_id, connection, sequence)
    if sequence < connection.expected:
        answered = connection.expected
    elif not flags & NAK:
        flags |= SACK
    if world.settings[0].receiver_credit:
        flags |= credit_or_pull(world, connection_id, connection, sequence, meta & TRIMMED, now)
    link = world.links[connection.back]
    link.free_at = max(link.free_at, now)
    answer = make_meta(world.settings[0].ack_bytes, connection.length - 1, flags)
    append(world, link.control, now, make_header(connection_id, answered), answer)
    if world.settings[0].timestamped:
        carry_metadata(world, pool_index, link.control)
    deliver(world, connection, now)
