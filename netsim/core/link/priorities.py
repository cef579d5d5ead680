"""Several classes of traffic at every link: each has its queue, its marks, its pauses.

Which class comes next is for a queue discipline to say (netsim/queues), with control above all; PAUSE and RESUME are
for one class of a link (IEEE 802.1Qbb). Class k of link l has row l + k * settings.ports of `links` and `pfc_state`:
there are its queue, send ring, accounts and counters, and, as `free_at`, since when it has had something to send. What
a link has once is in row l: its wire, its control class and until when it sends. Two links of a cable are l and l ^ 1
in every class.
"""

import numpy as np

from netsim.core.link.pacing import dequeue_paced, next_paced
from netsim.core.state.dtypes import NEVER
from netsim.core.state.packet_header import bytes_of, connection_of
from netsim.core.state.packet_pool import first, first_at, length, load_ring
from netsim.kernel import inner, part
from netsim.queues import dispatch


@inner
def class_offset(world, header):
    """How far the rows of a packet's class lie above those of links: a connection stands in a row of its class."""
    ports = world.settings[0].ports
    return np.int64(world.connections[connection_of(header)].egress) // ports * ports


@part
def next_signal(world, link_id):
    """When the next PAUSE or RESUME reaches the sender of a link, for the class whose row this is."""
    return first_at(world.packet_pool, load_ring(world.pfc_state[link_id].signals))


@part
def first_signal(world, link_id):
    """When the next PAUSE or RESUME of any class reaches the sender of a link, and the row of that class."""
    soonest, row = next_signal(world, link_id), np.int64(link_id)
    for k in range(1, world.settings[0].classes):
        at = next_signal(world, link_id + k * world.settings[0].ports)
        if at < soonest:
            soonest, row = at, link_id + k * world.settings[0].ports
    return soonest, np.uint32(row)


@inner
def next_start(world, link_id):
    """When a link can next begin to send, by what waits there and is not stopped; NEVER if nothing is."""
    settings, link = world.settings[0], world.links[link_id]
    soonest = link.free_at if length(link.control) else NEVER
    for k in range(settings.classes):
        row = link_id + k * settings.ports
        if world.pfc_state[row].paused:
            continue
        queue = world.links[row]
        if length(queue.payload) or length(queue.send_ring):
            soonest = min(soonest, max(link.free_at, queue.free_at))
        elif settings.paced:
            soonest = min(soonest, max(max(link.free_at, queue.free_at), next_paced(world, row)))
    return soonest


@inner
def next_end_or_start(world, link_id):
    """The same at a switch, where a packet gives up its room at the moment its last bit has left."""
    link = world.links[link_id]
    if world.links[world.pfc_state[link_id].leaving_row].leaving + link.control_leaving:
        return link.free_at
    return next_start(world, link_id)


@part
def head_bytes(world, row):
    """Bytes of the packet that a class would send, 0 if none: of a NIC's own connection those of a full packet."""
    queue = world.links[row]
    if world.pfc_state[row].paused:
        return np.int64(0)
    if length(queue.payload) and not (queue.round_robin_own_next and length(queue.send_ring)):
        return max(1, bytes_of(first(world.packet_pool, load_ring(queue.payload)).meta))
    return world.settings[0].max_packet_bytes if length(queue.send_ring) else np.int64(0)


@inner
def next_row(world, link_id):
    """The row of the class that a link sends next, or the link's own if none may."""
    settings, most = world.settings[0], np.int64(0)
    for k in range(settings.classes):
        world.head_bytes[k] = head_bytes(world, link_id + k * settings.ports)
        most = max(most, world.head_bytes[k])
    if most == 0:
        return np.int64(link_id)
    k = dispatch.next_class(settings, world.queue_state, np.int64(link_id), settings.ports, world.head_bytes)
    return link_id + k * settings.ports


@inner
def finish_passing(world, link_id):
    """The last bit of a packet that passes through a host has left."""
    left = world.links[world.pfc_state[link_id].leaving_row]
    left.backlog -= left.leaving
    left.leaving = 0


@inner
def begin_class_turn(world, link_id, now):
    """A NIC with something to send begins to: the row of the class whose turn it is."""
    settings, link = world.settings[0], world.links[link_id]
    finish_passing(world, link_id)
    link.free_at = max(link.free_at, now)
    if settings.paced:
        for k in range(settings.classes):
            dequeue_paced(world, link_id + k * settings.ports, now)
    row = np.int64(link_id) if length(link.control) else next_row(world, link_id)
    world.pfc_state[link_id].leaving_row = row
    return row


@inner
def waiting_bytes(world, link_id):
    """All that waits at a link or is being sent, in every class."""
    link = world.links[link_id]
    total = link.backlog + link.control_backlog
    for k in range(1, world.settings[0].classes):
        total += world.links[link_id + k * world.settings[0].ports].backlog
    return total
