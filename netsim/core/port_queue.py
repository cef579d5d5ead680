"""The queues of one egress of a switch, run by itself: enqueue, mark, drop, dequeue, transmit.

An egress that is being served is a Port, a value: the compiler keeps it in registers until it is stored. With flow
control what its ingresses hold is settled elsewhere (core/ingress_accounts.py); here it is only told.
"""

from typing import NamedTuple

import numpy as np

from netsim.core.egress import time_to_send
from netsim.core.ingress_accounts import pfc_release, stop_ingress
from netsim.core.packet_header import MARK, bytes_of, ingress_of, is_ack, without_ingress
from netsim.core.pauses import is_ruled
from netsim.core.random import thirty_bits
from netsim.core.rings import Ring, behind_head, first, grow, hold, is_full, length, push, put_back
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
    paused: int


@part
def load(link, paused):
    data = Queue(hold(link.payload), link.backlog, np.int64(link.leaving))
    control = Queue(hold(link.control), link.control_backlog, np.int64(link.control_leaving))
    return Port(link.free_at, data, control, hold(link.wire), link.longest, link.sent_bytes, 0, paused)


@part
def store(link, port):
    link.free_at, link.longest, link.sent_bytes = port.free_at, port.longest, port.sent_bytes
    link.backlog, link.leaving = port.data.backlog, port.data.leaving
    link.control_backlog, link.control_leaving = port.control.backlog, port.control.leaving
    if port.waited > 0:
        link.waited += port.waited
    put_back(link.payload, port.data.ring)
    put_back(link.control, port.control.ring)
    put_back(link.wire, port.wire)


@part
def next_transmission(port):
    """When the port begins to send again by itself; NEVER if nothing waits that may be sent."""
    if length(port.control.ring) or (length(port.data.ring) and not port.paused):
        return port.free_at
    return NEVER


@part
def on_pause(port, now, paused):
    """The port has stopped sending data, or goes on."""
    free_at, data, control, wire, longest, sent_bytes, waited, _ = port
    if not paused:
        free_at = max(free_at, now)
    return Port(free_at, data, control, wire, longest, sent_bytes, waited, paused)


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
def transmit(world, l, link, kind, wire, at, label, state):
    """Put a packet on the wire; it arrives at `at`, if it is not lost there. Returns the wire."""
    if world.settings[0].lossy and kind.loss > 0 and is_lost(world, l, kind, wire.tail, label, state):
        return wire
    if is_full(wire):
        put_back(link.wire, wire)
        grow(world, link.wire)
        wire = hold(link.wire)
    return push(world.packet_pool, wire, at, label, state)


@part
def dequeue(world, l, link, kind, port, now):
    """What the link begins to send up to now, control first; a packet keeps its room until its last bit has left."""
    free_at, data, control, wire, longest, sent_bytes, waited, paused = port
    lossless = world.settings[0].lossless
    while free_at <= now:
        if lossless and data.leaving:
            pfc_release(world, l, kind, free_at, data.leaving, data.backlog - data.leaving)
        data = Queue(data.ring, data.backlog - data.leaving, 0)
        control = Queue(control.ring, control.backlog - control.leaving, 0)
        if length(control.ring):
            packet = first(world.packet_pool, control.ring)
            control = Queue(behind_head(control.ring), control.backlog, bytes_of(packet.state))
        elif length(data.ring) and not paused:
            packet = first(world.packet_pool, data.ring)
            data = Queue(behind_head(data.ring), data.backlog, bytes_of(packet.state))
            if lossless:
                world.gates[l].leaving_from = ingress_of(packet.state)
        else:
            break
        wire_bytes = control.leaving + data.leaving
        waited += (free_at - packet.at) * wire_bytes >> WAITED
        sent_bytes += wire_bytes
        free_at += time_to_send(kind, wire_bytes)
        state = without_ingress(packet.state)
        wire = transmit(world, l, link, kind, wire, free_at + kind.delay, packet.label, state)
    return Port(free_at, data, control, wire, longest, sent_bytes, waited, paused)


@part
def finds_room(world, kind, own_class, backlog, wire_bytes, state):
    """Whether a packet fits into its queue. Flow control has let in what it rules."""
    if own_class:
        return backlog + wire_bytes <= kind.control_room
    if backlog + wire_bytes <= kind.buffer:
        return True
    return world.settings[0].lossless and is_ruled(world, ingress_of(state))


@part
def enqueue(world, l, link, kind, port, now, label, state):
    """A packet comes to an egress: it is dropped, waits, or leaves at once where nothing waits."""
    free_at, data, control, wire, longest, sent_bytes, waited, paused = port
    wire_bytes = bytes_of(state)
    own_class = kind.strict and is_ack(state)
    if not finds_room(world, kind, own_class, control.backlog if own_class else data.backlog, wire_bytes, state):
        drop(world, l, label, state)
        return port
    if not own_class:
        accepted = wire.tail + length(data.ring) + length(control.ring) + link.lost  # packets before this one
        if data.backlog > kind.mark_from and not is_ack(state) and is_marked(world, l, kind, data.backlog, accepted):
            state |= MARK
            link.marks += 1
        longest = max(longest, data.backlog + wire_bytes)
        if world.settings[0].lossless and data.backlog + wire_bytes > kind.stop_above:
            stop_ingress(world, l, ingress_of(state), now)
    if free_at <= now and (own_class or not paused):
        sent_bytes += wire_bytes
        free_at = now + time_to_send(kind, wire_bytes)
        wire = transmit(world, l, link, kind, wire, free_at + kind.delay, label, without_ingress(state))
        if own_class:
            control = Queue(control.ring, control.backlog + wire_bytes, wire_bytes)
        else:
            data = Queue(data.ring, data.backlog + wire_bytes, wire_bytes)
            if world.settings[0].lossless:
                world.gates[l].leaving_from = ingress_of(state)
    elif own_class:
        ring = push(world.packet_pool, control.ring, now, label, state)
        control = Queue(ring, control.backlog + wire_bytes, control.leaving)
    else:
        free_at = max(free_at, now)
        ring = push(world.packet_pool, data.ring, now, label, state)
        data = Queue(ring, data.backlog + wire_bytes, data.leaving)
    return Port(free_at, data, control, wire, longest, sent_bytes, waited, paused)
