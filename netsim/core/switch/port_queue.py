"""The queues of one egress of a switch, run by itself: enqueue, mark, drop, dequeue, transmit.

An egress that is being served is a Port, a value: the compiler keeps it in registers until it is stored. With flow
control what its ingresses hold is settled elsewhere (core/link/ingress_accounts.py); here it is only told.
"""

from typing import NamedTuple

import numpy as np

from netsim.core.link.drops import drop, is_lost
from netsim.core.link.ecn import is_marked
from netsim.core.link.ingress_accounts import record_pause, release_ingress
from netsim.core.link.pfc import is_pausable
from netsim.core.link.wire import time_to_send
from netsim.core.state.dtypes import NEVER, WAITED
from netsim.core.state.packet_header import ACK, MARK, TRIMMED, bytes_of, ingress_of, is_ack, without_ingress
from netsim.core.state.packet_metadata import append_telemetry, carry_metadata, head_index
from netsim.core.state.packet_pool import Ring, behind_head, first, grow, is_full, length, load_ring, push, store_ring
from netsim.core.switch.trimming import trim_for
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
    paused: int


@part
def load(link, paused):
    data = Queue(load_ring(link.payload), link.backlog, np.int64(link.leaving))
    control = Queue(load_ring(link.control), link.control_backlog, np.int64(link.control_leaving))
    return Port(link.free_at, data, control, load_ring(link.in_flight), link.longest, link.sent_bytes, 0, paused)


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
def next_transmission(port):
    """When the port next begins to send by itself; NEVER if nothing waits that may be sent."""
    if length(port.control.ring) or (length(port.data.ring) and not port.paused):
        return port.free_at
    return NEVER


@part
def with_pause(port, now, paused):
    """The port has stopped sending data, or goes on."""
    free_at, data, control, in_flight, longest, sent_bytes, waited, _ = port
    if not paused:
        free_at = max(free_at, now)
    return Port(free_at, data, control, in_flight, longest, sent_bytes, waited, paused)


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
def dequeue(world, link_id, link, link_class, port, now):
    """What the link begins to send up to now, control first; a packet keeps its room until its last bit has left."""
    free_at, data, control, in_flight, longest, sent_bytes, waited, paused = port
    settings, lossless = world.settings[0], world.settings[0].lossless
    while free_at <= now:
        if lossless and data.leaving:
            release_ingress(world, link_id, link_class, free_at, data.leaving, data.backlog - data.leaving)
        data = Queue(data.ring, data.backlog - data.leaving, 0)
        control = Queue(control.ring, control.backlog - control.leaving, 0)
        if length(control.ring):
            packet, pool_index = first(world.packet_pool, control.ring), head_index(control.ring)
            control = Queue(behind_head(control.ring), control.backlog, bytes_of(packet.meta))
        elif length(data.ring) and not paused:
            packet, pool_index = first(world.packet_pool, data.ring), head_index(data.ring)
            data = Queue(behind_head(data.ring), data.backlog, bytes_of(packet.meta))
            if lossless:
                world.pfc_state[link_id].leaving_from = ingress_of(packet.meta)
        else:
            break
        wire_bytes, began_at, meta = control.leaving + data.leaving, free_at, without_ingress(packet.meta)
        waited += (began_at - packet.at) * wire_bytes >> WAITED
        sent_bytes += wire_bytes
        free_at += time_to_send(link_class, wire_bytes)
        if settings.trim and settings.marks_late and data.leaving:
            if is_marked(world, link_id, link_class, data.backlog, in_flight.tail + link.lost):
                meta |= MARK
                link.marks += 1
        before = in_flight.tail
        in_flight = transmit_from(
            world, link_id, link, link_class, in_flight, free_at + link_class.delay, packet.header, meta
        )
        if settings.timestamped and in_flight.tail > before:
            if settings.telemetered and data.leaving and not is_ack(meta):
                waiting = data.backlog - data.leaving
                append_telemetry(world, pool_index, link_id, began_at, sent_bytes - wire_bytes, waiting)
            carry_metadata(world, pool_index, in_flight)
    return Port(free_at, data, control, in_flight, longest, sent_bytes, waited, paused)


@part
def finds_room(world, link_class, own_class, backlog, wire_bytes, meta):
    """Whether a packet fits into its queue. Flow control has let in what it rules."""
    if own_class:
        return backlog + wire_bytes <= link_class.control_room
    if backlog + wire_bytes <= link_class.buffer:
        return True
    return world.settings[0].lossless and is_pausable(world, ingress_of(meta))


@part
def enqueue(world, link_id, link, link_class, port, now, header, meta, pool_index):
    """A packet comes to an egress: it is dropped or trimmed, waits, or leaves at once where nothing waits.

    pool_index: of its metadata.
    """
    settings, wire_bytes = world.settings[0], bytes_of(meta)
    own_class = link_class.strict and meta & (ACK | TRIMMED)
    backlog = port.control.backlog if own_class else port.data.backlog
    if not finds_room(world, link_class, own_class, backlog, wire_bytes, meta):
        if own_class or not settings.trim:
            drop(world, link_id, header, meta)
            return port
        store(link, port)
        has_room = trim_for(world, link_id, header, without_ingress(meta), now, pool_index)
        port = load(link, port.paused)
        if not has_room:
            return port
    free_at, data, control, in_flight, longest, sent_bytes, waited, paused = port
    if not own_class:
        accepted = in_flight.tail + length(data.ring) + length(control.ring) + link.lost  # packets before this one
        if (
            data.backlog > link_class.mark_from
            and not is_ack(meta)
            and not (settings.trim and settings.marks_late)
            and is_marked(world, link_id, link_class, data.backlog, accepted)
        ):
            meta |= MARK
            link.marks += 1
        longest = max(longest, data.backlog + wire_bytes)
        if settings.lossless and data.backlog + wire_bytes > link_class.pause_above:
            record_pause(world, link_id, ingress_of(meta), now)
    if free_at <= now and (own_class or not paused) and not (settings.trim and settings.marks_late):
        before = in_flight.tail
        sent_bytes += wire_bytes
        free_at = now + time_to_send(link_class, wire_bytes)
        in_flight = transmit_from(
            world, link_id, link, link_class, in_flight, free_at + link_class.delay, header, without_ingress(meta)
        )
        if settings.timestamped and in_flight.tail > before:
            if settings.telemetered and not (own_class or is_ack(meta)):
                append_telemetry(world, pool_index, link_id, now, sent_bytes - wire_bytes, data.backlog)
            carry_metadata(world, pool_index, in_flight)
        if own_class:
            control = Queue(control.ring, control.backlog + wire_bytes, wire_bytes)
        else:
            data = Queue(data.ring, data.backlog + wire_bytes, wire_bytes)
            if settings.lossless:
                world.pfc_state[link_id].leaving_from = ingress_of(meta)
    elif own_class:
        free_at = max(free_at, now)
        ring = push(world.packet_pool, control.ring, now, header, meta)
        if settings.timestamped:
            carry_metadata(world, pool_index, ring)
        control = Queue(ring, control.backlog + wire_bytes, control.leaving)
    else:
        free_at = max(free_at, now)
        ring = push(world.packet_pool, data.ring, now, header, meta)
        if settings.timestamped:
            carry_metadata(world, pool_index, ring)
        data = Queue(ring, data.backlog + wire_bytes, data.leaving)
    return Port(free_at, data, control, in_flight, longest, sent_bytes, waited, paused)
