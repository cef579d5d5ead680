"""A host in one window: it goes from event to event, time-outs before departures before arrivals.

Its NICs pull packets from their connections in turn, pass on what only passes through, answer data with ACKs and ACKs
with more data.
"""

import numpy as np

from netsim.core.flows.messages import schedule_connection
from netsim.core.host.nic_scheduler import depart, finish_transmission, next_departure, take
from netsim.core.host.telemetry import read_metadata
from netsim.core.link.pfc import on_pause
from netsim.core.link.priorities import class_offset, finish_passing, first_signal
from netsim.core.link.wire import onward
from netsim.core.recovery import go_back_n, sack_receiver
from netsim.core.recovery.receiver_credit import next_pull, pull
from netsim.core.recovery.sack_sender import on_sack
from netsim.core.recovery.timeouts import on_timeouts
from netsim.core.state.dtypes import NEVER
from netsim.core.state.packet_header import (
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
from netsim.core.state.packet_metadata import carry_metadata, taken_index
from netsim.core.state.packet_pool import append, first_at, load_ring
from netsim.core.switch.entropies import end_entropy
from netsim.core.switch.per_packet_routing import REPS
from netsim.kernel import inner, part
from netsim.transport import dispatch


@inner
def forward(world, header, meta, now, pool_index):
    """A packet that only passes through this host (PXN: received over NVLink, sent by the NIC on the right rail)."""
    link_id = onward(world, header, meta)
    link = world.links[link_id]
    queue = link
    if world.settings[0].classes > 1:
        queue = world.links[link_id + class_offset(world, header)]
        if link.free_at <= now:
            finish_passing(world, link_id)
        queue.free_at = max(queue.free_at, now)
    elif link.free_at <= now:
        finish_transmission(link)
    link.free_at = max(link.free_at, now)
    meta += (1 - 2 * is_ack(meta)) << HOP
    if meta & (ACK | TRIMMED):
        append(world, link.control, now, header, meta)
    else:
        append(world, queue.payload, now, header, meta)
        queue.backlog += bytes_of(meta)
        queue.longest = max(queue.longest, queue.backlog)
    if world.settings[0].timestamped:
        carry_metadata(world, pool_index, link.control if meta & (ACK | TRIMMED) else queue.payload)


@part
def on_ack(world, header, meta, now, pool_index):
    """What the control hears is in this order: losses, marks, the round trip. A header's says nothing of the queues."""
    settings = world.settings[0]
    connection_id, expected = connection_of(header), sequence_of(header)
    connection = world.connections[connection_id]
    connection.acks_received += 1
    echoes = settings.selective == 0 or meta & (NAK | PULL) == 0  # it answers a packet that came whole
    if settings.per_packet_routing == REPS and echoes:
        end_entropy(world, connection_id, pool_index, meta & MARK)
    if settings.selective > 0:
        expected, gained = on_sack(world, connection_id, connection, expected, meta, now, pool_index)
    else:
        if meta & NAK and (expected >= connection.acked or connection.next > connection.acked):
            first = max(expected, connection.acked)  # ACKs on other paths may have overtaken it
            go_back_n.go_back(world, connection, first, now)
        gained = max(0, expected - connection.acked)
    advanced = expected > connection.acked
    if advanced:
        go_back_n.acknowledge(world, connection, expected, now)
    if meta & CNP:
        dispatch.on_notification(connection, settings.controls, now)
    dispatch.on_ack(connection, settings.controls, advanced, meta & MARK, now)
    if settings.timestamped and echoes:
        read_metadata(world, connection_id, connection, pool_index, gained, meta & MARK, now)
    schedule_connection(world, connection_id, now)


@part
def on_arrival(world, link_id, now):
    """Take the first packet off the wire."""
    in_flight = world.links[link_id].in_flight
    packet = take(world, in_flight)
    header, meta = packet.header, packet.meta
    world.next_arrival[link_id] = first_at(world.packet_pool, load_ring(in_flight))
    pool_index = taken_index(in_flight)
    if is_ack(meta) and hop_of(meta) == 0:
        on_ack(world, header, meta, now, pool_index)
    elif not is_ack(meta) and next_hop(meta) == world.connections[connection_of(header)].length:
        if world.settings[0].selective > 0:
            sack_receiver.on_data(world, header, meta, now, pool_index)
        else:
            go_back_n.on_data(world, header, meta, now, pool_index)
    else:
        forward(world, header, meta, now, pool_index)


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
    arrives = world.next_arrival[ingress]
    for i in range(node.first_in + 1, node.last_in):
        at = world.next_arrival[world.inbound[i]]
        if at < arrives:
            arrives, ingress = at, world.inbound[i]
    return arrives, ingress


@part
def next_pause_at(world, node):
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
def host(world, node_id, until):
    node = world.nodes[node_id]
    row = world.hosts[node_id]
    row.limit = NEVER
    lossless, pulling = world.settings[0].lossless, world.settings[0].receiver_credit
    signalled, stopped = NEVER, np.uint32(0)
    pulls, puller = NEVER, np.uint32(0)
    while True:
        departs, egress = next_egress(world, node, lossless)
        arrives, ingress = next_ingress(world, node)
        if lossless:
            signalled, stopped = next_pause_at(world, node)
        if pulling:
            pulls, puller = next_puller(world, node)
        now = min(min(departs, pulls), min(signalled, arrives))
        bound = min(until, row.limit)
        if now >= min(bound, row.expires):
            if row.expires >= bound:
                break
            on_timeouts(world, node_id, row.expires)
            continue
        if pulls == now:
            pull(world, puller, now)
        elif departs == now:
            depart(world, egress, now)
        elif signalled == now:
            on_pause(world, stopped, now)
        else:
            on_arrival(world, ingress, now)
    row.reached = max(row.reached, bound)
    world.next_event[node_id] = min(now, row.expires)
