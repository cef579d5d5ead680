"""A switch whose ports share one memory: how much a queue may take of it.

Choudhury and Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches", IEEE/ACM Transactions on
Networking 6 (1998): at most alpha times what is then left. With flow control the accounts per ingress take the place of
the queues, as in the DCQCN paper (section 4): what an account holds above its share, or above XOFF, stands in the
headroom of that ingress, which is apart from the pool; while anything stands there, the sender is stopped.
"""

import numpy as np

from netsim.core.state.packet_pool import insert_into_inbox
from netsim.kernel import inner
from netsim.queues.disciplines.shared_buffer import ALPHA, share


@inner
def take_room(pool, wire_bytes):
    pool.taken += wire_bytes
    pool.fullest = max(pool.fullest, pool.taken)


@inner
def change_pool(world, node_id, key, wire_bytes):
    """Bytes come to a switch whose egresses run one after the other, or leave it (below 0). key: as record_event's."""
    pool = world.pools[node_id]
    if pool.room > 0:
        pool.taken += wire_bytes
        if pool.watched:
            insert_into_inbox(world, world.pool_events[0], key, wire_bytes, 0, 0)


@inner
def find_fullest(world, node_id):
    """After a visit in which the buffer was watched: how full was it, with all that happened in order of time?"""
    pool, events = world.pools[node_id], world.pool_events[0]
    taken = np.int64(pool.taken)
    for k in range(events.start, events.start + events.tail):
        taken -= world.packet_pool[k].header
    for k in range(events.start, events.start + events.tail):
        taken += world.packet_pool[k].header
        if world.packet_pool[k].header > 0:
            pool.fullest = max(pool.fullest, taken)
    events.tail, pool.watched = 0, 0


@inner
def admit_to_pool(world, ingress, wire_bytes):
    """Take a packet into account in pool or headroom; False if there is no room for it in both together."""
    pfc, link = world.pfc_state[ingress], world.links[ingress]
    pool = world.pools[link.target]
    inside = pfc.ingress_occupancy - pfc.headroom_occupancy
    room = world.settings[0].xoff - inside
    if pool.room > 0:
        room = min(room, share(world.settings[0].queues.shared_buffer, pool, inside))
    fits = min(max(room, 0), wire_bytes)
    if pfc.headroom_occupancy + wire_bytes - fits > world.link_classes[link.link_class].headroom:
        return False
    pfc.headroom_occupancy += wire_bytes - fits
    take_room(pool, fits)
    return True


@inner
def release_from_pool(world, ingress, wire_bytes):
    """The last bit of a packet has left: what stood in the headroom goes first."""
    pfc = world.pfc_state[ingress]
    from_headroom = min(pfc.headroom_occupancy, wire_bytes)
    pfc.headroom_occupancy -= from_headroom
    world.pools[world.links[ingress].target].taken -= wire_bytes - from_headroom


@inner
def resume_threshold(world, ingress):
    """What an account may hold when its sender goes on: as far below what it may hold at all as XON is below XOFF."""
    settings, pool = world.settings[0], world.pools[world.links[ingress].target]
    if pool.room == 0:
        return settings.xon
    most = settings.queues.shared_buffer.alpha * (pool.room - pool.taken) >> ALPHA
    return max(0, min(settings.xoff, most) - settings.xoff + settings.xon)
