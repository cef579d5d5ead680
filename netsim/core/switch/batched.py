"""A switch in one window: receive, then run every egress that has something to do."""

from typing import NamedTuple

import numpy as np

from netsim.core.link.drops import drop, is_lost
from netsim.core.link.ecn import is_marked
from netsim.core.link.wire import onward, schedule_node, time_to_send
from netsim.core.state.dtypes import NEVER, WAITED
from netsim.core.state.packet_header import HOP, MARK, bytes_of, is_ack
from netsim.core.state.packet_pool import (
    Ring,
    behind_head,
    first,
    first_at,
    grow,
    is_full,
    length,
    load_ring,
    make_room,
    push,
    store_ring,
)
from netsim.kernel import part


class Queue(NamedTuple):
    """A class of an egress: what waits, its bytes, and those of its packet in transmission, which are among them."""

    ring: Ring
    backlog: int
    leaving: int


class Port(NamedTuple):
    """An egress that is being served."""

    free_at: int
    data: Queue
    control: Queue
    in_flight: Ring
    longest: int
    sent_bytes: int
    waited: int


@part
def insert_into_inbox(world, inbox, at, header, meta):
    """Insert in order of time; among equals the earlier ingress stays first."""
    if is_full(inbox):
        grow(world, inbox)
    packet_pool, start = world.packet_pool, inbox.start
    i = start + inbox.tail
    while i > start and packet_pool[i - 1].at > at:
        before, here = packet_pool[i - 1], packet_pool[i]
        here.at = before.at
        here.header = before.header
        here.meta = before.meta
        i -= 1
    packet = packet_pool[i]
    packet.at = at
    packet.header = header
    packet.meta = meta
    inbox.tail += 1


@part
def receive(world, node_id, until):
    """Sort every packet that arrives before `until` into the inbox of its egress.

    They are taken in slices of time, so that few have to make way for one that came earlier by a later ingress. Returns
    how many egresses are to be served, and the next arrival after that.
    """
    node = world.nodes[node_id]
    packet_pool = world.packet_pool
    n = 0
    soonest = world.next_event[node_id]
    while soonest < until:
        cut = min(until, soonest + world.settings[0].lookahead)
        soonest = NEVER
        for i in range(node.first_in, node.last_in):
            link_id = world.inbound[i]
            at = world.next_arrival[link_id]
            if at < cut:
                in_flight = load_ring(world.links[link_id].in_flight)
                while at < cut:
                    packet = first(packet_pool, in_flight)
                    header, meta = packet.header, packet.meta
                    egress = onward(world, header, meta)
                    inbox = world.inboxes[world.port_number[egress]]
                    if inbox.tail == 0:
                        world.busy_egresses[n] = egress
                        n += 1
                    meta += (1 - 2 * is_ack(meta)) << HOP
                    insert_into_inbox(world, inbox, at, header, meta)
                    in_flight = behind_head(in_flight)
                    at = first_at(packet_pool, in_flight)
                world.links[link_id].in_flight.head = in_flight.head
                world.next_arrival[link_id] = at
            soonest = min(soonest, at)
    return n, soonest


@part
def add_waiting(world, node_id, n):
    """Egresses without arrivals that still have something to send."""
    node = world.nodes[node_id]
    if node.pending:
        for i in range(node.first_out, node.last_out):
            link_id = world.outbound[i]
            link = world.links[link_id]
            if world.inboxes[world.port_number[link_id]].tail == 0 and (length(link.payload) or length(link.control)):
                world.busy_egresses[n] = link_id
                n += 1
    return n


@part
def transmit_from(world, link_id, link, link_class, in_flight, at, header, meta):
    """Put a packet on the wire; it arrives at `at`, if it is not lost there. Returns the wire."""
    if (
        world.settings[0].lossy
        and link_class.loss > 0
        and is_lost(world, link_id, link_class, in_flight.tail, header, meta)
    ):
        return in_flight
    if is_full(in_flight):
        store_ring(link.in_flight, in_flight)
        grow(world, link.in_flight)
        in_flight = load_ring(link.in_flight)
    return push(world.packet_pool, in_flight, at, header, meta)


@part
def load(link):
    """An egress as values, which the compiler keeps in registers until they are put down."""
    data = Queue(load_ring(link.payload), link.backlog, np.int64(link.leaving))
    control = Queue(load_ring(link.control), link.control_backlog, np.int64(link.control_leaving))
    return Port(link.free_at, data, control, load_ring(link.in_flight), link.longest, link.sent_bytes, 0)


