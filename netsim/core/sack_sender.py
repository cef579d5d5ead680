"""Selective repeat, the sender: what arrives is ticked off packet by packet, and only what is missing is retransmitted.

As the selective repeat of recent NICs and IRN (Mittal et al., "Revisiting Network Support for RDMA", SIGCOMM 2018,
section 3), with a tolerance for reordering. A packet is taken for lost when its header comes back (NACK), when one that
was sent `reordering` transmissions later has arrived (of packets sent once: an ACK does not say which copy it answers),
or when nothing is heard for a time-out: then everything under way. The congestion window bounds what is under way.
"""

import numpy as np

from netsim.core.messages import last_payload
from netsim.core.packet_header import CREDIT, NAK, PULL, SACK, label, state
from netsim.core.sack_scoreboard import AGAIN, GOT, LOST, NDP, ORDER, is_held, place_of, under_way, widen
from netsim.core.tables import NONE
from netsim.core.timers import start_timer
from netsim.kernel import inner
from netsim.transport import dispatch, ndp


@inner
def first_lost(world, c, repair):
    """The first of the packets to be retransmitted."""
    sequence = repair.lost_from
    while not world.places[place_of(world, c, sequence)] & LOST:
        sequence += 1
    return sequence


@inner
def message_with(world, m, sequence):
    """The message of a connection, m or one after it, that holds a packet."""
    while m != NONE and world.messages[m].end <= sequence:
        m = world.messages[m].next
    return m


@inner
def take_next(world, c, connection, now):
    """The packet that a connection that may send sends next: message, sequence, label, state. Lost ones go first."""
    repair = world.repairs[c]
    if under_way(world, c, connection) == 0:
        start_timer(world, c, connection, now)
    sequence, again, m = connection.next, 0, connection.sending
    if repair.lost > 0:
        sequence, again = first_lost(world, c, repair), AGAIN
        m = message_with(world, connection.acking, sequence)
        repair.lost -= 1
        repair.lost_from = sequence + 1
    else:
        if sequence - connection.acked > repair.mask:
            widen(world, c, connection)
        connection.next += 1
    message = world.messages[m]
    payload = np.int64(connection.payload)
    if sequence + 1 == message.end:
        payload = last_payload(message.bytes, connection.payload)
        if not again:
            connection.sending = message.next
    world.places[place_of(world, c, sequence)] = connection.injected << ORDER | again
    connection.injected += 1
    if connection.control == NDP and connection.next == connection.stop and repair.lost == 0:
        ndp.has_no_more(connection, under_way(world, c, connection))
    return m, sequence, label(c, sequence), state(world.settings[0].header + payload, 0, 0)


@inner
def tick_off(world, c, sequence):
    """A packet has arrived. Returns whether that is news of one under way."""
    repair = world.repairs[c]
    place = place_of(world, c, sequence)
    known = np.int64(world.places[place])
    if known & GOT:
        return 0
    world.places[place] = (known | GOT) & ~LOST
    repair.got += 1
    if not known & AGAIN:
        repair.newest = max(repair.newest, known >> ORDER)
    if known & LOST:
        repair.lost -= 1
        return 0
    return 1


@inner
def take_for_lost(world, c, sequence):
    """A packet under way is to be retransmitted, but one that has arrived or waits for that. Returns whether it was."""
    repair = world.repairs[c]
    place = place_of(world, c, sequence)
    known = np.int64(world.places[place])
    if known & (GOT | LOST):
        return 0
    world.places[place] = known | LOST
    repair.lost_from = sequence if repair.lost == 0 else min(repair.lost_from, sequence)
    repair.lost += 1
    return 1


@inner
def judge(world, c, connection):
    """Take for lost what has been overtaken by more than reordering explains. Returns how many packets that were."""
    repair = world.repairs[c]
    oldest, missing = connection.injected, 0
    for sequence in range(connection.acked, connection.next):
        known = np.int64(world.places[place_of(world, c, sequence)])
        if known & (GOT | LOST) == 0:
            if (known >> ORDER) + repair.reordering <= repair.newest:
                missing += take_for_lost(world, c, sequence)
            else:
                oldest = min(oldest, known >> ORDER)
    repair.oldest = oldest
    return missing


@inner
def advance_over(world, c, connection):
    """The end of what has arrived without a gap; what lies before it is no longer kept account of."""
    repair = world.repairs[c]
    end = connection.acked
    while end < connection.next and world.places[place_of(world, c, end)] & GOT:
        end += 1
        repair.got -= 1
    return end


@inner
def learn(world, c, connection, sequence, content, now, place):
    """What an ACK, a NACK or a pull, noted at `place`, says; the control hears of what is missing.

    Returns the sequence before which everything has arrived, and how many packets are known to have arrived only now.
    """
    repair, controls = world.repairs[c], world.settings[0].controls
    arrived, payload = connection.acked + repair.got, np.int64(connection.payload)
    repair.held += is_held(world, c, connection)
    if content & PULL:
        wants = repair.lost > 0 or connection.next < connection.stop
        ndp.on_pull(connection, sequence, wants)
        connection.progress_at = now
        return connection.acked, 0
    left = 0
    if content & NAK:
        if sequence >= connection.acked:
            left = take_for_lost(world, c, sequence)
            if left > 0:
                rtt = now - world.notes[place].stamp if world.settings[0].timestamped else 0
                dispatch.on_nack(connection, payload, rtt, under_way(world, c, connection) + left, now, controls)
    elif content & SACK:
        if sequence >= connection.acked:
            left = tick_off(world, c, sequence)
    else:
        for each in range(connection.acked, sequence):
            left += tick_off(world, c, each)
    if left > 0:
        connection.progress_at = now
        if connection.control == NDP:
            ndp.on_answer(connection, left, content & CREDIT != 0 and connection.next < connection.stop)
    end = advance_over(world, c, connection)
    if repair.got > 0 and repair.newest - repair.oldest >= repair.reordering:
        missing = judge(world, c, connection)
        if missing > 0:
            dispatch.on_loss(connection, missing * payload, now, controls)
    return end, end + repair.got - arrived


@inner
def on_timeout(world, c, connection):
    """A time-out: nothing under way can be counted on any more."""
    waited_for_pull = under_way(world, c, connection) == 0
    for sequence in range(connection.acked, connection.next):
        take_for_lost(world, c, sequence)
    if connection.control == NDP:
        ndp.on_silence(connection, waited_for_pull)
