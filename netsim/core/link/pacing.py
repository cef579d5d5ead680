"""Connections that must wait before their next packet wait in its paced queue, the first to be ready first."""

from netsim.core.state.packet_pool import append, first_at, insert_sorted, length, load_ring
from netsim.kernel import inner, part


@inner
def enqueue_paced(world, link_id, connection_id, ready_at):
    """Insert by the time it is ready; among equals the one that came earlier stays first."""
    insert_sorted(world, world.pfc_state[link_id].paced_queue, ready_at, connection_id, False)


@inner
def dequeue_paced(world, link_id, now):
    """Those that are ready by now take their place in the round robin; 1 in their meta tells them from the others."""
    ring = world.pfc_state[link_id].paced_queue
    while length(ring) and first_at(world.packet_pool, load_ring(ring)) <= now:
        first = world.packet_pool[ring.start + (ring.head & ring.mask)]
        connection_id, ready_at = first.header, first.at
        ring.head += 1
        append(world, world.links[link_id].send_ring, ready_at, connection_id, 1)


@part
def next_paced(world, link_id):
    """When the first paced connection is ready, or NEVER."""
    return first_at(world.packet_pool, load_ring(world.pfc_state[link_id].paced_queue))
