"""Jitter of a NIC: what it sends reaches the far end of its first link a little late, every packet by another time.

Equal senders without it stay in step for ever, and a full queue refuses the packets of always the same one: Floyd and
Jacobson, "On Traffic Phase Effects in Packet-Switched Gateways" (1992), where a random time of up to that of one packet
makes an end of it. The NIC keeps its schedule, so that jitter takes no rate and does not add up; the order stays. It
grows with the message: its n-th packet has n/128 of the jitter, so that no message takes 1 % longer than it would.
"""

import numpy as np

from netsim.core.messages import packets_in
from netsim.core.random import thirty_bits
from netsim.core.rings import length
from netsim.kernel import inner, part

NICS = 1 << 41  # added to a link's number: keeps these draws apart from those of losses and marks
DRAWN = 20  # binary digits of a draw that are used
GROWS = 7  # after 2^7 packets of a message jitter is whole


@part
def packets_before(world, m, connection, sequence):
    """How many packets of its message come before that one."""
    message = world.messages[m]
    return sequence - (message.end - packets_in(message.bytes, connection.payload))


@inner
def lateness(world, l, link, time, before, at):
    """By how many ps the packet is late that takes `time` ps to send and would arrive at `at`: less than its jitter.

    The draw is that of the link's n-th packet in all; `before` packets of its message went before it. No packet
    overtakes the one before it, ACKs among them.
    """
    kind = world.kinds[link.kind]
    drawn = thirty_bits(world.settings[0].seed, np.int64(l) + NICS, link.wire.tail + link.lost) >> (30 - DRAWN)
    late = ((time * kind.jitter >> 16) * min(before, 1 << GROWS) >> GROWS) * drawn >> DRAWN
    if length(link.wire):
        previous = world.packet_pool[link.wire.start + ((link.wire.tail - 1) & link.wire.mask)].at
        late = max(late, previous - at)
    return late
