"""Jitter of a NIC: what it sends reaches the far end of its first link a little late, every packet by another time.

Equal senders without it stay in step for ever, and a full queue refuses the packets of always the same one: Floyd and
Jacobson, "On Traffic Phase Effects in Packet-Switched Gateways" (1992), where a random time of up to that of one packet
makes an end of it. The NIC keeps its schedule, so that jitter takes no rate and does not add up; the order stays. It
grows with the message: its n-th packet has n/128 of the jitter, so that no message takes 1 % longer than it would.
"""

import numpy as np

from netsim.core.state.packet_pool import length
from netsim.core.state.packet_sizes import packets_in
from netsim.kernel import inner, part
from netsim.kernel.rng import thirty_bits

NICS = 1 << 41  # added to a link's number: keeps these draws apart from those of losses and marks
DRAWN = 20  # binary digits of a draw that are used
GROWS = 7  # after 2^7 packets of a message jitter is whole


@part
def packets_before(world, message_id, connection, sequence):
    """How many packets of its message come before that one."""
    message = world.messages[message_id]
    return sequence - (message.end - packets_in(message.bytes, connection.payload))


@inner
def jitter_of(world, link_id, link, time, before, at):
    """By how many ps the packet is late that takes `time` ps to send and would arrive at `at`: less than its jitter.

    The draw is that of the link's n-th packet in all; `before` packets of its message went before it. No packet
    overtakes the one before it, ACKs among them.
    """
    link_class = world.link_classes[link.link_class]
    drawn = thirty_bits(world.settings[0].seed, np.int64(link_id) + NICS, link.in_flight.tail + link.lost) >> (
        30 - DRAWN
    )
    late = ((time * link_class.jitter >> 16) * min(before, 1 << GROWS) >> GROWS) * drawn >> DRAWN
    if length(link.in_flight):
        previous = world.packet_pool[link.in_flight.start + ((link.in_flight.tail - 1) & link.in_flight.mask)].at
        late = max(late, previous - at)
    return late
