"""The queues of one egress of a switch, run by itself: enqueue, mark, drop, dequeue, transmit.

An egress that is being served is a Port, a value: the compiler keeps it in registers until it is stored. With flow
control what its ingresses hold is settled elsewhere (core/link/ingress_accounts.py); here it is only told.
"""

from typing import NamedTuple

import numpy as np

from netsim.core.link.drops import drop, is_lost
from netsim.core.link.ingress_accounts import LATE, record_pause, release_ingress
from netsim.core.link.pfc import is_pausable
from netsim.core.link.shared_buffer import change_pool
from netsim.core.link.wire import time_to_send
from netsim.core.state.dtypes import NEVER, WAITED
from netsim.core.state.packet_header import ACK, MARK, TRIMMED, bytes_of, ingress_of, is_ack, without_ingress
from netsim.core.state.packet_metadata import append_telemetry, carry_metadata, head_index
from netsim.core.state.packet_pool import Ring, behind_head, first, grow, is_full, length, load_ring, push, store_ring
from netsim.core.switch.trimming import make_room
from netsim.kernel import part
from netsim.queues import dispatch


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
    paused: int


@part
def is_pooled(world):
    """Whether ports of a switch share a buffer, which is a discipline."""
    return world.settings[0].disciplined and world.settings[0].pooling


@part
def load(link, paused):
    data = Queue(load_ring(link.payload), link.backlog, np.int64(link.leaving))
    control = Queue(load_ring(link.control), link.control_backlog, np.int64(link.control_leaving))
    return Port(link.free_at, data, control, load_ring(link.in_flight), paused)


@part
def store(link, port):
    link.free_at = port.free_at
    link.backlog, link.leaving = port.data.backlog, port.data.leaving
    link.control_backlog, link.control_leaving = port.control.backlog, port.control.leaving
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
    free_at, data, control, in_flight, _ = port
    return Port(free_at if paused else max(free_at, now), data, control, in_flight, paused)


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
def send(world, link_id, link, link_class, port, now, header, meta, pool_index, is_data, waiting):
    """Begin to send a packet of data, with `waiting` bytes behind it, or of the control class."""
    _, data, control, in_flight, paused = port
    settings, wire_bytes, before = world.settings[0], bytes_of(meta), in_flight.tail
    free_at = now + time_to_send(link_class, wire_bytes)
    in_flight = transmit_from(world, link_id, link, link_class, in_flight, free_at + link_class.delay, header, meta)
    if settings.timestamped and in_flight.tail > before:
        if settings.telemetered and is_data and not is_ack(meta):
            append_telemetry(world, pool_index, link_id, now, link.sent_bytes, waiting)
        carry_metadata(world, pool_index, in_flight)
    link.sent_bytes += wire_bytes
    return Port(free_at, data, control, in_flight, paused)


@part
def mark_at_dequeue(world, row, queue, backlog, wire_bytes, waited, sent, now):
    """A packet leaves the queue: MARK if it gets one, else 0. sent: packets before it that the wire did not lose."""
    settings, limits = world.settings[0], world.link_classes[queue.link_class]
    sent += world.links[row % settings.ports].lost
    state, seed = world.queue_state[row], settings.seed
    if dispatch.on_dequeue(settings, state, limits, backlog, wire_bytes, waited, sent, seed, row, now):
        queue.marks += 1
        return MARK
    return 0


@part
def dequeue(world, link_id, link, link_class, port, now):
    """What the link begins to send up to now, control first; a packet keeps its room until its last bit has left."""
    settings, lossless = world.settings[0], world.settings[0].lossless
    while port.free_at <= now:
        free_at, data, control, in_flight, paused = port
        if lossless and data.leaving:
            release_ingress(world, link_id, link_class, free_at, data.leaving, data.backlog - data.leaving)
        if is_pooled(world) and data.leaving:
            change_pool(world, np.int64(link.source), 2 * free_at, -data.leaving)
        data = Queue(data.ring, data.backlog - data.leaving, 0)
        control = Queue(control.ring, control.backlog - control.leaving, 0)
        ring = control.ring if length(control.ring) else data.ring
        if length(ring) == 0 or (paused and length(control.ring) == 0):
            return Port(free_at, data, control, in_flight, paused)
        packet, pool_index = first(world.packet_pool, ring), head_index(ring)
        header, meta, wire_bytes = packet.header, without_ingress(packet.meta), bytes_of(packet.meta)
        came_at = packet.at
        link.waited += (free_at - came_at) * wire_bytes >> WAITED
        if length(control.ring):
            control = Queue(behind_head(ring), control.backlog, wire_bytes)
        else:
            data = Queue(behind_head(ring), data.backlog, wire_bytes)
            if lossless:
                world.pfc_state[link_id].leaving_from = ingress_of(packet.meta)
            if settings.disciplined and not is_ack(meta):
                since, backlog = free_at - came_at, data.backlog
                meta |= mark_at_dequeue(world, link_id, link, backlog, wire_bytes, since, in_flight.tail, free_at)
        port = Port(free_at, data, control, in_flight, paused)
        waiting = data.backlog - data.leaving
        port = send(
            world, link_id, link, link_class, port, free_at, header, meta, pool_index, data.leaving > 0, waiting
        )
    return port


