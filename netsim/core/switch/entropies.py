"""REPS: recycled entropies (Bonato et al., "REPS: Recycled Entropy Packet Spraying", 2024, algorithms 1 and 2).

A packet carries an entropy, which with its connection decides its path at every switch; its ACK brings it back. What
comes back without a mark is kept and used once more, the oldest first; what was marked is forgotten. Where nothing is
kept, at first among others, an entropy is drawn. Of CACHE kept ones the oldest gives way. Not here: the paper's
freezing mode, which after a time-out uses old entropies again.
"""

import numpy as np

from netsim.core.state.dtypes import CACHE
from netsim.kernel import inner
from netsim.kernel.rng import thirty_bits

ENTROPY_BITS = 16  # a UDP source port
DRAWN = 4 << 32  # keeps these draws apart from others


@inner
def next_entropy(world, connection_id):
    """The entropy of the data packet that connection c sends now."""
    settings, segment = world.settings[0], world.spray_segments[connection_id]
    if segment.unused_entropies > 0:
        entropy = np.int64(
            world.entropy_cache[connection_id * CACHE + (segment.cached_entropies - segment.unused_entropies) % CACHE]
        )
        segment.unused_entropies -= np.uint32(1)
        return entropy
    return (
        thirty_bits(settings.seed, DRAWN + connection_id, world.connections[connection_id].injected)
        % settings.entropies
    )


@inner
def end_entropy(world, connection_id, pool_index, marked):
    """An ACK, with metadata at `pool_index`, brings an entropy back."""
    segment = world.spray_segments[connection_id]
    if not marked:
        world.entropy_cache[connection_id * CACHE + segment.cached_entropies % CACHE] = world.packet_metadata[
            pool_index
        ].entropy
        segment.cached_entropies += 1
        segment.unused_entropies = np.uint32(min(np.int64(segment.unused_entropies) + 1, CACHE))
