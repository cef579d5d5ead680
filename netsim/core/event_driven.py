"""A switch that goes from event to event: its ports depend on each other, or its packets are trimmed or carry notes."""

import numpy as np

from netsim.core.classes import above, ends_or_starts_at, first_signal, highest
from netsim.core.egress import onward, put_on_wire, time_to_send
from netsim.core.packet_header import ACK, HOP, INGRESS, MARK, TRIMMED, bytes_of, ingress_of, is_ack, without_ingress
from netsim.core.packet_metadata import carry_notes, first_place, note_hop
from netsim.core.packet_trace import LOST, write_down
from netsim.core.pauses import is_ruled, let_go, let_go_on, let_in, obey, stop_for
from netsim.core.per_packet_routing import steered
from netsim.core.pools import growth, take_room
from netsim.core.port_queue import is_marked
from netsim.core.rings import append, first_at, hold, length
from netsim.core.tables import NEVER, WAITED
from netsim.core.trimming import into_control, refuse, takes_the_place
from netsim.core.wire_losses import is_lost
from netsim.kernel import inner, part


@part
def next_step(world, l, link):
    """When a port's transmission ends, or now if it is idle and may send."""
    if world.settings[0].classes > 1:
        return ends_or_starts_at(world, l)
    waiting = length(link.control) + (0 if world.gates[l].paused else length(link.payload))
    return link.free_at if link.leaving + link.control_leaving + waiting else NEVER


@inner
def step(world, l, now):
    """A transmission has ended: its packet gives up its room. Then the next starts, an ACK of its own class first."""
    link, gate = world.links[l], world.gates[l]
    left = world.links[gate.leaving_row]
    left.backlog -= left.leaving
    link.control_backlog -= link.control_leaving
    if left.leaving and is_ruled(world, gate.leaving_from):
        let_go(world, gate.leaving_from, left.leaving, now)
    elif world.settings[0].pooling and world.pools[link.source].room > 0:
        world.pools[link.source].taken -= left.leaving
    if world.gates[gate.leaving_row].is_long and left.backlog <= world.kinds[link.kind].go_at:
        let_go_on(world, link.source, gate.leaving_row, now)
    left.leaving, link.control_leaving = 0, 0
    row = highest(world, l) if world.settings[0].classes > 1 else np.int64(l)
    queue = world.links[row]
    if length(link.control):
        ring = link.control
    elif length(queue.payload) and not world.gates[row].paused:
        ring = queue.payload
    else:
        return
    link.free_at = max(link.free_at, now)
    packet = world.packet_pool[ring.start + (ring.head & ring.mask)]
    came_at, name, content = packet.at, packet.label, packet.state
    place = first_place(ring)
    link.waited += (now - packet.at) * bytes_of(content) >> WAITED
    if length(link.control):
        link.control_leaving = bytes_of(content)
    else:
        queue.leaving = bytes_of(content)
        gate.leaving_from, gate.leaving_row = ingress_of(content) + row - l, row
    ring.head += 1
    link.sent_bytes += bytes_of(content)
    kind = world.kinds[link.kind]
    link.free_at += time_to_send(kind, bytes_of(content))
    content = without_ingress(content)
    if world.settings[0].marks_late and queue.leaving:
        if is_marked(world, row, kind, queue.backlog, link.wire.tail + link.lost):
            content |= MARK
            queue.marks += 1
    lost = kind.loss > 0 and is_lost(world, l, kind, link.wire.tail, name, content)
    if world.settings[0].tracing:
        write_down(world, l, came_at, now, name, content | (LOST if lost else 0))
    if lost:
        return
    put_on_wire(world, l, link, link.free_at + kind.delay, name, content)
    if world.settings[0].timestamped:
        if world.settings[0].telemetered and queue.leaving and not is_ack(content):
            note_hop(world, place, l, now, link.sent_bytes - queue.leaving, queue.backlog - queue.leaving)
        carry_notes(world, place, link.wire)


@part
def accepted(world, link):
    """Packets that this egress has taken in before: sent or waiting; with several classes, data of its own."""
    if world.settings[0].classes > 1:
        return link.payload.tail
    return link.wire.tail + link.lost + length(link.payload) + length(link.control)


@part
def finds_room(world, ingress, row, wire_bytes, now):
    """Take a packet that goes to a queue into account, if there is room for it or the last there makes some."""
    settings, link = world.settings[0], world.links[row]
    if is_ruled(world, ingress):
        return link.backlog + wire_bytes <= world.kinds[link.kind].room and let_in(world, ingress, wire_bytes, now)
    if settings.pooling and world.pools[link.source].room > 0:
        pool = world.pools[link.source]
        fits = wire_bytes <= growth(world, pool, link.backlog)
        if fits or (settings.trim_last > 0 and takes_the_place(world, row, wire_bytes)):
            take_room(pool, wire_bytes)
            return True
        return False
    fits = link.backlog + wire_bytes <= world.kinds[link.kind].buffer
    return fits or (settings.trim_last > 0 and takes_the_place(world, row, wire_bytes))