@part
def finds_room(world, link_id, link, link_class, port, own_class, wire_bytes, meta, now):
    """Whether a packet fits into its queue. Flow control has let in what it rules."""
    if own_class:
        return port.control.backlog + wire_bytes <= link_class.control_room
    settings, state, pool = world.settings[0], world.queue_state[link_id], world.pools[link.source]
    if not dispatch.refuses(settings, state, link_class, pool, port.data.backlog, wire_bytes, now):
        return True
    return settings.lossless and is_pausable(world, ingress_of(meta))


@part
def mark(world, link_id, link, link_class, port, meta, now):
    """A packet joins the queue: meta, with a mark if it gets one."""
    if is_ack(meta):
        return meta
    accepted = port.in_flight.tail + length(port.data.ring) + length(port.control.ring)  # before this one
    if world.settings[0].lossy:
        accepted += link.lost
    settings, state, backlog = world.settings[0], world.queue_state[link_id], port.data.backlog
    if dispatch.on_enqueue(settings, state, link_class, backlog, accepted, settings.seed, link_id, now):
        link.marks += 1
        return meta | MARK
    return meta


@part
def queue_behind(world, queue, now, header, meta, pool_index):
    """The packet waits at the end of a queue."""
    ring = push(world.packet_pool, queue.ring, now, header, meta)
    if world.settings[0].timestamped:
        carry_metadata(world, pool_index, ring)
    return Queue(ring, queue.backlog + bytes_of(meta), queue.leaving)


@part
def enqueue(world, link_id, link, link_class, port, now, header, meta, pool_index):
    """A packet comes to an egress: it is dropped or trimmed, waits, or leaves at once where nothing waits.

    pool_index: of its metadata.
    """
    settings, wire_bytes = world.settings[0], bytes_of(meta)
    own_class = link_class.strict and meta & (ACK | TRIMMED)
    if not finds_room(world, link_id, link, link_class, port, own_class, wire_bytes, meta, now):
        if own_class or not settings.disciplined:
            drop(world, link_id, header, meta)
            return port
        store(link, port)
        has_room = make_room(world, link_id, header, without_ingress(meta), now, pool_index, True)
        port = load(link, port.paused)
        if not has_room:
            return port
    if not own_class:
        if is_pooled(world):
            change_pool(world, np.int64(link.source), 2 * now + LATE, wire_bytes)
        meta = mark(world, link_id, link, link_class, port, meta, now)
        if settings.lossless and port.data.backlog + wire_bytes > link_class.pause_above:
            record_pause(world, link_id, ingress_of(meta), now)
    at_once = port.free_at <= now and (own_class or not port.paused) and not settings.disciplined
    if at_once:
        bare, waiting = without_ingress(meta), port.data.backlog
        port = send(world, link_id, link, link_class, port, now, header, bare, pool_index, not own_class, waiting)
    free_at, data, control, in_flight, paused = port
    if own_class and at_once:
        control = Queue(control.ring, control.backlog + wire_bytes, wire_bytes)
    elif own_class:
        control = queue_behind(world, control, now, header, meta, pool_index)
    else:
        link.longest = max(link.longest, data.backlog + wire_bytes)
        if at_once:
            data = Queue(data.ring, data.backlog + wire_bytes, wire_bytes)
            if settings.lossless:
                world.pfc_state[link_id].leaving_from = ingress_of(meta)
        else:
            data = queue_behind(world, data, now, header, meta, pool_index)
    return Port(max(free_at, now), data, control, in_flight, paused)
