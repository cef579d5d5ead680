"""A packet finds no room: the disciplines of its queue say whether it is dropped, cut to its header, or takes a place.

A header goes into the control class, ahead of data.
"""

import numpy as np

from netsim.core.link.drops import drop
from netsim.core.observe.packet_trace import REFUSED, trace_packet
from netsim.core.state.packet_header import BYTES, TRIMMED, bytes_of, is_ack, without_ingress
from netsim.core.state.packet_metadata import carry_metadata, tail_index
from netsim.core.state.packet_pool import append, length
from netsim.kernel import inner
from netsim.queues import dispatch
from netsim.queues.verdicts import TRIM, TRIM_LAST


@inner
def drop_at_queue(world, row, header, meta, now):
    """A packet finds no room in the queue of its class."""
    if world.settings[0].tracing:
        trace_packet(world, np.uint32(row % world.settings[0].ports), now, REFUSED, header, meta)
    drop(world, row, header, meta)


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
def trim(world, row, header, meta, came_at, pool_index):
    """A packet is left as its header."""
    world.pfc_state[row].trims += 1
    payload = bytes_of(meta) - world.settings[0].header_bytes
    header_bytes = meta - (payload << BYTES) | TRIMMED
    enqueue_control(world, np.uint32(row % world.settings[0].ports), header, header_bytes, came_at, pool_index)


@inner
def trim_last(world, row):
    """The last packet of a queue is left as its header."""
    link, pool_index = world.links[row], tail_index(world.links[row].payload)
    packet = world.packet_pool[pool_index]
    came_at, header, meta = packet.at, packet.header, packet.meta
    link.payload.tail -= 1
    link.backlog -= bytes_of(meta)
    if world.pools[link.source].room > 0:
        world.pools[link.source].taken -= bytes_of(meta)
    trim(world, row, header, without_ingress(meta), came_at, pool_index)


@inner
def make_room(world, row, header, meta, now, pool_index, may_replace):
    """A packet finds no room: True if the last in the queue is cut in its favour; else it is cut itself, or dropped.

    may_replace: flow control does not rule the queue.
    """
    settings, ring, answer = world.settings[0], world.links[row].payload, np.int64(0)
    if settings.disciplined and not is_ack(meta):
        last_bytes = bytes_of(world.packet_pool[tail_index(ring)].meta) if may_replace and length(ring) else 0
        trims, state = world.pfc_state[row].trims, world.queue_state[row]
        answer = dispatch.on_full(settings, state, last_bytes, bytes_of(meta), settings.seed, row, trims)
    if answer == TRIM_LAST:
        trim_last(world, row)
    elif answer == TRIM:
        trim(world, row, header, meta, now, pool_index)
    else:
        drop_at_queue(world, row, header, meta, now)
    return answer == TRIM_LAST