@part
def store(link, port):
    link.free_at, link.longest, link.sent_bytes = port.free_at, port.longest, port.sent_bytes
    link.backlog, link.leaving = port.data.backlog, port.data.leaving
    link.control_backlog, link.control_leaving = port.control.backlog, port.control.leaving
    if port.waited > 0:
        link.waited += port.waited
    store_ring(link.payload, port.data.ring)
    store_ring(link.control, port.control.ring)
    store_ring(link.in_flight, port.in_flight)


@part
def dequeue(world, link_id, link, link_class, port, now):
    """What the link begins to send up to now, control first; a packet keeps its room until its last bit has left."""
    free_at, data, control, in_flight, longest, sent_bytes, waited = port
    while free_at <= now:
        data = Queue(data.ring, data.backlog - data.leaving, 0)
        control = Queue(control.ring, control.backlog - control.leaving, 0)
        if length(control.ring):
            packet = first(world.packet_pool, control.ring)
            control = Queue(behind_head(control.ring), control.backlog, bytes_of(packet.meta))
        elif length(data.ring):
            packet = first(world.packet_pool, data.ring)
            data = Queue(behind_head(data.ring), data.backlog, bytes_of(packet.meta))
        else:
            break
        wire_bytes = control.leaving + data.leaving
        waited += (free_at - packet.at) * wire_bytes >> WAITED
        sent_bytes += wire_bytes
        free_at += time_to_send(link_class, wire_bytes)
        in_flight = transmit_from(
            world, link_id, link, link_class, in_flight, free_at + link_class.delay, packet.header, packet.meta
        )
    return Port(free_at, data, control, in_flight, longest, sent_bytes, waited)


@part
def enqueue(world, link_id, link, link_class, port, now, header, meta):
    """A packet comes to an egress: it is dropped, waits, or leaves at once where nothing waits."""
    free_at, data, control, in_flight, longest, sent_bytes, waited = port
    wire_bytes = bytes_of(meta)
    own_class = link_class.strict and is_ack(meta)
    if (control.backlog if own_class else data.backlog) + wire_bytes > link_class.buffer:
        drop(world, link_id, header, meta)
        return port
    if not own_class:
        accepted = in_flight.tail + length(data.ring) + length(control.ring) + link.lost  # packets before this one
        if (
            data.backlog > link_class.mark_from
            and not is_ack(meta)
            and is_marked(world, link_id, link_class, data.backlog, accepted)
        ):
            meta |= MARK
            link.marks += 1
        longest = max(longest, data.backlog + wire_bytes)
    if free_at <= now:
        sent_bytes += wire_bytes
        free_at = now + time_to_send(link_class, wire_bytes)
        in_flight = transmit_from(world, link_id, link, link_class, in_flight, free_at + link_class.delay, header, meta)
        if own_class:
            control = Queue(control.ring, control.backlog + wire_bytes, wire_bytes)
        else:
            data = Queue(data.ring, data.backlog + wire_bytes, wire_bytes)
    elif own_class:
        ring = push(world.packet_pool, control.ring, now, header, meta)
        control = Queue(ring, control.backlog + wire_bytes, control.leaving)
    else:
        ring = push(world.packet_pool, data.ring, now, header, meta)
        data = Queue(ring, data.backlog + wire_bytes, data.leaving)
    return Port(free_at, data, control, in_flight, longest, sent_bytes, waited)


@part
def serve(world, link_id, until):
    """Run one egress up to `until`: merge its inbox with its own departures.

    Returns whether it has more to send, and when it sends next.
    """
    link = world.links[link_id]
    link_class = world.link_classes[link.link_class]
    inbox = world.inboxes[world.port_number[link_id]]
    count, came = inbox.tail, inbox.start
    inbox.tail = 0
    make_room(world, link.payload, count)
    make_room(world, link.control, count)
    port = load(link)
    was_empty = length(port.in_flight) == 0
    i = 0
    while True:
        now = world.packet_pool[came + i].at if i < count else until - 1
        port = dequeue(world, link_id, link, link_class, port, now)
        if i == count:
            break
        packet = world.packet_pool[came + i]
        port = enqueue(world, link_id, link, link_class, port, now, packet.header, packet.meta)
        i += 1
    store(link, port)
    if was_empty and length(port.in_flight):
        world.next_arrival[link_id] = first_at(world.packet_pool, port.in_flight)
        schedule_node(world, link.target, world.next_arrival[link_id])
    has_more = length(port.data.ring) > 0 or length(port.control.ring) > 0
    return has_more, port.free_at if has_more else NEVER


@part
def batched_switch(world, node_id, until):
    n, soonest = receive(world, node_id, until)
    n = add_waiting(world, node_id, n)
    pending = False
    for i in range(n):
        has_more, sends_at = serve(world, world.busy_egresses[i], until)
        pending |= has_more
        soonest = min(soonest, sends_at)
    world.nodes[node_id].pending = pending
    world.next_event[node_id] = soonest
