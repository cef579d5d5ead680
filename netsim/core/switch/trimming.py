"""A switch that cuts a data packet for which it has no room to its header, as in NDP and Ultra Ethernet.

Handley et al., "Re-architecting datacenter networks and stacks for low latency and high performance", SIGCOMM 2017,
section 3.1: the header goes into the control class, ahead of data, so that the receiver soon knows what is missing.
A coin decides whether the packet that arrives is cut or the last in the queue: without it senders that keep step with
each other lose always or never (ibid.).
"""

import numpy as np

from netsim.core.link.drops import drop
from netsim.core.observe.packet_trace import REFUSED, trace_packet
from netsim.core.state.packet_header import BYTES, TRIMMED, bytes_of, is_ack, without_ingress
from netsim.core.state.packet_metadata import carry_metadata, tail_index
from netsim.core.state.packet_pool import append, length
from netsim.core.state.rng import thirty_bits
from netsim.kernel import inner

COINS = 1 << 41  # added to the number of a row: its coins, its marks and its losses are drawn apart


@inner
def drop_at_queue(world, link_id, header, meta, now):
    """A packet finds no room in the queue of its class, row l."""
    if world.settings[0].tracing:
        trace_packet(world, np.uint32(link_id % world.settings[0].ports), now, REFUSED, header, meta)
    drop(world, link_id, header, meta)


@inner
def enqueue_control(world, link_id, header, meta, now, pool_index):
    """An ACK or a trimmed header joins the control class of an egress, which has a limit of its own."""
    link = world.links[link_id]
    if link.control_backlog + bytes_of(meta) > world.link_classes[link.link_class].control_room:
        drop_at_queue(world, link_id, header, meta, now)
        return
    link.control_backlog += bytes_of(meta)
    link.free_at = max(link.free_at, now)
    append(world, link.control, now, header, meta)
    if world.settings[0].timestamped:
        carry_metadata(world, pool_index, link.control)


@inner
def refuse(world, link_id, header, meta, now, pool_index):
    """There is no room for a packet in the queue of its class, row l: it is cut to its header, or dropped."""
    if not world.settings[0].trim or is_ack(meta):
        drop_at_queue(world, link_id, header, meta, now)
        return
    trim(world, link_id, header, meta, now, pool_index)


@inner
def trim_for(world, link_id, header, meta, now, pool_index):
    """A packet finds no room: the last in the queue is cut in its favour (True), or it is cut itself, or dropped."""
    if world.settings[0].trim_last > 0 and replaces_last(world, link_id, bytes_of(meta)):
        return True
    refuse(world, link_id, header, meta, now, pool_index)
    return False


@inner
def trim(world, link_id, header, meta, came_at, pool_index):
    """A packet is left as its header."""
    world.pfc_state[link_id].trims += 1
    payload = bytes_of(meta) - world.settings[0].header_bytes
    header_bytes = meta - (payload << BYTES) | TRIMMED
    enqueue_control(world, np.uint32(link_id % world.settings[0].ports), header, header_bytes, came_at, pool_index)


@inner
def replaces_last(world, link_id, wire_bytes):
    """Whether a data packet that finds no room in row l gets that of the last in the queue, which is then cut.

    One that is being sent is not cut, nor one that is smaller than the packet that comes.
    """
    link = world.links[link_id]
    if length(link.payload) == 0:
        return False
    pool_index = tail_index(link.payload)
    header, meta, came_at = (
        world.packet_pool[pool_index].header,
        world.packet_pool[pool_index].meta,
        world.packet_pool[pool_index].at,
    )
    drawn = thirty_bits(world.settings[0].seed, np.int64(link_id) + COINS, world.pfc_state[link_id].trims)
    if bytes_of(meta) < wire_bytes or drawn >= world.settings[0].trim_last:
        return False
    link.payload.tail -= 1
    link.backlog -= bytes_of(meta)
    if world.pools[link.source].room > 0:
        world.pools[link.source].taken -= bytes_of(meta)
    trim(world, link_id, header, without_ingress(meta), came_at, pool_index)
    return True
