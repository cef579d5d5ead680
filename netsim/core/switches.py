"""A switch in one window: receive, then run every egress that has something to do."""

from netsim.core.egress import onward, time_to_send, wake
from netsim.core.losses import drop, is_lost
from netsim.core.random import thirty_bits
from netsim.core.rings import (
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
from netsim.core.words import HOP, MARK, bytes_of, is_ack
from netsim.kernel import part


@part
def file_into(world, inbox, at, label, state):
    """Insert in order of time; among equals the earlier ingress stays first."""
    if is_full(inbox):
        grow(world, inbox)
    air, start = world.air, inbox.start
    i = start + inbox.tail
    while i > start and air[i - 1].at > at:
        before, here = air[i - 1], air[i]
        here.at = before.at
        here.label = before.label
        here.state = before.state
        i -= 1
    packet = air[i]
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
    air = world.air
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
                    packet = first(air, wire)
                    label, state = packet.label, packet.state
                    egress = onward(world, label, state)
                    inbox = world.inboxes[world.port_of[egress]]
                    if inbox.tail == 0:
                        world.busy[n] = egress
                        n += 1
                    state += (1 - 2 * is_ack(state)) << HOP
                    file_into(world, inbox, at, label, state)
                    wire = behind_head(wire)
                    at = first_at(air, wire)
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
    return push(world.air, wire, at, label, state)


@part
def serve(world, l, until):
    """Run one egress up to `until`: merge its inbox with its own departures.

    Returns whether it has more to send, and when it sends next.
    """
    air = world.air
    link = world.links[l]
    kind = world.kinds[link.kind]
    inbox = world.inboxes[world.port_of[l]]
    count, came = inbox.tail, inbox.start
    inbox.tail = 0
    make_room(world, link.payload, count)
    make_room(world, link.control, count)
    # what changes is held in registers until it is put back below
    free_at, backlog, leaving, longest = link.free_at, link.backlog, link.leaving, link.longest
    control_backlog, control_leaving = link.control_backlog, link.control_leaving
    sent_bytes, waited = link.sent_bytes, 0
    data, control, wire = hold(link.payload), hold(link.control), hold(link.wire)
    delay, buffer, strict, mark_from = kind.delay, kind.buffer, kind.strict, kind.mark_from
    was_empty = length(wire) == 0
    i = 0
    while True:
        now = air[came + i].at if i < count else until - 1
        while free_at <= now:  # what the link sends up to now; a packet keeps its room until its last bit has left
            backlog -= leaving
            control_backlog -= control_leaving
            leaving, control_leaving = 0, 0
            if length(control):
                packet = first(air, control)
                control = behind_head(control)
                control_leaving = bytes_of(packet.state)
            elif length(data):
                packet = first(air, data)
                data = behind_head(data)
                leaving = bytes_of(packet.state)
            else:
                break
            wire_bytes = control_leaving + leaving
            waited += (free_at - packet.at) * wire_bytes >> WAITED
            sent_bytes += wire_bytes
            free_at += time_to_send(kind, wire_bytes)
            wire = launch(world, l, link, kind, wire, free_at + delay, packet.label, packet.state)
        if i == count:
            break
        packet = air[came + i]
        i += 1
        label, state = packet.label, packet.state
        wire_bytes = bytes_of(state)
        own_class = strict and is_ack(state)
        if (control_backlog if own_class else backlog) + wire_bytes > buffer:
            drop(world, l, label, state)
            continue
        if own_class:
            control_backlog += wire_bytes
        else:
            accepted = wire.tail + length(data) + length(control)  # packets before this one
            if backlog > mark_from and not is_ack(state) and is_marked(world, l, kind, backlog, accepted + link.lost):
                state |= MARK
                link.marks += 1
            backlog += wire_bytes
            longest = max(longest, backlog)
        if free_at <= now:  # nothing waits, so it leaves at once
            if own_class:
                control_leaving = wire_bytes
            else:
                leaving = wire_bytes
            sent_bytes += wire_bytes
            free_at = now + time_to_send(kind, wire_bytes)
            wire = launch(world, l, link, kind, wire, free_at + delay, label, state)
        elif own_class:
            control = push(air, control, now, label, state)
        else:
            data = push(air, data, now, label, state)
    if was_empty and length(wire):
        soonest = first_at(air, wire)
        world.due[l] = soonest
        wake(world, link.target, soonest)
    link.free_at, link.backlog, link.leaving, link.longest = free_at, backlog, leaving, longest
    link.control_backlog, link.control_leaving = control_backlog, control_leaving
    link.sent_bytes = sent_bytes
    if waited > 0:
        link.waited += waited
    put_back(link.payload, data)
    put_back(link.control, control)
    put_back(link.wire, wire)
    has_more = length(data) > 0 or length(control) > 0
    return has_more, free_at if has_more else NEVER


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
