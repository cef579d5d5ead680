"""Selective repeat: what both ends of a connection know of each packet in its window, and what follows from it.

The sender keeps a number per packet beyond `acked`, transmission << 3 | GOT | LOST | AGAIN, the receiver one bit per
packet beyond `expected`. Both lie in blocks of `sack_scoreboard`, which double when a packet finds no entry: packet s
has entry s mod their size. So the window has no limit but the one that is set.
"""

import numpy as np

from netsim.core.state.packet_pool import size_class
from netsim.kernel import inner, part

AGAIN, GOT, LOST = 1, 2, 4  # sent more than once; known to have arrived; to be retransmitted
ORDER = 3  # binary digits of these
FIRST_SCOREBOARD, WORD = 16, 5  # entries of a new connection's sender; a receiver's block is of words of 2^5 bits
SCOREBOARD_PER_USED = 4  # entries that a visit to a node may need for each in use, while blocks double


@part
def scoreboard_index(world, connection_id, sequence):
    """Where the sender of connection c keeps what it knows of a packet."""
    sack = world.sack_state[connection_id]
    return sack.start + (sequence & sack.mask)


@part
def bitmap_bit(world, connection_id, sequence):
    """Where the receiver of connection c keeps whether it has a packet: word and bit."""
    sack = world.sack_state[connection_id]
    return sack.bitmap_start + ((sequence >> WORD) & sack.bitmap_mask), np.uint32(1 << (sequence & ((1 << WORD) - 1)))


@inner
def take_scoreboard_block(world, size):
    """A block of `size` = 2^k zeros: a used one if there is one, else a new one."""
    k = size_class(size)
    block = world.scoreboard_blocks[k]
    if block >= 0:  # a free block holds 1 + the number of the next one
        world.scoreboard_blocks[k] = np.int64(world.sack_scoreboard[block]) - 1
    else:
        progress = world.progress[0]
        block = progress.scoreboard_used
        progress.scoreboard_used += size
        if progress.scoreboard_used > world.sack_scoreboard.size:
            raise MemoryError("no room in the scoreboard")
    for i in range(size):
        world.sack_scoreboard[block + i] = 0
    return block


@inner
def give_scoreboard_block(world, start, size):
    k = size_class(size)
    world.sack_scoreboard[start] = world.scoreboard_blocks[k] + 1
    world.scoreboard_blocks[k] = start


@inner
def grow_scoreboard(world, connection_id, connection):
    """Twice as many entries for what the sender knows."""
    sack = world.sack_state[connection_id]
    size = sack.mask + 1
    block = take_scoreboard_block(world, 2 * size)
    for s in range(connection.acked, connection.next):
        world.sack_scoreboard[block + (s & (2 * size - 1))] = world.sack_scoreboard[sack.start + (s & sack.mask)]
    give_scoreboard_block(world, sack.start, size)
    sack.start, sack.mask = block, 2 * size - 1


@inner
def grow_bitmap(world, connection_id, connection):
    """Twice as many bits for what the receiver has."""
    sack = world.sack_state[connection_id]
    size = sack.bitmap_mask + 1
    block = take_scoreboard_block(world, 2 * size)
    first = connection.expected >> WORD
    for w in range(first, first + size):
        world.sack_scoreboard[block + (w & (2 * size - 1))] = world.sack_scoreboard[
            sack.bitmap_start + (w & sack.bitmap_mask)
        ]
    give_scoreboard_block(world, sack.bitmap_start, size)
    sack.bitmap_start, sack.bitmap_mask = block, 2 * size - 1


@part
def packets_in_flight(world, connection_id, connection):
    """Packets sent that are not known to have arrived or taken for lost."""
    sack = world.sack_state[connection_id]
    return connection.next - connection.acked - sack.got - sack.lost


@part
def outstanding(world, connection_id, connection):
    """Packets under way, whatever the recovery of losses."""
    if world.settings[0].selective > 0:
        return packets_in_flight(world, connection_id, connection)
    return connection.next - connection.acked


@part
def has_work(world, connection_id, connection):
    """It has a packet to retransmit, or one that was never sent and fits into the window of both ends."""
    sack = world.sack_state[connection_id]
    if sack.lost > 0:
        return True
    return connection.next < min(connection.stop, connection.acked + sack.limit)


@inner
def is_held(world, connection_id, connection):
    """The recovery's window alone keeps it from sending."""
    sack = world.sack_state[connection_id]
    if sack.lost > 0 or connection.next == connection.stop or connection.next < connection.acked + sack.limit:
        return False
    return packets_in_flight(world, connection_id, connection) < connection.cwnd >> 16


@inner
def may_send_some(world, connection_id, connection):
    """The congestion window bounds what is under way."""
    return (
        has_work(world, connection_id, connection)
        and packets_in_flight(world, connection_id, connection) < connection.cwnd >> 16
    )


@inner
def awaits(world, connection_id, connection):
    """It waits for an answer, or (receiver-driven) for the pull that it needs to go on."""
    if packets_in_flight(world, connection_id, connection) > 0:
        return True
    if not world.settings[0].receiver_credit:
        return False
    return has_work(world, connection_id, connection) and connection.cwnd >> 16 == 0


@inner
def has_packet(world, connection_id, connection, sequence):
    """Whether the receiver has this packet."""
    if sequence < connection.expected:
        return True
    if (sequence >> WORD) - (connection.expected >> WORD) > world.sack_state[connection_id].bitmap_mask:
        return False
    word, bit = bitmap_bit(world, connection_id, sequence)
    return world.sack_scoreboard[word] & bit != 0
