"""A host in one window: it goes from event to event, time-outs before departures before arrivals.

Its NICs pull packets from their connections in turn, pass on what only passes through, answer data with ACKs and ACKs
with more data.
"""

import numpy as np

from netsim.core.classes import above, first_signal, let_leave
from netsim.core.egress import onward
from netsim.core.entropies import end_entropy
from netsim.core.go_back_n import acknowledge, go_back, on_data
from netsim.core.messages import offer
from netsim.core.nic_scheduler import depart, empty_transmitter, next_departure, take
from netsim.core.packet_header import (
    ACK,
    CNP,
    HOP,
    MARK,
    NAK,
    PULL,
    TRIMMED,
    bytes_of,
    connection_of,
    hop_of,
    is_ack,
    next_hop,
    sequence_of,
)
from netsim.core.packet_metadata import carry_notes, taken_place
from netsim.core.pauses import obey
from netsim.core.per_packet_routing import REPS
from netsim.core.pulls import next_pull, pull
from netsim.core.rings import append, first_at, hold
from netsim.core.sack_receiver import take_in
from netsim.core.sack_sender import learn
from netsim.core.tables import NEVER
from netsim.core.telemetry import read_notes
from netsim.core.timeouts import expire
from netsim.kernel import inner, part
from netsim.transport import dispatch


@inner
def pass_on(world, name, content, now, place):
    """A packet that only passes through this host (PXN: received over NVLink, sent by the NIC on the right rail)."""
    l = onward(world, name, content)
    link = world.links[l]
    queue = link
    if world.settings[0].classes > 1:
        queue = world.links[l + above(world, name)]
        if link.free_at <= now:
            let_leave(world, l)
        queue.free_at = max(queue.free_at, now)
    elif link.free_at <= now:
        empty_transmitter(link)
    link.free_at = max(link.free_at, now)
    content += (1 - 2 * is_ack(content)) << HOP
    if content & (ACK | TRIMMED):
        append(world, link.control, now, name, content)
    else:
        append(world, queue.payload, now, name, content)
        queue.backlog += bytes_of(content)
        queue.longest = max(queue.longest, queue.backlog)
    if world.settings[0].timestamped:
        carry_notes(world, place, link.control if content & (ACK | TRIMMED) else queue.payload)


@part
def on_ack(world, name, content, now, place):
    """What the control hears is in this order: losses, marks, the round trip. A header's says nothing of the queues."""
    settings = world.settings[0]
    c, expected = connection_of(name), sequence_of(name)
    connection = world.connections[c]
    connection.acks_received += 1
    echoes = settings.selective == 0 or content & (NAK | PULL) == 0  # it answers a packet that came whole
    if settings.steering == REPS and echoes:
        end_entropy(world, c, place, content & MARK)
    if settings.selective > 0:
        expected, gained = learn(world, c, connection, expected, content, now, place)
    else:
        if content & NAK and (expected >= connection.acked or connection.next > connection.acked):
            first = max(expected, connection.acked)  # ACKs on other paths may have overtaken it
            go_back(world, connection, first, now)
        gained = max(0, expected - connection.acked)
    advanced = expected > connection.acked
    if advanced:
        acknowledge(world, connection, expected, now)
    if content & CNP:
        dispatch.on_notification(connection, now, settings.controls)
    dispatch.on_ack(connection, advanced, content & MARK, now, settings.controls)
    if settings.timestamped and echoes:
        read_notes(world, c, connection, place, gained, content & MARK, now)
    offer(world, c, now)


@part
def accept(world, l, now):
    """Take the first packet off the wire."""
    wire = world.links[l].wire
    packet = take(world, wire)
    name, content = packet.label, packet.state
    world.due[l] = first_at(world.packet_pool, hold(wire))
    place = taken_place(wire)
    if is_ack(content) and hop_of(content) == 0:
        on_ack(world, name, content, now, place)
    elif not is_ack(content) and next_hop(content) == world.connections[connection_of(name)].length:
        if world.settings[0].selective > 0:
            take_in(world, name, content, now, place)
        else:
            on_data(world, name, content, now, place)
    else:
        pass_on(world, name, content, now, place)


@part
def next_egress(world, node, lossless):
    """The link that sends next, and when."""
    egress = world.outbound[node.first_out]
    departs = next_departure(world, egress, lossless)
    for i in range(node.first_out + 1, node.last_out):
        at = next_departure(world, world.outbound[i], lossless)
        if at < departs:
            departs, egress = at, world.outbound[i]
    return departs, egress


@part
def next_ingress(world, node):
    """The link that brings the next packet, and when."""
    ingress = world.inbound[node.first_in]
    arrives = world.due[ingress]
    for i in range(node.first_in + 1, node.last_in):
        at = world.due[world.inbound[i]]
        if at < arrives:
            arrives, ingress = at, world.inbound[i]
    return arrives, ingress


@part
def next_stop(world, node):
    """The link that hears the next PAUSE or RESUME, and when."""
    signalled, stopped = NEVER, np.uint32(0)
    for i in range(node.first_out, node.last_out):
        at, row = first_signal(world, world.outbound[i])
        if at < signalled:
            signalled, stopped = at, row
    return signalled, stopped


@part
def next_puller(world, node):
    """The link that the next pull leaves by, and when."""
    pulls, puller = NEVER, np.uint32(0)
    for i in range(node.first_out, node.last_out):
        at = next_pull(world, world.outbound[i])
        if at < pulls:
            pulls, puller = at, world.outbound[i]
    return pulls, puller


@part
def host(world, v, until):
    node = world.nodes[v]
    row = world.hosts[v]
    row.limit = NEVER
    lossless, pulling = world.settings[0].lossless, world.settings[0].pulling
    signalled, stopped = NEVER, np.uint32(0)
    pulls, puller = NEVER, np.uint32(0)
    while True:
        departs, egress = next_egress(world, node, lossless)
        arrives, ingress = next_ingress(world, node)
        if lossless:
            signalled, stopped = next_stop(world, node)
        if pulling:
            pulls, puller = next_puller(world, node)
        now = min(min(departs, pulls), min(signalled, arrives))
        bound = min(until, row.limit)
        if now >= min(bound, row.expires):
            if row.expires >= bound:
                break
            expire(world, v, row.expires)
            continue
        if pulls == now:
            pull(world, puller, now)
        elif departs == now:
            depart(world, egress, now)
        elif signalled == now:
            obey(world, stopped, now)
        else:
            accept(world, ingress, now)
    row.reached = max(row.reached, bound)
    world.wake[v] = min(now, row.expires)
