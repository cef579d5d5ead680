"""A switch that goes from event to event: its ports depend on each other, or packets are trimmed or have metadata."""

import numpy as np

from netsim.core.link.drops import is_lost
from netsim.core.link.pfc import is_pausable, on_pause, pause_for, pfc_admit, pfc_release, resume_others
from netsim.core.link.priorities import class_offset, first_signal, next_end_or_start, next_row
from netsim.core.link.shared_buffer import take_room
from netsim.core.link.wire import onward, time_to_send, transmit
from netsim.core.observe.packet_trace import LOST, trace_packet
from netsim.core.state.dtypes import NEVER, WAITED
from netsim.core.state.packet_header import (
    ACK,
    HOP,
    INGRESS,
    MARK,
    TRIMMED,
    bytes_of,
    ingress_of,
    is_ack,
    without_ingress,
)
from netsim.core.state.packet_metadata import append_telemetry, carry_metadata, head_index
from netsim.core.state.packet_pool import append, first_at, length, load_ring
from netsim.core.switch.per_packet_routing import pick_link
from netsim.core.switch.port_queue import mark_at_dequeue
from netsim.core.switch.trimming import enqueue_control, make_room
from netsim.kernel import inner, part
from netsim.queues import dispatch


@part
def next_egress_at(world, link_id, link):
    """When a port's transmission ends, or now if it is idle and may send."""
    if world.settings[0].classes > 1:
        return next_end_or_start(world, link_id)
    waiting = length(link.control) + (0 if world.pfc_state[link_id].paused else length(link.payload))
    return link.free_at if link.leaving + link.control_leaving + waiting else NEVER


@part
def finish_transmission(world, link, pfc, now):
    """The last bit of a packet has left: it gives up its room."""
    left = world.links[pfc.leaving_row]
    left.backlog -= left.leaving
    link.control_backlog -= link.control_leaving
    if left.leaving and is_pausable(world, pfc.leaving_from):
        pfc_release(world, pfc.leaving_from, left.leaving, now)
    elif world.settings[0].pooling and world.pools[link.source].room > 0:
        world.pools[link.source].taken -= left.leaving
    if world.pfc_state[pfc.leaving_row].is_above and left.backlog <= world.link_classes[link.link_class].resume_at:
        resume_others(world, link.source, pfc.leaving_row, now)
    left.leaving, link.control_leaving = 0, 0


@part
def ask_disciplines(world, row, link, meta, waited, now):
    """A data packet leaves the queue of its class: meta, with a mark if it gets one."""
    queue, wire_bytes = world.links[row], bytes_of(meta)
    if world.settings[0].classes > 1:
        dispatch.on_transmit(world.settings[0], world.queue_state[row], wire_bytes)
    return meta | mark_at_dequeue(world, row, queue, queue.backlog, wire_bytes, waited, link.in_flight.tail, now)


@inner
def dequeue(world, link_id, now):
    """A transmission has ended. Then the next starts, an ACK of its own class first."""
    link, pfc = world.links[link_id], world.pfc_state[link_id]
    finish_transmission(world, link, pfc, now)
    row = np.int64(link_id)
    if world.settings[0].classes > 1 and not length(link.control):
        row = next_row(world, link_id)
    queue = world.links[row]
    if length(link.control):
        ring = link.control
    elif length(queue.payload) and not world.pfc_state[row].paused:
        ring = queue.payload
    else:
        return
    place = head_index(ring)
    packet = world.packet_pool[place]
    came_at, header, meta = packet.at, packet.header, packet.meta
    link.free_at, link.waited = max(link.free_at, now), link.waited + ((now - came_at) * bytes_of(meta) >> WAITED)
    if length(link.control):
        link.control_leaving = bytes_of(meta)
    else:
        queue.leaving = bytes_of(meta)
        pfc.leaving_from, pfc.leaving_row = ingress_of(meta) + row - link_id, row
    ring.head += 1
    link.sent_bytes += bytes_of(meta)
    link_class = world.link_classes[link.link_class]
    link.free_at += time_to_send(link_class, bytes_of(meta))
    meta = without_ingress(meta)
    if world.settings[0].disciplined and queue.leaving and not is_ack(meta):
        meta = ask_disciplines(world, row, link, meta, now - came_at, now)
    lost = link_class.loss > 0 and is_lost(world, link_id, link_class, link.in_flight.tail, header, meta)
    if world.settings[0].tracing:
        trace_packet(world, link_id, came_at, now, header, meta | (LOST if lost else 0))
    if lost:
        return
    transmit(world, link_id, link, link.free_at + link_class.delay, header, meta)
    if world.settings[0].timestamped:
        if world.settings[0].telemetered and queue.leaving and not is_ack(meta):
            append_telemetry(world, place, link_id, now, link.sent_bytes - queue.leaving, queue.backlog - queue.leaving)
        carry_metadata(world, place, link.in_flight)


@part
def accepted(world, link):
    """Packets that this egress has taken in before: sent or waiting; with several classes, data of its own."""
    if world.settings[0].classes > 1:
        return link.payload.tail
    return link.in_flight.tail + link.lost + length(link.payload) + length(link.control)


