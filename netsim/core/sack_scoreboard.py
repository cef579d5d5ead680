"""Selective repeat: what both ends of a connection know of each packet in its window, and what follows from it.

The sender keeps a number per packet beyond `acked`, transmission << 3 | GOT | LOST | AGAIN, the receiver one bit per
packet beyond `expected`. Both lie in blocks of `places`, which double when a packet finds no place: packet s has place
s mod their size. So the window has no limit but the one that is set.
"""

import numpy as np

from netsim.core.rings import size_class
from netsim.kernel import inner, part
from netsim.transport.states import CODES

AGAIN, GOT, LOST = 1, 2, 4  # sent more than once; known to have arrived; to be retransmitted
ORDER = 3  # binary digits of these
FIRST_PLACES, WORD = 16, 5  # places of a new connection's sender; a receiver's block is of words of 2^5 bits
PLACES_PER_USED = 4  # entries that a visit to a node may need for each in use, while blocks double
NDP = CODES["ndp"]


@part
def place_of(world, c, sequence):
    """Where the sender of connection c keeps what it knows of a packet."""
    repair = world.repairs[c]
    return repair.start + (sequence & repair.mask)


@part
def bit_of(world, c, sequence):
    """Where the receiver of connection c keeps whether it has a packet: word and bit."""
    repair = world.repairs[c]
    return repair.here_start + ((sequence >> WORD) & repair.here_mask), np.uint32(1 << (sequence & ((1 << WORD) - 1)))


@inner
def take_places(world, size):
    """A block of `size` = 2^k zeros: a used one if there is one, else new ground."""
    k = size_class(size)
    block = world.place_blocks[k]
    if block >= 0:  # a free block holds 1 + the number of the next one
        world.place_blocks[k] = np.int64(world.places[block]) - 1
    else:
        progress = world.progress[0]
        block = progress.places_used
        progress.places_used += size
        if progress.places_used > world.places.size:
            raise MemoryError("no room for what is known of packets")
    for i in range(size):
        world.places[block + i] = 0
    return block


@inner
def give_places(world, start, size):
    k = size_class(size)
    world.places[start] = world.place_blocks[k] + 1
    world.place_blocks[k] = start


@inner
def widen(world, c, connection):
    """Twice as many places for what the sender knows."""
    repair = world.repairs[c]
    size = repair.mask + 1
    block = take_places(world, 2 * size)
    for s in range(connection.acked, connection.next):
        world.places[block + (s & (2 * size - 1))] = world.places[repair.start + (s & repair.mask)]
    give_places(world, repair.start, size)
    repair.start, repair.mask = block, 2 * size - 1


@inner
def widen_here(world, c, connection):
    """Twice as many bits for what the receiver has."""
    repair = world.repairs[c]
    size = repair.here_mask + 1
    block = take_places(world, 2 * size)
    first = connection.expected >> WORD
    for w in range(first, first + size):
        world.places[block + (w & (2 * size - 1))] = world.places[repair.here_start + (w & repair.here_mask)]
    give_places(world, repair.here_start, size)
    repair.here_start, repair.here_mask = block, 2 * size - 1


@part
def under_way(world, c, connection):
    """Packets sent that are not known to have arrived or taken for lost."""
    repair = world.repairs[c]
    return connection.next - connection.acked - repair.got - repair.lost


@part
def outstanding(world, c, connection):
    """Packets under way, whatever the recovery of losses."""
    if world.settings[0].selective > 0:
        return under_way(world, c, connection)
    return connection.next - connection.acked


@part
def has_work(world, c, connection):
    """It has a packet to send again, or one that was never sent and fits into the window of both ends."""
    repair = world.repairs[c]
    if repair.lost > 0:
        return True
    return connection.next < min(connection.stop, connection.acked + repair.limit)


@inner
def is_held(world, c, connection):
    """The recovery's window alone keeps it from sending."""
    repair = world.repairs[c]
    if repair.lost > 0 or connection.next == connection.stop or connection.next < connection.acked + repair.limit:
        return False
    return under_way(world, c, connection) < connection.cwnd >> 16


@inner
def may_send_some(world, c, connection):
    """The congestion window bounds what is under way."""
    return has_work(world, c, connection) and under_way(world, c, connection) < connection.cwnd >> 16


@inner
def awaits(world, c, connection):
    """It waits for an answer, or (receiver-driven) for the pull that it needs to go on."""
    if under_way(world, c, connection) > 0:
        return True
    return connection.control == NDP and has_work(world, c, connection) and connection.cwnd >> 16 == 0


@inner
def is_here(world, c, connection, sequence):
    """Whether the receiver has this packet."""
    if sequence < connection.expected:
        return True
    if (sequence >> WORD) - (connection.expected >> WORD) > world.repairs[c].here_mask:
        return False
    word, bit = bit_of(world, c, sequence)
    return world.places[word] & bit != 0
