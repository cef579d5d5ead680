"""A switch in one window: receive, then run every egress that has something to do; then settle the ingress accounts.

Within a visit no egress depends on another. Where one might, `switch` says so before anything has happened, and the
visit goes from event to event (core/switch/event_driven.py).
"""

import numpy as np

from netsim.core.link.ingress_accounts import (
    TRACKED,
    admit_arrivals,
    counted_bytes,
    may_fill_pool,
    may_overflow,
    put_back_arrivals,
    settle_all,
)
from netsim.core.link.pfc import on_pause
from netsim.core.link.priorities import next_signal
from netsim.core.link.shared_buffer import find_fullest
from netsim.core.link.wire import onward, schedule_node
from netsim.core.state.dtypes import NEVER
from netsim.core.state.packet_header import HOP, INGRESS, is_ack
from netsim.core.state.packet_metadata import head_index
from netsim.core.state.packet_pool import behind_head, first, first_at, insert_into_inbox, length, load_ring, make_room
from netsim.core.switch.event_driven import refresh, soonest_of
from netsim.core.switch.per_packet_routing import pick_link
from netsim.core.switch.port_queue import dequeue, enqueue, is_pooled, load, next_transmission, store, with_pause
from netsim.kernel import inner, part


@part
def receive_from(world, ingress, number, cut, n):
    """Sort what arrives by one ingress before `cut`. Returns n, whether its headroom holds it, whether two tie in time.

    n: how many egresses are to be served. number: of the ingress among those of the switch.
    """
    lossless, packet_pool = world.settings[0].lossless, world.packet_pool
    link = world.links[ingress]
    in_flight, head, at = load_ring(link.in_flight), link.in_flight.head, world.next_arrival[ingress]
    link_class = world.link_classes[link.link_class]
    tag, arrived, fits, ties = np.int64(ingress) << INGRESS if lossless else np.int64(0), 0, True, False
    while at < cut:
        packet = first(packet_pool, in_flight)
        header, meta = packet.header, packet.meta
        egress, pool_index = onward(world, header, meta), head_index(in_flight)
        in_flight = behind_head(in_flight)
        if world.settings[0].per_packet_routing:
            world.links[ingress].in_flight.head = in_flight.head
            egress = pick_link(world, ingress, egress, header, meta, at, pool_index)
        inbox = world.inboxes[world.port_number[egress]]
        if inbox.tail == 0:
            world.busy_egresses[n] = egress
            n += 1
        following = first_at(packet_pool, in_flight)
        if lossless:
            arrived += counted_bytes(meta, link_class.strict)
            ties |= following == at
        meta += (1 - 2 * is_ack(meta)) << HOP
        insert_into_inbox(world, inbox, at, header, meta + tag, pool_index)
        at = following
    if lossless or is_pooled(world):
        fits = admit_arrivals(world, ingress, link_class, number, head, arrived)
    world.links[ingress].in_flight.head = in_flight.head
    world.next_arrival[ingress] = at
    return n, fits, ties


@part
def list_due(world, node, until):
    """List the ingresses by which something arrives before `until`, by their numbers among those of the switch.

    Returns how many there are, the first arrival by them, and the first by the others.
    """
    count, soonest, later = 0, NEVER, NEVER
    for number in range(node.last_in - node.first_in):
        at = world.next_arrival[world.inbound[node.first_in + number]]
        if at < until:
            world.due_ingresses[count] = number
            count += 1
            soonest = min(soonest, at)
        else:
            later = min(later, at)
    return count, soonest, later


@part
def receive(world, node_id, until):
    """Sort every packet that arrives before `until` into the inbox of its egress.

    They are taken in slices of time, so that few have to make way for one that came earlier by a later ingress. Returns
    how many egresses are to be served, by how many ingresses something came, the next arrival after that, whether no
    headroom may overflow, and whether some ingress brings two at one instant.
    """
    node = world.nodes[node_id]
    n, fits, ties = 0, True, False
    inputs, soonest, later = list_due(world, node, until)
    while soonest < until:
        cut = until if inputs == 1 else min(until, soonest + world.settings[0].lookahead)
        soonest = NEVER
        for i in range(inputs):
            number = np.int64(world.due_ingresses[i])
            ingress = world.inbound[node.first_in + number]
            if world.next_arrival[ingress] < cut:
                n, holds, tie = receive_from(world, ingress, number, cut, n)
                fits &= holds
                ties |= tie
            soonest = min(soonest, world.next_arrival[ingress])
    return n, inputs, min(soonest, later), fits, ties


