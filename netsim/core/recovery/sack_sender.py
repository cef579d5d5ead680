"""Selective repeat, the sender: what arrives is ticked off packet by packet, and only what is missing is retransmitted.

As the selective repeat of recent NICs and IRN (Mittal et al., "Revisiting Network Support for RDMA", SIGCOMM 2018,
section 3), with a tolerance for reordering. A packet is taken for lost when its header comes back (NACK), when one that
was sent `reordering` transmissions later has arrived (of packets sent once: an ACK does not say which copy it answers),
or when nothing is heard for a time-out: then everything under way. The congestion window bounds what is under way.
"""

import numpy as np

from netsim.core.recovery.timers import start_timer
from netsim.core.state.dtypes import NONE
from netsim.core.state.packet_header import CREDIT, NAK, PULL, SACK, make_header, make_meta
from netsim.core.state.packet_sizes import last_payload
from netsim.core.state.sack_scoreboard import (
    AGAIN,
    GOT,
    LOST,
    ORDER,
    grow_scoreboard,
    is_held,
    packets_in_flight,
    scoreboard_index,
)
from netsim.kernel import inner
from netsim.transport import dispatch


@inner
def first_lost(world, connection_id, sack):
    """The first of the packets to be retransmitted."""
    sequence = sack.lost_from
    while not world.sack_scoreboard[scoreboard_index(world, connection_id, sequence)] & LOST:
        sequence += 1
    return sequence


@inner
def message_with(world, message_id, sequence):
    """The message of a connection, m or one after it, that holds a packet."""
    while message_id != NONE and world.messages[message_id].end <= sequence:
        message_id = world.messages[message_id].next
    return message_id


@inner
def take_next(world, connection_id, connection, now):
    """The packet that a connection that may send sends next: message, sequence, label, state. Lost ones go first."""
    sack = world.sack_state[connection_id]
    if packets_in_flight(world, connection_id, connection) == 0:
        start_timer(world, connection_id, connection, now)
    sequence, again, message_id = connection.next, 0, connection.sending
    if sack.lost > 0:
        sequence, again = first_lost(world, connection_id, sack), AGAIN
        message_id = message_with(world, connection.acking, sequence)
        sack.lost -= 1
        sack.lost_from = sequence + 1
    else:
        if sequence - connection.acked > sack.mask:
            grow_scoreboard(world, connection_id, connection)
        connection.next += 1
    message = world.messages[message_id]
    payload = np.int64(connection.payload)
    if sequence + 1 == message.end:
        payload = last_payload(message.bytes, connection.payload)
        if not again:
            connection.sending = message.next
    world.sack_scoreboard[scoreboard_index(world, connection_id, sequence)] = connection.injected << ORDER | again
    connection.injected += 1
    if world.settings[0].receiver_credit and connection.next == connection.stop and sack.lost == 0:
        in_flight = packets_in_flight(world, connection_id, connection)
        dispatch.on_drained(connection, world.settings[0].controls, in_flight)
    return (
        message_id,
        sequence,
        make_header(connection_id, sequence),
        make_meta(world.settings[0].header_bytes + payload, 0, 0),
    )


@inner
def mark_acked(world, connection_id, sequence):
    """A packet has arrived. Returns whether that is news of one under way."""
    sack = world.sack_state[connection_id]
    index = scoreboard_index(world, connection_id, sequence)
    known = np.int64(world.sack_scoreboard[index])
    if known & GOT:
        return 0
    world.sack_scoreboard[index] = (known | GOT) & ~LOST
    sack.got += 1
    if not known & AGAIN:
        sack.newest = max(sack.newest, known >> ORDER)
    if known & LOST:
        sack.lost -= 1
        return 0
    return 1


@inner
def mark_lost(world, connection_id, sequence):
    """A packet under way is to be retransmitted, but one that has arrived or waits for that. Returns whether it was."""
    sack = world.sack_state[connection_id]
    index = scoreboard_index(world, connection_id, sequence)
    known = np.int64(world.sack_scoreboard[index])
    if known & (GOT | LOST):
        return 0
    world.sack_scoreboard[index] = known | LOST
    sack.lost_from = sequence if sack.lost == 0 else min(sack.lost_from, sequence)
    sack.lost += 1
    return 1


@inner
def detect_loss(world, connection_id, connection):
    """Take for lost what has been overtaken by more than reordering explains. Returns how many packets that were."""
    sack = world.sack_state[connection_id]
    oldest, missing = connection.injected, 0
    for sequence in range(connection.acked, connection.next):
        known = np.int64(world.sack_scoreboard[scoreboard_index(world, connection_id, sequence)])
        if known & (GOT | LOST) == 0:
            if (known >> ORDER) + sack.reordering <= sack.newest:
                missing += mark_lost(world, connection_id, sequence)
            else:
                oldest = min(oldest, known >> ORDER)
    sack.oldest = oldest
    return missing


@inner
def advance_over(world, connection_id, connection):
    """The end of what has arrived without a gap; what lies before it is no longer kept account of."""
    sack = world.sack_state[connection_id]
    end = connection.acked
    while end < connection.next and world.sack_scoreboard[scoreboard_index(world, connection_id, end)] & GOT:
        end += 1
        sack.got -= 1
    return end


@inner
def on_sack(world, connection_id, connection, sequence, meta, now, index):
    """What an ACK, a NACK or a pull, with metadata at `pool_index`, says; the control hears of what is missing.

    Returns the sequence before which everything has arrived, and how many packets are known to have arrived only now.
    """
    sack, controls = world.sack_state[connection_id], world.settings[0].controls
    arrived = connection.acked + sack.got
    sack.window_limited += is_held(world, connection_id, connection)
    if meta & PULL:
        wants = sack.lost > 0 or connection.next < connection.stop
        dispatch.on_pull(connection, controls, sequence, wants)
        connection.last_progress_at = now
        return connection.acked, 0
    left = 0
    if meta & NAK:
        if sequence >= connection.acked:
            left = mark_lost(world, connection_id, sequence)
            if left > 0:
                rtt = now - world.packet_metadata[index].stamp if world.settings[0].timestamped else 0
                in_flight = packets_in_flight(world, connection_id, connection) + left
                dispatch.on_nack(connection, controls, 1, rtt, in_flight, now)
    elif meta & SACK:
        if sequence >= connection.acked:
            left = mark_acked(world, connection_id, sequence)
    else:
        for each in range(connection.acked, sequence):
            left += mark_acked(world, connection_id, each)
    if left > 0:
        connection.last_progress_at = now
        if world.settings[0].receiver_credit:
            credited = meta & CREDIT != 0 and connection.next < connection.stop
            dispatch.on_answer(connection, controls, left, credited)
    end = advance_over(world, connection_id, connection)
    if sack.got > 0 and sack.newest - sack.oldest >= sack.reordering:
        missing = detect_loss(world, connection_id, connection)
        if missing > 0:
            dispatch.on_loss(connection, controls, missing, now)
    return end, end + sack.got - arrived


@inner
def on_timeout(world, connection_id, connection):
    """A time-out: nothing under way can be counted on any more."""
    for sequence in range(connection.acked, connection.next):
        mark_lost(world, connection_id, sequence)
