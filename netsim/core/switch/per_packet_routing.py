"""Per-packet routing: which of the equally short links a switch sends a packet on, decided as it comes.

It is for the network between servers. The first link, of the host's NIC, and what lies inside a server, the way to a
PXN relay among it, are those of the connection's route. ACKs are routed like data, each by itself: in NDP they take
paths of their own, in Ultra Ethernet's htsim that of the entropy they echo.

spray: at random, per packet, or every switch takes the links of a group in turn. flowlet: at random, again whenever
its connection has paused for longer than a gap at that switch (LetFlow, NSDI 2017, section 3). adaptive: the link with
fewest bytes waiting, equal ones at random. reps: by the hash of the entropy a packet carries (see entropies.py).
"""

import numpy as np

from netsim.core.link.priorities import waiting_bytes
from netsim.core.state.packet_header import connection_of, is_ack, next_hop
from netsim.core.switch.entropies import ENTROPY_BITS
from netsim.kernel import inner, part
from netsim.kernel.rng import thirty_bits

MODES = {"spray": 1, "flowlet": 2, "adaptive": 3, "reps": 4}
FLOWLET, ADAPTIVE, REPS = MODES["flowlet"], MODES["adaptive"], MODES["reps"]
RANDOM, SLOT, PATH = 1 << 32, 2 << 32, 3 << 32  # keep draws apart; those for marks are keyed by link and packet too


@part
def random_draw(world, ingress):
    """A draw for the packet that has just come by this link: its number among all that did is its key."""
    return thirty_bits(world.settings[0].seed, RANDOM + np.int64(ingress), world.links[ingress].in_flight.head)


@inner
def pick_link(world, ingress, link_id, header, meta, now, pool_index):
    """The link for a packet that came by `ingress`; `link_id` is that of its connection's route.

    pool_index: of its metadata.
    """
    segment = world.spray_segments[connection_of(header)]
    ack = is_ack(meta)
    if next_hop(meta) + ack <= segment.outward:
        return link_id  # inside a server
    settings = world.settings[0]
    switch = np.int64(world.links[ingress].target) - settings.hosts
    group = world.ecmp_groups[
        world.ecmp_group_of[switch * settings.hosts + (segment.source if ack else segment.target)]
    ]
    count = np.int64(group.count)
    if count == 1:
        pick = 0
    elif settings.per_packet_routing == ADAPTIVE:
        pick = least_loaded(world, group, random_draw(world, ingress))
    elif settings.per_packet_routing == FLOWLET:
        pick = flowlet(world, switch, 2 * connection_of(header) + ack, random_draw(world, ingress), now) % count
    elif settings.per_packet_routing == REPS:
        key = (connection_of(header) << ENTROPY_BITS) + np.int64(world.packet_metadata[pool_index].entropy)
        pick = thirty_bits(settings.seed, PATH + 2 * switch + ack, key) % count
    elif settings.in_turn:
        pick = group.turn
        group.turn = (pick + 1) % count
    else:
        pick = random_draw(world, ingress) % count
    return world.ecmp_links[group.first + pick]


@inner
def least_loaded(world, group, drawn):
    """The link of a group with the fewest bytes waiting or being sent, of all classes; equal ones at random."""
    count, least, equal = np.int64(group.count), np.int64(0), np.int64(0)
    for i in range(count):
        load = waiting_bytes(world, world.ecmp_links[group.first + i])
        if equal == 0 or load < least:
            least, equal = load, 1
        elif load == least:
            equal += 1
    rest = drawn % equal
    for i in range(count):
        if waiting_bytes(world, world.ecmp_links[group.first + i]) == least:
            if rest == 0:
                return i
            rest -= 1
    return count - 1  # never reached


@inner
def flowlet(world, switch, key, drawn, now):
    """The draw of a connection's flowlet at a switch: a new one if nothing of it came by for longer than the gap.

    The table has a fixed size, as a switch's has: connections with the same slot share their flowlets.
    """
    settings = world.settings[0]
    slot = thirty_bits(settings.seed, SLOT, key) % settings.slots
    row = world.flowlets[switch * settings.slots + slot]
    if now - row.at > settings.gap:
        row.drawn = drawn
    row.at = now
    return row.drawn
