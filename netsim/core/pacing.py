"""Connections that must wait before their next packet are parked at their NIC, the first to be ready first."""

from netsim.core.rings import append, first_at, hold, insert_sorted, length
from netsim.kernel import inner, part


@inner
def park(world, l, c, ready_at):
    """Insert by the time it is ready; among equals the one parked earlier stays first."""
    insert_sorted(world, world.gates[l].parked, ready_at, c, False)


@inner
def unpark(world, l, now):
    """Those that are ready by now take their place in the round robin; 1 in their state tells them from the others."""
    ring = world.gates[l].parked
    while length(ring) and first_at(world.packet_pool, hold(ring)) <= now:
        parked = world.packet_pool[ring.start + (ring.head & ring.mask)]
        c, ready_at = parked.label, parked.at
        ring.head += 1
        append(world, world.links[l].turns, ready_at, c, 1)


@part
def next_ready(world, l):
    """When the first parked connection is ready, or NEVER."""
    return first_at(world.packet_pool, hold(world.gates[l].parked))
