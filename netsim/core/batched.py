"""A switch in one window: receive, then run every egress that has something to do."""

from typing import NamedTuple

import numpy as np

from netsim.core.egress import onward, time_to_send, wake
from netsim.core.packet_header import HOP, MARK, bytes_of, is_ack
from netsim.core.random import thirty_bits
from netsim.core.rings import (
    Ring,
    behind_head,
    first,
    first_at,
    grow,
    hold,
    is_full,
    length,
    make_room,
    push,
    put_back,
)
from netsim.core.tables import NEVER, WAITED
from netsim.core.wire_losses import drop, is_lost
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
    wire: Ring
    longest: int
    sent_bytes: int
    waited: int


@part
def file_into(world, inbox, at, label, state):
    """Insert in order of time; among equals the earlier ingress stays first."""
    if is_full(inbox):
        grow(world, inbox)
    packet_pool, start = world.packet_pool, inbox.start
    i = start + inbox.tail
    while i > start and packet_pool[i - 1].at > at:
        before, here = packet_pool[i - 1], packet_pool[i]
        here.at = before.at
        here.label = before.label
        here.state = before.state
        i -= 1
    packet = packet_pool[i]
    packet.at = at
    packet.label = label
    packet.state = state
    inbox.tail += 1


@part
def receive(world, v, until):
    """Sort every packet that arrives before `until` into the inbox of its egress.

    They are taken in slices of time, so that few have to make way for one that came earlier by a later ingress. Returns
    how many egresses are to be served, and the next arrival after that.
    """
    node = world.nodes[v]
    packet_pool = world.packet_pool
    n = 0
    soonest = world.wake[v]
    while soonest < until:
        cut = min(until, soonest + world.settings[0].window)
        soonest = NEVER
        for i in range(node.first_in, node.last_in):
            l = world.inbound[i]
            at = world.due[l]
            if at < cut:
                wire = hold(world.links[l].wire)
                while at < cut:
                    packet = first(packet_pool, wire)
                    label, state = packet.label, packet.state
                    egress = onward(world, label, state)
                    inbox = world.inboxes[world.port_of[egress]]
                    if inbox.tail == 0:
                        world.busy[n] = egress
                        n += 1
                    state += (1 - 2 * is_ack(state)) << HOP
                    file_into(world, inbox, at, label, state)
                    wire = behind_head(wire)
                    at = first_at(packet_pool, wire)
                world.links[l].wire.head = wire.head
                world.due[l] = at
            soonest = min(soonest, at)
    return n, soonest


@part
def add_leftovers(world, v, n):
    """Egresses without arrivals that still have something to send."""
    node = world.nodes[v]
    if node.pending:
        for i in range(node.first_out, node.last_out):
            l = world.outbound[i]
            link = world.links[l]
            if world.inboxes[world.port_of[l]].tail == 0 and (length(link.payload) or length(link.control)):
                world.busy[n] = l
                n += 1
    return n


@part
def is_marked(world, l, kind, backlog, k):
    """ECN as RED does it: never up to Kmin, always above Kmax, between them with a chance that grows to Pmax."""
    if backlog <= kind.mark_from:
        return False
    if backlog > kind.mark_all:
        return True
    drawn = thirty_bits(world.settings[0].seed, l, k)
    return drawn * (kind.mark_all - kind.mark_from) < kind.mark_chance * (backlog - kind.mark_from)


@part
def launch(world, l, link, kind, wire, at, label, state):
    """Put a packet on the wire; it arrives at `at`, if it is not lost there. Returns the wire."""
    if world.settings[0].lossy and kind.loss > 0 and is_lost(world, l, kind, wire.tail, label, state):
        return wire
    if is_full(wire):
        put_back(link.wire, wire)
        grow(world, link.wire)
        wire = hold(link.wire)
    return push(world.packet_pool, wire, at, label, state)


@part
def pick_up(link):
    """An egress as values, which the compiler keeps in registers until they are put down."""
    data = Queue(hold(link.payload), link.backlog, np.int64(link.leaving))
    control = Queue(hold(link.control), link.control_backlog, np.int64(link.control_leaving))
    return Port(link.free_at, data, control, hold(link.wire), link.longest, link.sent_bytes, 0)


