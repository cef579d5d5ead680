"""What a NIC sends, and when: ACKs first; then packets passing through and its own connections, in turn."""

from typing import NamedTuple

import numpy as np

from netsim.core.classes import begin_turn, starts_at
from netsim.core.egress import put_on_wire, time_to_send
from netsim.core.entropies import next_entropy
from netsim.core.go_back_n import next_packet
from netsim.core.jitter import lateness, packets_before
from netsim.core.messages import has_left, may_send
from netsim.core.pacing import next_ready, park, unpark
from netsim.core.packet_header import bytes_of, connection_of
from netsim.core.packet_metadata import note_departure, taken_place
from netsim.core.packet_trace import LOST, PARKED, write_down
from netsim.core.per_packet_routing import REPS
from netsim.core.rings import append, length
from netsim.core.sack_sender import take_next
from netsim.core.tables import NEVER, WAITED
from netsim.core.wire_losses import is_lost
from netsim.kernel import part
from netsim.transport import dispatch


class Departing(NamedTuple):
    """A packet that leaves: since when it, or its connection's turn, has waited, and where in the air it lay.

    before: packets of its message that come before it; 0 of a packet that passes through.
    """

    came_at: int
    name: int
    content: int
    place: int
    parked: int
    before: int


@part
def take(world, ring):
    """The packet at the head of a ring that stays in its table. Its row holds until the ring is pushed to."""
    packet = world.packet_pool[ring.start + (ring.head & ring.mask)]
    ring.head += 1
    return packet


@part
def next_departure(world, l, lossless):
    """When this NIC sends next. A pause stops data, and where the classes share a queue ACKs too."""
    if world.settings[0].classes > 1:
        return starts_at(world, l)
    link = world.links[l]
    waiting = length(link.control) + length(link.payload) + length(link.turns)
    if lossless and world.gates[l].paused:
        waiting = length(link.control) if world.kinds[link.kind].strict else 0
        return link.free_at if waiting else NEVER
    if world.settings[0].paced and not waiting:
        return max(link.free_at, next_ready(world, l))
    return link.free_at if waiting else NEVER


@part
def transmit(world, l, link, queued_at, name, content, before):
    """Returns by how many ps of jitter it arrives late at the far end; -1 if the wire loses it."""
    kind = world.kinds[link.kind]
    wire_bytes = bytes_of(content)
    link.waited += (link.free_at - queued_at) * wire_bytes >> WAITED
    link.sent_bytes += wire_bytes
    time = time_to_send(kind, wire_bytes)
    link.free_at += time
    if world.settings[0].lossy and kind.loss > 0 and is_lost(world, l, kind, link.wire.tail, name, content):
        return np.int64(-1)
    late = np.int64(0)
    if world.settings[0].jittery and kind.jitter > 0:
        late = lateness(world, l, link, time, before, link.free_at + kind.delay)
    put_on_wire(world, l, link, link.free_at + kind.delay + late, name, content)
    return late


@part
def after_sending(world, link, queue, c, connection, m, sequence, began):
    """Note that it left, and give the connection its next turn in the queue of its class if it has more."""
    if sequence < connection.sent:
        world.flows[world.messages[m].flow].retransmitted += 1
    else:
        connection.sent = sequence + 1
        if connection.sending != m:
            has_left(world, m, link.free_at)
    if not may_send(world, c, connection):
        connection.queued = 0
    elif connection.ready_at <= began:
        append(world, queue.turns, link.free_at, c, 0)
    else:
        park(world, connection.egress, c, connection.ready_at)


@part
def empty_transmitter(link):
    """The last bit has left: only now does a packet that passes through give up its room."""
    link.backlog -= link.leaving
    link.leaving = 0


@part
def send_off(world, l, queue, packet, queued_at, own, now):
    """Put a packet on the wire, and write down what is to be written down of it."""
    link = world.links[l]
    began_at = link.free_at
    entropy = next_entropy(world, connection_of(packet.name)) if own and world.settings[0].steering == REPS else 0
    late = transmit(world, l, link, queued_at, packet.name, packet.content, packet.before)
    if world.settings[0].tracing:
        seen = (LOST if late < 0 else 0) | (PARKED if packet.parked else 0)
        write_down(world, l, packet.came_at, began_at + max(0, late), packet.name, packet.content | seen)
    if world.settings[0].timestamped and late >= 0:
        note_departure(world, l, queue, own, packet.place, packet.content, now, entropy)


@part
def take_waiting(world, ring):
    packet = take(world, ring)
    return Departing(packet.at, packet.label, packet.state, taken_place(ring), np.int64(0), np.int64(0))


@part
def send_own(world, l, link, queue, now):
    """The connection whose turn it is sends its next packet, if it still may."""
    turn = take(world, queue.turns)
    c, came_at, parked = turn.label, turn.at, turn.state
    connection = world.connections[c]
    if not may_send(world, c, connection):
        connection.queued = 0  # passed over
        return
    queue.favours_own = 0
    if world.settings[0].selective > 0:
        m, sequence, name, content = take_next(world, c, connection, link.free_at)
    else:
        m, sequence = connection.sending, connection.next
        name, content = next_packet(world, c, connection, link.free_at)
    if world.settings[0].paced:
        gap = dispatch.on_send(connection, bytes_of(content), now, world.settings[0].controls)
        connection.ready_at = now + gap
    before = packets_before(world, m, connection, sequence) if world.settings[0].jittery else np.int64(0)
    send_off(world, l, queue, Departing(came_at, name, content, np.int64(0), parked, before), link.free_at, True, now)
    after_sending(world, link, queue, c, connection, m, sequence, now)


@part
def depart(world, l, now):
    """One packet leaves: an ACK first; then packets passing through and own connections alternate."""
    link = world.links[l]
    queue = link
    if world.settings[0].classes > 1:
        queue = world.links[begin_turn(world, l, now)]
    else:
        empty_transmitter(link)
        if world.settings[0].paced:
            link.free_at = max(link.free_at, now)
            unpark(world, l, now)
    if length(link.control):
        packet = take_waiting(world, link.control)
    elif length(queue.payload) and not (queue.favours_own and length(queue.turns)):
        queue.favours_own = 1
        packet = take_waiting(world, queue.payload)
        queue.leaving = bytes_of(packet.content)
    else:
        send_own(world, l, link, queue, now)
        return
    send_off(world, l, queue, packet, packet.came_at, False, now)
