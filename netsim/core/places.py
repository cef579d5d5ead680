"""Selective repeat: what both ends of a connection know of each packet in its window, and what follows from it.

A window holds `settings.selective` packets, a power of two; packet s has place s mod that. The sender keeps a number
per place, transmission << 3 | GOT | LOST | AGAIN, the receiver one bit.
"""

from netsim.kernel import inner, part
from netsim.transport.states import CODES

AGAIN, GOT, LOST = 1, 2, 4  # sent more than once; known to have arrived; to be sent again
ORDER = 3  # binary digits of these
NDP = CODES["ndp"]


@part
def place_of(world, c, sequence):
    """Where the sender of connection c keeps what it knows of a packet."""
    size = world.settings[0].selective
    return c * size + (sequence & (size - 1))


@part
def bit_of(world, c, sequence):
    """Where the receiver of connection c keeps whether it has a packet: byte and bit."""
    place = place_of(world, c, sequence)
    return place >> 3, 1 << (place & 7)


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
    if world.repairs[c].lost > 0:
        return True
    return connection.next < min(connection.stop, connection.acked + world.settings[0].selective)


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
    byte, bit = bit_of(world, c, sequence)
    return world.here[byte] & bit != 0