@part
def finds_room(world, ingress, row, header, meta, now, pool_index):
    """Take a packet that goes to a queue into account, if there is room for it; else it is cut or dropped."""
    settings, link, wire_bytes = world.settings[0], world.links[row], bytes_of(meta)
    limits, pool = world.link_classes[link.link_class], world.pools[link.source]
    is_ruled = is_pausable(world, ingress)
    if is_ruled:
        fits = link.backlog + wire_bytes <= limits.room and pfc_admit(world, ingress, wire_bytes, now)
    else:
        fits = not dispatch.refuses(settings, world.queue_state[row], limits, pool, link.backlog, wire_bytes, now)
    if not fits and not make_room(world, row, header, meta, now, pool_index, not is_ruled):
        return False
    if pool.room > 0 and not is_ruled:
        take_room(pool, wire_bytes)
    return True


@inner
def enqueue(world, ingress, now):
    """A packet arrives by `ingress` and goes into its egress queue; refused if that or the headroom is full.

    Returns the egress.
    """
    in_flight = world.links[ingress].in_flight
    packet = world.packet_pool[in_flight.start + (in_flight.head & in_flight.mask)]
    header, meta = packet.header, packet.meta
    place = head_index(in_flight)
    in_flight.head += 1
    world.next_arrival[ingress] = first_at(world.packet_pool, load_ring(in_flight))
    link_id = onward(world, header, meta)
    if world.settings[0].per_packet_routing:
        link_id = pick_link(world, ingress, link_id, header, meta, now, place)
    meta += (1 - 2 * is_ack(meta)) << HOP
    settings = world.settings[0]
    rise = class_offset(world, header) if settings.classes > 1 else np.int64(0)
    row = link_id + rise
    link = world.links[row]
    link_class = world.link_classes[link.link_class]
    wire_bytes = bytes_of(meta)
    if link_class.strict and meta & (ACK | TRIMMED):
        enqueue_control(world, link_id, header, meta, now, place)
        return link_id
    if not finds_room(world, ingress + rise, row, header, meta, now, place):
        return link_id
    if not is_ack(meta):
        before, state = accepted(world, link), world.queue_state[row]
        if dispatch.on_enqueue(settings, state, link_class, link.backlog, before, settings.seed, row, now):
            meta |= MARK
            link.marks += 1
    link.backlog += wire_bytes
    if is_pausable(world, ingress) and link.backlog > link_class.pause_above:
        pause_for(world, ingress + rise, np.uint32(row), now)
    link.longest = max(link.longest, link.backlog)
    link.free_at = max(link.free_at, now)
    append(world, link.payload, now, header, meta | (np.int64(ingress) << INGRESS))
    if settings.timestamped:
        carry_metadata(world, place, link.payload)
    return link_id


@part
def refresh(world, link_id):
    """Note when a port next begins or ends to send, after whatever may have changed it."""
    at = next_egress_at(world, link_id, world.links[link_id])
    world.next_egress[world.egress_index[link_id]] = at
    return at


@part
def soonest_of(times, first, last):
    soonest = NEVER
    for i in range(first, last):
        soonest = min(soonest, times[i])
    return soonest


@part
def scoreboard_index(times, first, at):
    """Where the first of the times that is `at` stands, from `first` on."""
    place = np.uint64(first)
    while times[place] != at:
        place += np.uint64(1)
    return place


@part
def soonest_arrival(world, node):
    soonest = NEVER
    for i in range(node.first_in, node.last_in):
        soonest = min(soonest, world.next_arrival[world.inbound[i]])
    return soonest


@part
def ingress_at(world, node, at):
    """The first link by which a packet arrives at that time."""
    place = np.uint64(node.first_in)
    while world.next_arrival[world.inbound[place]] != at:
        place += np.uint64(1)
    return world.inbound[place]


@inner
def take_pause(world, place, at):
    """The sender of a link takes a PAUSE or RESUME for one of its classes, and keeps when the next comes."""
    link_id = world.outbound[place]
    _, row = first_signal(world, link_id)
    on_pause(world, row, at)
    world.next_pause[place], _ = first_signal(world, link_id)
    refresh(world, link_id)


@part
def event_driven_switch(world, node_id, until):
    """Departures first, then signals, then arrivals; each kind in order of link number.

    What an event cannot have changed is not looked for again.
    """
    node = world.nodes[node_id]
    departs = soonest_of(world.next_egress, node.first_out, node.last_out)
    signalled = soonest_of(world.next_pause, node.first_out, node.last_out)
    arrives = soonest_arrival(world, node)
    while True:
        now = min(departs, min(signalled, arrives))
        if now >= until:
            break
        if departs == now:
            link_id = world.outbound[scoreboard_index(world.next_egress, node.first_out, now)]
            dequeue(world, link_id, now)
            refresh(world, link_id)
            departs = soonest_of(world.next_egress, node.first_out, node.last_out)
        elif signalled == now:
            take_pause(world, scoreboard_index(world.next_pause, node.first_out, now), now)
            signalled = soonest_of(world.next_pause, node.first_out, node.last_out)
            departs = soonest_of(world.next_egress, node.first_out, node.last_out)
        else:
            link_id = np.uint32(enqueue(world, ingress_at(world, node, now), now))  # as above: compiled once
            sends_at = refresh(world, link_id)
            if sends_at == now:  # the port was idle; no other departs now, or it would have gone before the arrival
                dequeue(world, link_id, now)
                sends_at = refresh(world, link_id)
            departs = min(departs, sends_at)
            arrives = soonest_arrival(world, node)
    world.next_event[node_id] = now