@part
def put_down(link, port):
    link.free_at, link.longest, link.sent_bytes = port.free_at, port.longest, port.sent_bytes
    link.backlog, link.leaving = port.data.backlog, port.data.leaving
    link.control_backlog, link.control_leaving = port.control.backlog, port.control.leaving
    if port.waited > 0:
        link.waited += port.waited
    put_back(link.payload, port.data.ring)
    put_back(link.control, port.control.ring)
    put_back(link.wire, port.wire)


@part
def send_waiting(world, l, link, kind, port, now):
    """What the link begins to send up to now, control first; a packet keeps its room until its last bit has left."""
    free_at, data, control, wire, longest, sent_bytes, waited = port
    while free_at <= now:
        data = Queue(data.ring, data.backlog - data.leaving, 0)
        control = Queue(control.ring, control.backlog - control.leaving, 0)
        if length(control.ring):
            packet = first(world.packet_pool, control.ring)
            control = Queue(behind_head(control.ring), control.backlog, bytes_of(packet.state))
        elif length(data.ring):
            packet = first(world.packet_pool, data.ring)
            data = Queue(behind_head(data.ring), data.backlog, bytes_of(packet.state))
        else:
            break
        wire_bytes = control.leaving + data.leaving
        waited += (free_at - packet.at) * wire_bytes >> WAITED
        sent_bytes += wire_bytes
        free_at += time_to_send(kind, wire_bytes)
        wire = launch(world, l, link, kind, wire, free_at + kind.delay, packet.label, packet.state)
    return Port(free_at, data, control, wire, longest, sent_bytes, waited)


@part
def let_in(world, l, link, kind, port, now, label, state):
    """A packet comes to an egress: it is dropped, waits, or leaves at once where nothing waits."""
    free_at, data, control, wire, longest, sent_bytes, waited = port
    wire_bytes = bytes_of(state)
    own_class = kind.strict and is_ack(state)
    if (control.backlog if own_class else data.backlog) + wire_bytes > kind.buffer:
        drop(world, l, label, state)
        return port
    if not own_class:
        accepted = wire.tail + length(data.ring) + length(control.ring) + link.lost  # packets before this one
        if data.backlog > kind.mark_from and not is_ack(state) and is_marked(world, l, kind, data.backlog, accepted):
            state |= MARK
            link.marks += 1
        longest = max(longest, data.backlog + wire_bytes)
    if free_at <= now:
        sent_bytes += wire_bytes
        free_at = now + time_to_send(kind, wire_bytes)
        wire = launch(world, l, link, kind, wire, free_at + kind.delay, label, state)
        if own_class:
            control = Queue(control.ring, control.backlog + wire_bytes, wire_bytes)
        else:
            data = Queue(data.ring, data.backlog + wire_bytes, wire_bytes)
    elif own_class:
        ring = push(world.packet_pool, control.ring, now, label, state)
        control = Queue(ring, control.backlog + wire_bytes, control.leaving)
    else:
        ring = push(world.packet_pool, data.ring, now, label, state)
        data = Queue(ring, data.backlog + wire_bytes, data.leaving)
    return Port(free_at, data, control, wire, longest, sent_bytes, waited)


@part
def serve(world, l, until):
    """Run one egress up to `until`: merge its inbox with its own departures.

    Returns whether it has more to send, and when it sends next.
    """
    link = world.links[l]
    kind = world.kinds[link.kind]
    inbox = world.inboxes[world.port_of[l]]
    count, came = inbox.tail, inbox.start
    inbox.tail = 0
    make_room(world, link.payload, count)
    make_room(world, link.control, count)
    port = pick_up(link)
    was_empty = length(port.wire) == 0
    i = 0
    while True:
        now = world.packet_pool[came + i].at if i < count else until - 1
        port = send_waiting(world, l, link, kind, port, now)
        if i == count:
            break
        packet = world.packet_pool[came + i]
        port = let_in(world, l, link, kind, port, now, packet.label, packet.state)
        i += 1
    put_down(link, port)
    if was_empty and length(port.wire):
        world.due[l] = first_at(world.packet_pool, port.wire)
        wake(world, link.target, world.due[l])
    has_more = length(port.data.ring) > 0 or length(port.control.ring) > 0
    return has_more, port.free_at if has_more else NEVER


@part
def switch(world, v, until):
    n, soonest = receive(world, v, until)
    n = add_leftovers(world, v, n)
    pending = False
    for i in range(n):
        has_more, sends_at = serve(world, world.busy[i], until)
        pending |= has_more
        soonest = min(soonest, sends_at)
    world.nodes[v].pending = pending
    world.wake[v] = soonest
