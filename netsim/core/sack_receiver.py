"""Selective repeat, the receiver: packets count in any order, messages are delivered in turn, each with its last gap.

Every packet is answered: with the end of what is here without a gap, or, if the packet lies beyond a gap, with its own
number (SACK). A header, what trimming leaves of a packet, is answered with a NACK of its number.
"""

from netsim.core.messages import has_arrived
from netsim.core.packet_header import ACK, CNP, MARK, NAK, SACK, TRIMMED, connection_of, label, sequence_of, state
from netsim.core.packet_metadata import carry_notes
from netsim.core.pulls import due
from netsim.core.rings import append
from netsim.core.sack_scoreboard import NDP, WORD, bit_of, is_here, widen_here
from netsim.core.sack_sender import message_with
from netsim.core.tables import NONE
from netsim.kernel import inner


@inner
def put_in(world, c, connection, sequence):
    """A packet is here that was not: `expected` moves over what is here without a gap."""
    repair = world.repairs[c]
    if sequence > connection.expected:
        while (sequence >> WORD) - (connection.expected >> WORD) > repair.here_mask:
            widen_here(world, c, connection)
        word, bit = bit_of(world, c, sequence)
        world.places[word] |= bit
        repair.ahead += 1
        return
    connection.expected += 1
    while repair.ahead > 0:
        word, bit = bit_of(world, c, connection.expected)
        if not world.places[word] & bit:
            break
        world.places[word] ^= bit
        repair.ahead -= 1
        connection.expected += 1


@inner
def deliver(world, connection, now):
    """Messages of which everything is here have arrived, first come first."""
    m = connection.receiving
    while m != NONE and world.messages[m].end <= connection.expected:
        connection.receiving = world.messages[m].next
        has_arrived(world, m, now)
        m = connection.receiving


@inner
def take_in(world, name, content, now, place):
    """A data packet, or the header that is left of one, has come; it is noted at `place`, and so is the answer."""
    c, sequence = connection_of(name), sequence_of(name)
    connection = world.connections[c]
    repair = world.repairs[c]
    connection.received += 1
    flags = ACK | (content & MARK)
    is_news = not is_here(world, c, connection, sequence)
    if content & MARK:
        if is_news:
            m = message_with(world, connection.receiving, sequence)
            world.flows[world.messages[m].flow].marked += 1
        if now >= connection.cnp_at:
            flags |= CNP
            connection.cnp_at = now + world.settings[0].controls.dcqcn.cnp_interval
    answered = sequence
    if content & TRIMMED:
        repair.headers += 1
        if is_news:
            flags |= NAK
    elif is_news:
        put_in(world, c, connection, sequence)
    if sequence < connection.expected:
        answered = connection.expected
    elif not flags & NAK:
        flags |= SACK
    if connection.control == NDP:
        flags |= due(world, c, connection, sequence, content & TRIMMED, now)
    link = world.links[connection.back]
    link.free_at = max(link.free_at, now)
    answer = state(world.settings[0].ack, connection.length - 1, flags)
    append(world, link.control, now, label(c, answered), answer)
    if world.settings[0].timestamped:
        carry_notes(world, place, link.control)
    deliver(world, connection, now)
