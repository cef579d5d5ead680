"""REPS: recycled entropies (Bonato et al., "REPS: Recycled Entropy Packet Spraying", 2024, algorithms 1 and 2).

A packet carries an entropy, which with its connection decides its path at every switch; its ACK brings it back. What
comes back without a mark is kept and used once more, the oldest first; what was marked is forgotten. Where nothing is
kept, at first among others, an entropy is drawn. Of CACHE kept ones the oldest gives way. Not here: the paper's
freezing mode, which after a time-out uses old entropies again.
"""

import numpy as np

from netsim.core.random import thirty_bits
from netsim.core.tables import CACHE
from netsim.kernel import inner

ENTROPY_BITS = 16  # a UDP source port
DRAWN = 4 << 32  # keeps these draws apart from others


@inner
def next_entropy(world, c):
    """The entropy of the data packet that connection c sends now."""
    settings, way = world.settings[0], world.ways[c]
    if way.fresh > 0:
        entropy = np.int64(world.cache[c * CACHE + (way.kept - way.fresh) % CACHE])
        way.fresh -= np.uint32(1)
        return entropy
    return thirty_bits(settings.seed, DRAWN + c, world.connections[c].injected) % settings.entropies


@inner
def end_entropy(world, c, place, marked):
    """An ACK, noted at `place`, brings an entropy back."""
    way = world.ways[c]
    if not marked:
        world.cache[c * CACHE + way.kept % CACHE] = world.notes[place].entropy
        way.kept += 1
        way.fresh = np.uint32(min(np.int64(way.fresh) + 1, CACHE))
