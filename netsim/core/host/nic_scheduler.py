"""What a NIC sends, and when: ACKs first; then packets passing through and its own connections, in turn."""

from typing import NamedTuple

import numpy as np

from netsim.core.flows.messages import has_left, may_send
from netsim.core.host.jitter import jitter_of, packets_before
from netsim.core.link.drops import is_lost
from netsim.core.link.pacing import dequeue_paced, enqueue_paced, next_paced
from netsim.core.link.priorities import begin_class_turn, next_start
from netsim.core.link.wire import time_to_send, transmit
from netsim.core.observe.packet_trace import LOST, WAS_PACED, trace_packet
from netsim.core.recovery.go_back_n import next_packet
from netsim.core.recovery.sack_sender import take_next
from netsim.core.state.dtypes import NEVER, WAITED
from netsim.core.state.packet_header import ACK, TRIMMED, bytes_of, connection_of
from netsim.core.state.packet_metadata import record_departure, taken_index
from netsim.core.state.packet_pool import append, length
from netsim.core.switch.entropies import next_entropy
from netsim.core.switch.per_packet_routing import REPS
from netsim.kernel import part
from netsim.queues import dispatch as queue_dispatch
from netsim.transport import dispatch


class Departing(NamedTuple):
    """A packet that leaves: since when it, or its connection's turn, has waited, and its index in the packet pool.

    before: packets of its message that come before it; 0 of a packet that passes through.
    """

    came_at: int
    header: int
    meta: int
    pool_index: int
    was_paced: int
    before: int


@part
def take(world, ring):
    """The packet at the head of a ring that stays in its table. Its row holds until the ring is pushed to."""
    packet = world.packet_pool[ring.start + (ring.head & ring.mask)]
    ring.head += 1
    return packet


@part
def next_departure(world, link_id, lossless):
    """When this NIC sends next. A pause stops data, and where the classes share a queue ACKs too."""
    if world.settings[0].classes > 1:
        return next_start(world, link_id)
    link = world.links[link_id]
    waiting = length(link.control) + length(link.payload) + length(link.send_ring)
    if lossless and world.pfc_state[link_id].paused:
        waiting = length(link.control) if world.link_classes[link.link_class].strict else 0
        return link.free_at if waiting else NEVER
    if world.settings[0].paced and not waiting:
        return max(link.free_at, next_paced(world, link_id))
    return link.free_at if waiting else NEVER


@part
def serialise(world, link_id, link, queued_at, header, meta, before):
    """Returns by how many ps of jitter it arrives late at the far end; -1 if the wire loses it."""
    link_class = world.link_classes[link.link_class]
    wire_bytes = bytes_of(meta)
    link.waited += (link.free_at - queued_at) * wire_bytes >> WAITED
    link.sent_bytes += wire_bytes
    time = time_to_send(link_class, wire_bytes)
    link.free_at += time
    if (
        world.settings[0].lossy
        and link_class.loss > 0
        and is_lost(world, link_id, link_class, link.in_flight.tail, header, meta)
    ):
        return np.int64(-1)
    late = np.int64(0)
    if world.settings[0].jittery and link_class.jitter > 0:
        late = jitter_of(world, link_id, link, time, before, link.free_at + link_class.delay)
    transmit(world, link_id, link, link.free_at + link_class.delay + late, header, meta)
    return late


@part
def after_transmit(world, link, queue, connection_id, connection, message_id, sequence, began):
    """Note that it left, and give the connection its next turn in the queue of its class if it has more."""
    if sequence < connection.sent:
        world.flows[world.messages[message_id].flow].retransmitted += 1
    else:
        connection.sent = sequence + 1
        if connection.sending != message_id:
            has_left(world, message_id, link.free_at)
    if not may_send(world, connection_id, connection):
        connection.queued = 0
    elif connection.ready_at <= began:
        append(world, queue.send_ring, link.free_at, connection_id, 0)
    else:
        enqueue_paced(world, connection.egress, connection_id, connection.ready_at)


@part
def finish_transmission(link):
    """The last bit has left: only now does a packet that passes through give up its room."""
    link.backlog -= link.leaving
    link.leaving = 0


@part
def put_on_link(world, link_id, row, packet, queued_at, own, now):
    """Put a packet on the wire, and trace it where packets are traced."""
    link = world.links[link_id]
    began_at = link.free_at
    entropy = (
        next_entropy(world, connection_of(packet.header)) if own and world.settings[0].per_packet_routing == REPS else 0
    )
    late = serialise(world, link_id, link, queued_at, packet.header, packet.meta, packet.before)
    if world.settings[0].classes > 1 and world.settings[0].disciplined and packet.meta & (ACK | TRIMMED) == 0:
        queue_dispatch.on_transmit(world.settings[0], world.queue_state[row], bytes_of(packet.meta))
    if world.settings[0].tracing:
        seen = (LOST if late < 0 else 0) | (WAS_PACED if packet.was_paced else 0)
        trace_packet(world, link_id, packet.came_at, began_at + max(0, late), packet.header, packet.meta | seen)
    if world.settings[0].timestamped and late >= 0:
        record_departure(world, link_id, world.links[row], own, packet.pool_index, packet.meta, now, entropy)


@part
def take_waiting(world, ring):
    packet = take(world, ring)
    return Departing(packet.at, packet.header, packet.meta, taken_index(ring), np.int64(0), np.int64(0))


@part
def send_own(world, link_id, link, row, now):
    """The connection whose turn it is sends its next packet, if it still may."""
    queue = world.links[row]
    turn = take(world, queue.send_ring)
    connection_id, came_at, was_paced = turn.header, turn.at, turn.meta
    connection = world.connections[connection_id]
    if not may_send(world, connection_id, connection):
        connection.queued = 0  # passed over
        return
    queue.round_robin_own_next = 0
    if world.settings[0].selective > 0:
        message_id, sequence, header, meta = take_next(world, connection_id, connection, link.free_at)
    else:
        message_id, sequence = connection.sending, connection.next
        header, meta = next_packet(world, connection_id, connection, link.free_at)
    if world.settings[0].paced:
        gap = dispatch.on_send(connection, world.settings[0].controls, bytes_of(meta), now)
        connection.ready_at = now + gap
    before = packets_before(world, message_id, connection, sequence) if world.settings[0].jittery else np.int64(0)
    put_on_link(
        world,
        link_id,
        row,
        Departing(came_at, header, meta, np.int64(0), was_paced, before),
        link.free_at,
        True,
        now,
    )
    after_transmit(world, link, queue, connection_id, connection, message_id, sequence, now)


@part
def depart(world, link_id, now):
    """One packet leaves: an ACK first; then packets passing through and own connections alternate."""
    link, row = world.links[link_id], np.int64(link_id)
    if world.settings[0].classes > 1:
        row = begin_class_turn(world, link_id, now)
    else:
        finish_transmission(link)
        if world.settings[0].paced:
            link.free_at = max(link.free_at, now)
            dequeue_paced(world, link_id, now)
    queue = world.links[row]
    if length(link.control):
        packet = take_waiting(world, link.control)
    elif length(queue.payload) and not (queue.round_robin_own_next and length(queue.send_ring)):
        queue.round_robin_own_next = 1
        packet = take_waiting(world, queue.payload)
        queue.leaving = bytes_of(packet.meta)
    else:
        send_own(world, link_id, link, row, now)
        return
    put_on_link(world, link_id, row, packet, packet.came_at, False, now)