@part
def add_waiting(world, node_id, n, until, tracks):
    """Egresses without arrivals that may send, are told to stop or go on, or, where accounts are tracked, end to send.

    Returns how many are to be served now, and when the first of those that may send later does.
    """
    node, lossless = world.nodes[node_id], world.settings[0].lossless
    if node.next_egress >= until and node.next_pause >= until and not tracks:
        return n, node.next_egress
    later = NEVER
    for place in range(node.first_out, node.last_out):
        sends_at = world.next_egress[place]
        is_due = sends_at < until
        if not is_due:
            later = min(later, sends_at)
        if lossless:
            is_due |= world.next_pause[place] < until
        is_due |= tracks and world.next_release[place] < until
        if is_due and world.inboxes[place - node.first_out].tail == 0:
            world.busy_egresses[n] = world.outbound[place]
            n += 1
    return n, later


@part
def serve(world, link_id, first_out, until):
    """Run one egress up to `until`: merge its inbox, its pauses and its own departures. Returns when it sends next."""
    link = world.links[link_id]
    link_class = world.link_classes[link.link_class]
    lossless = world.settings[0].lossless
    number = world.port_number[link_id]
    place, inbox = first_out + number, world.inboxes[number]
    count, came = inbox.tail, inbox.start
    inbox.tail = 0
    make_room(world, link.payload, count)
    make_room(world, link.control, count)
    signalled = world.next_pause[place] if lossless else NEVER
    port = load(link, np.int64(world.pfc_state[link_id].paused) if lossless else np.int64(0))
    was_empty = length(port.in_flight) == 0
    i = 0
    while True:
        arrives = world.packet_pool[came + i].at if i < count else until - 1
        port = dequeue(world, link_id, link, link_class, port, min(arrives, signalled) if lossless else arrives)
        if lossless and signalled <= arrives:
            on_pause(world, link_id, signalled)
            port = with_pause(port, signalled, np.int64(world.pfc_state[link_id].paused))
            signalled = world.next_pause[place] = next_signal(world, link_id)
            continue
        if i == count:
            break
        packet = world.packet_pool[came + i]
        pool_index = world.packet_metadata[came + i].pool_index if world.settings[0].timestamped else np.int64(0)
        port = enqueue(world, link_id, link, link_class, port, arrives, packet.header, packet.meta, pool_index)
        i += 1
    store(link, port)
    if was_empty and length(port.in_flight):
        world.next_arrival[link_id] = first_at(world.packet_pool, port.in_flight)
        schedule_node(world, link.target, world.next_arrival[link_id])
    if lossless or is_pooled(world):
        world.next_release[place] = port.free_at if port.data.leaving else NEVER
    world.next_egress[place] = next_transmission(port)
    return world.next_egress[place]


@part
def batched_switch(world, node_id, until):
    """Run a switch up to `until`; or return False, and nothing has happened, if its egresses depend on each other."""
    node, lossless = world.nodes[node_id], world.settings[0].lossless
    pooled = is_pooled(world)
    if pooled and node.paused_senders > 0:
        return False
    n, inputs, arrives, fits, ties = receive(world, node_id, until)
    if (lossless and (not fits or may_overflow(world, node_id, n, ties))) or (
        pooled and may_fill_pool(world, node_id, n, inputs)
    ):
        put_back_arrivals(world, node_id, n, inputs)
        return False
    watched = pooled and world.pools[node_id].watched
    tracks = watched or (lossless and (node.paused_senders > 0 or world.progress[0].unsettled > 0))
    n, sends_at = add_waiting(world, node_id, n, until, tracks)
    for i in range(n):
        sends_at = min(sends_at, serve(world, world.busy_egresses[i], node.first_out, until))
    node.next_egress = sends_at
    soonest = min(arrives, sends_at)
    if watched:
        find_fullest(world, node_id)
    if lossless or pooled:
        settle_all(world, inputs)
    if lossless:
        if node.next_pause < until:
            node.next_pause = soonest_of(world.next_pause, node.first_out, node.last_out)
        soonest = min(soonest, node.next_pause)
        if node.paused_senders > 0:
            soonest = min(soonest, soonest_of(world.next_release, node.first_out, node.last_out))
    world.next_event[node_id] = soonest
    return True


@inner
def begin_events(world, node_id):
    """Before a visit from event to event."""
    for place in range(world.nodes[node_id].first_out, world.nodes[node_id].last_out):
        refresh(world, world.outbound[place])


@inner
def end_events(world, node_id):
    """After it: note what `switch` wants to know of ports and accounts."""
    node = world.nodes[node_id]
    for place in range(node.first_out, node.last_out):
        link_id = world.outbound[place]
        link = world.links[link_id]
        world.next_egress[place] = next_transmission(load(link, np.int64(world.pfc_state[link_id].paused)))
        world.next_release[place] = link.free_at if link.leaving else NEVER
    node.next_egress = soonest_of(world.next_egress, node.first_out, node.last_out)
    node.next_pause = soonest_of(world.next_pause, node.first_out, node.last_out)
    node.paused_senders = 0
    for i in range(node.first_in, node.last_in):
        pfc = world.pfc_state[world.inbound[i]]
        pfc.tracked = TRACKED if pfc.pause_sent else 0
        node.paused_senders += np.int64(pfc.pause_sent)
