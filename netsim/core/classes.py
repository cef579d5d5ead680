"""Several classes of traffic at every link: each has its queue, its marks, its pauses; the highest that may send does.

Strict priority as in IEEE 802.1Q (8.6.8.1), with control above all; PAUSE and RESUME are for one class of a link
(IEEE 802.1Qbb). Class k of link l has row l + k * settings.ports of `links` and `gates`: there are its queue, turns,
accounts and counters, and, as `free_at`, since when it has had something to send. What a link has once is in row l: its
wire, its control class and until when it sends. Two links of a cable are l and l ^ 1 in every class.
"""

import numpy as np

from netsim.core.pacing import next_ready, unpark
from netsim.core.packet_header import connection_of
from netsim.core.rings import first_at, hold, length
from netsim.core.tables import NEVER
from netsim.kernel import inner, part


@inner
def above(world, label):
    """How far the rows of a packet's class lie above those of links: a connection stands in a row of its class."""
    ports = world.settings[0].ports
    return np.int64(world.connections[connection_of(label)].egress) // ports * ports


@part
def next_signal(world, l):
    """When the next PAUSE or RESUME reaches the sender of a link, for the class whose row this is."""
    return first_at(world.packet_pool, hold(world.gates[l].signals))


@part
def first_signal(world, l):
    """When the next PAUSE or RESUME of any class reaches the sender of a link, and the row of that class."""
    soonest, row = next_signal(world, l), np.int64(l)
    for k in range(1, world.settings[0].classes):
        at = next_signal(world, l + k * world.settings[0].ports)
        if at < soonest:
            soonest, row = at, l + k * world.settings[0].ports
    return soonest, np.uint32(row)


@inner
def starts_at(world, l):
    """When a link can next begin to send, by what waits there and is not stopped; NEVER if nothing is."""
    settings, link = world.settings[0], world.links[l]
    soonest = link.free_at if length(link.control) else NEVER
    for k in range(settings.classes):
        row = l + k * settings.ports
        if world.gates[row].paused:
            continue
        queue = world.links[row]
        if length(queue.payload) or length(queue.turns):
            soonest = min(soonest, max(link.free_at, queue.free_at))
        elif settings.paced:
            soonest = min(soonest, max(link.free_at, next_ready(world, row)))
    return soonest


@inner
def ends_or_starts_at(world, l):
    """The same at a switch, where a packet gives up its room at the moment its last bit has left."""
    link = world.links[l]
    if world.links[world.gates[l].leaving_row].leaving + link.control_leaving:
        return link.free_at
    return starts_at(world, l)


@inner
def highest(world, l):
    """The row of the highest class of a link that may send and has something to send, or the link's own."""
    settings = world.settings[0]
    for k in range(settings.classes - 1, 0, -1):
        row = l + k * settings.ports
        queue = world.links[row]
        if (length(queue.payload) or length(queue.turns)) and not world.gates[row].paused:
            return row
    return np.int64(l)


@inner
def let_leave(world, l):
    """The last bit of a packet that passes through a host has left."""
    left = world.links[world.gates[l].leaving_row]
    left.backlog -= left.leaving
    left.leaving = 0


@inner
def begin_turn(world, l, now):
    """A NIC with something to send begins to: the row of the class whose turn it is."""
    settings, link = world.settings[0], world.links[l]
    let_leave(world, l)
    link.free_at = max(link.free_at, now)
    if settings.paced:
        for k in range(settings.classes):
            unpark(world, l + k * settings.ports, now)
    row = highest(world, l)
    world.gates[l].leaving_row = row
    return row


@inner
def waiting_bytes(world, l):
    """All that waits at a link or is being sent, in every class."""
    link = world.links[l]
    total = link.backlog + link.control_backlog
    for k in range(1, world.settings[0].classes):
        total += world.links[l + k * world.settings[0].ports].backlog
    return total