@inner
def come(world, ingress, now):
    """A packet arrives by `ingress` and goes into its egress queue; refused if that or the headroom is full.

    Returns the egress.
    """
    wire = world.links[ingress].wire
    packet = world.packet_pool[wire.start + (wire.head & wire.mask)]
    name, content = packet.label, packet.state
    place = first_place(wire)
    wire.head += 1
    world.due[ingress] = first_at(world.packet_pool, hold(wire))
    l = onward(world, name, content)
    if world.settings[0].steering:
        l = steered(world, ingress, l, name, content, now, place)
    content += (1 - 2 * is_ack(content)) << HOP
    settings = world.settings[0]
    rise = above(world, name) if settings.classes > 1 else np.int64(0)
    row = l + rise
    link = world.links[row]
    kind = world.kinds[link.kind]
    wire_bytes = bytes_of(content)
    if kind.strict and content & (ACK | TRIMMED):
        into_control(world, l, name, content, now, place)
        return l
    if not finds_room(world, ingress + rise, row, wire_bytes, now):
        refuse(world, row, name, content, now, place)
        return l
    if not settings.marks_late and not is_ack(content):
        if is_marked(world, row, kind, link.backlog, accepted(world, link)):
            content |= MARK
            link.marks += 1
    link.backlog += wire_bytes
    if is_ruled(world, ingress) and link.backlog > kind.stop_above:
        stop_for(world, ingress + rise, np.uint32(row), now)
    link.longest = max(link.longest, link.backlog)
    link.free_at = max(link.free_at, now)
    append(world, link.payload, now, name, content | (np.int64(ingress) << INGRESS))
    if settings.timestamped:
        carry_notes(world, place, link.payload)
    return l


@part
def refresh(world, l):
    """Note when a port next begins or ends to send, after whatever may have changed it."""
    at = next_step(world, l, world.links[l])
    world.acts[world.out_place[l]] = at
    return at


@part
def soonest_of(times, first, last):
    soonest = NEVER
    for i in range(first, last):
        soonest = min(soonest, times[i])
    return soonest


@part
def place_of(times, first, at):
    """Where the first of the times that is `at` stands, from `first` on."""
    place = np.uint64(first)
    while times[place] != at:
        place += np.uint64(1)
    return place


@part
def soonest_arrival(world, node):
    soonest = NEVER
    for i in range(node.first_in, node.last_in):
        soonest = min(soonest, world.due[world.inbound[i]])
    return soonest


@part
def ingress_at(world, node, at):
    """The first link by which a packet arrives at that time."""
    place = np.uint64(node.first_in)
    while world.due[world.inbound[place]] != at:
        place += np.uint64(1)
    return world.inbound[place]


@inner
def hear(world, place, at):
    """The sender of a link takes a PAUSE or RESUME for one of its classes, and notes when the next comes."""
    l = world.outbound[place]
    _, row = first_signal(world, l)
    obey(world, row, at)
    world.hears[place], _ = first_signal(world, l)
    refresh(world, l)


@part
def coupled_switch(world, v, until):
    """Departures first, then signals, then arrivals; each kind in order of link number.

    What an event cannot have changed is not looked for again.
    """
    node = world.nodes[v]
    departs = soonest_of(world.acts, node.first_out, node.last_out)
    signalled = soonest_of(world.hears, node.first_out, node.last_out)
    arrives = soonest_arrival(world, node)
    while True:
        now = min(departs, min(signalled, arrives))
        if now >= until:
            break
        if departs == now:
            l = world.outbound[place_of(world.acts, node.first_out, now)]
            step(world, l, now)
            refresh(world, l)
            departs = soonest_of(world.acts, node.first_out, node.last_out)
        elif signalled == now:
            hear(world, place_of(world.hears, node.first_out, now), now)
            signalled = soonest_of(world.hears, node.first_out, node.last_out)
            departs = soonest_of(world.acts, node.first_out, node.last_out)
        else:
            l = come(world, ingress_at(world, node, now), now)
            acts = refresh(world, l)
            if acts == now:  # the port was idle; no other departs now, or it would have gone before the arrival
                step(world, l, now)
                acts = refresh(world, l)
            departs = min(departs, acts)
            arrives = soonest_arrival(world, node)
    world.wake[v] = now
