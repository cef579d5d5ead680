"""Per-packet routing: which of the equally short links a switch sends a packet on, decided as it comes.

It is for the network between servers. The first link, of the host's NIC, and what lies inside a server, the way to a
PXN relay among it, are those of the connection's route. ACKs are steered like data, each by itself: in NDP they take
paths of their own, in Ultra Ethernet's htsim that of the entropy they echo.

spray: by lot, per packet, or every switch takes the links of a group in turn. flowlet: by lot, again whenever its
connection has paused for longer than a gap at that switch (LetFlow, NSDI 2017, section 3). adaptive: the link with
fewest bytes waiting, equal ones by lot. reps: by the hash of the entropy a packet carries (see core/entropies.py).
"""

import numpy as np

from netsim.core.classes import waiting_bytes
from netsim.core.entropies import ENTROPY_BITS
from netsim.core.packet_header import connection_of, is_ack, next_hop
from netsim.core.random import thirty_bits
from netsim.kernel import inner, part

MODES = {"spray": 1, "flowlet": 2, "adaptive": 3, "reps": 4}
FLOWLET, ADAPTIVE, REPS = MODES["flowlet"], MODES["adaptive"], MODES["reps"]
LOT, SLOT, PATH = 1 << 32, 2 << 32, 3 << 32  # keep draws apart; those for marks are keyed by link and packet too


@part
def lot(world, ingress):
    """A draw for the packet that has just come by this link: its number among all that did is its key."""
    return thirty_bits(world.settings[0].seed, LOT + np.int64(ingress), world.links[ingress].wire.head)


@inner
def steered(world, ingress, l, name, content, now, place):
    """The link for a packet that came by `ingress` and is noted at `place`; `l` is that of its connection's route."""
    way = world.ways[connection_of(name)]
    ack = is_ack(content)
    if next_hop(content) + ack <= way.outward:
        return l  # inside a server
    settings = world.settings[0]
    switch = np.int64(world.links[ingress].target) - settings.hosts
    group = world.groups[world.group_of[switch * settings.hosts + (way.source if ack else way.target)]]
    count = np.int64(group.count)
    if count == 1:
        pick = 0
    elif settings.steering == ADAPTIVE:
        pick = least_loaded(world, group, lot(world, ingress))
    elif settings.steering == FLOWLET:
        pick = flowlet(world, switch, 2 * connection_of(name) + ack, lot(world, ingress), now) % count
    elif settings.steering == REPS:
        key = (connection_of(name) << ENTROPY_BITS) + np.int64(world.notes[place].entropy)
        pick = thirty_bits(settings.seed, PATH + 2 * switch + ack, key) % count
    elif settings.in_turn:
        pick = group.turn
        group.turn = (pick + 1) % count
    else:
        pick = lot(world, ingress) % count
    return world.group_links[group.first + pick]


@inner
def least_loaded(world, group, drawn):
    """The link of a group with the fewest bytes waiting or being sent, of all classes; equal ones by lot."""
    count, least, alike = np.int64(group.count), np.int64(0), np.int64(0)
    for i in range(count):
        load = waiting_bytes(world, world.group_links[group.first + i])
        if alike == 0 or load < least:
            least, alike = load, 1
        elif load == least:
            alike += 1
    rest = drawn % alike
    for i in range(count):
        if waiting_bytes(world, world.group_links[group.first + i]) == least:
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
