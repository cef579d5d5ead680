"""A switch in one window: receive, then run every egress that has something to do; then settle the ingress accounts.

Within a visit no egress depends on another. Where one might, `switch` says so before anything has happened, and the
visit goes from event to event (core/event_driven.py).
"""

import numpy as np

from netsim.core.classes import next_signal
from netsim.core.egress import onward, wake
from netsim.core.event_driven import refresh, soonest_of
from netsim.core.ingress_accounts import (
    TRACKED,
    counted_bytes,
    may_overflow,
    pfc_admit,
    put_back_arrivals,
    settle_all,
)
from netsim.core.packet_header import HOP, INGRESS, is_ack
from netsim.core.pauses import obey
from netsim.core.port_queue import dequeue, enqueue, load, next_transmission, on_pause, store
from netsim.core.rings import behind_head, file_into, first, first_at, hold, length, make_room
from netsim.core.tables import NEVER
from netsim.kernel import inner, part


@part
def receive(world, v, until):
    """Sort every packet that arrives before `until` into the inbox of its egress.

    They are taken in slices of time, so that few have to make way for one that came earlier by a later ingress. Returns
    how many egresses are to be served, the next arrival after that, and whether no headroom may overflow.
    """
    node, lossless = world.nodes[v], world.settings[0].lossless
    packet_pool = world.packet_pool
    n, fits = 0, True
    if lossless:
        for i in range(node.last_in - node.first_in):
            world.heads[i] = -1
    soonest = world.wake[v]
    while soonest < until:
        cut = min(until, soonest + world.settings[0].window)
        soonest = NEVER
        for i in range(node.first_in, node.last_in):
            ingress = world.inbound[i]
            at = world.due[ingress]
            if at < cut:
                wire = hold(world.links[ingress].wire)
                kind = world.kinds[world.links[ingress].kind]
                tag, arrived = np.int64(ingress) << INGRESS if lossless else np.int64(0), 0
                while at < cut:
                    packet = first(packet_pool, wire)
                    label, state = packet.label, packet.state
                    egress = onward(world, label, state)
                    inbox = world.inboxes[world.port_of[egress]]
                    if inbox.tail == 0:
                        world.busy[n] = egress
                        n += 1
                    if lossless:
                        arrived += counted_bytes(state, kind.strict)
                    state += (1 - 2 * is_ack(state)) << HOP
                    file_into(world, inbox, at, label, state + tag)
                    wire = behind_head(wire)
                    at = first_at(packet_pool, wire)
                if lossless:
                    fits &= pfc_admit(world, ingress, kind, i - node.first_in, world.links[ingress].wire.head, arrived)
                world.links[ingress].wire.head = wire.head
                world.due[ingress] = at
            soonest = min(soonest, at)
    return n, soonest, fits


@part
def add_waiting(world, v, n, until, tracks):
    """Egresses without arrivals that may send, are told to stop or go on, or, where accounts are tracked, end to send.

    Returns how many are to be served now, and when the first of those that may send later does.
    """
    node, lossless = world.nodes[v], world.settings[0].lossless
    if node.sends_at >= until and node.signalled_at >= until and not tracks:
        return n, node.sends_at
    later = NEVER
    for place in range(node.first_out, node.last_out):
        acts = world.acts[place]
        is_due = acts < until
        if not is_due:
            later = min(later, acts)
        if lossless:
            is_due |= world.hears[place] < until or (tracks and world.releases[place] < until)
        if is_due and world.inboxes[place - node.first_out].tail == 0:
            world.busy[n] = world.outbound[place]
            n += 1
    return n, later


@part
def serve(world, l, first_out, until):
    """Run one egress up to `until`: merge its inbox, its pauses and its own departures. Returns when it sends next."""
    link = world.links[l]
    kind = world.kinds[link.kind]
    lossless = world.settings[0].lossless
    number = world.port_of[l]
    place, inbox = first_out + number, world.inboxes[number]
    count, came = inbox.tail, inbox.start
    inbox.tail = 0
    make_room(world, link.payload, count)
    make_room(world, link.control, count)
    signalled = world.hears[place] if lossless else NEVER
    port = load(link, np.int64(world.gates[l].paused) if lossless else np.int64(0))
    was_empty = length(port.wire) == 0
    i = 0
    while True:
        arrives = world.packet_pool[came + i].at if i < count else until - 1
        port = dequeue(world, l, link, kind, port, min(arrives, signalled) if lossless else arrives)
        if lossless and signalled <= arrives:
            obey(world, l, signalled)
            port = on_pause(port, signalled, np.int64(world.gates[l].paused))
            signalled = world.hears[place] = next_signal(world, l)
            continue
        if i == count:
            break
        packet = world.packet_pool[came + i]
        port = enqueue(world, l, link, kind, port, arrives, packet.label, packet.state)
        i += 1
    store(link, port)
    if was_empty and length(port.wire):
        world.due[l] = first_at(world.packet_pool, port.wire)
        wake(world, link.target, world.due[l])
    if lossless:
        world.releases[place] = port.free_at if port.data.leaving else NEVER
    world.acts[place] = next_transmission(port)
    return world.acts[place]


@part
def switch(world, v, until):
    """Run a switch up to `until`; or return False, and nothing has happened, if its egresses depend on each other."""
    node, lossless = world.nodes[v], world.settings[0].lossless
    n, arrives, fits = receive(world, v, until)
    if lossless and (not fits or may_overflow(world, v, n)):
        put_back_arrivals(world, v, n)
        return False
    tracks = lossless and (node.closed > 0 or world.progress[0].unsettled > 0)
    n, sends_at = add_waiting(world, v, n, until, tracks)
    for i in range(n):
        sends_at = min(sends_at, serve(world, world.busy[i], node.first_out, until))
    node.sends_at = sends_at
    soonest = min(arrives, sends_at)
    if lossless:
        settle_all(world)
        if node.signalled_at < until:
            node.signalled_at = soonest_of(world.hears, node.first_out, node.last_out)
        soonest = min(soonest, node.signalled_at)
        if node.closed > 0:
            soonest = min(soonest, soonest_of(world.releases, node.first_out, node.last_out))
    world.wake[v] = soonest
    return True


@inner
def begin_events(world, v):
    """Before a visit from event to event."""
    for place in range(world.nodes[v].first_out, world.nodes[v].last_out):
        refresh(world, world.outbound[place])


@inner
def end_events(world, v):
    """After it: note what `switch` wants to know of ports and accounts."""
    node = world.nodes[v]
    for place in range(node.first_out, node.last_out):
        l = world.outbound[place]
        link = world.links[l]
        world.acts[place] = next_transmission(load(link, np.int64(world.gates[l].paused)))
        world.releases[place] = link.free_at if link.leaving else NEVER
    node.sends_at = soonest_of(world.acts, node.first_out, node.last_out)
    node.signalled_at = soonest_of(world.hears, node.first_out, node.last_out)
    node.closed = 0
    for i in range(node.first_in, node.last_in):
        gate = world.gates[world.inbound[i]]
        gate.tracked = TRACKED if gate.closed else 0
        node.closed += np.int64(gate.closed)
