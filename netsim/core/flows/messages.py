"""Chunk flows in motion: a message waits for others and its rank, queues on its connection, arrives, frees others."""

import numpy as np

from netsim.core.link.pacing import enqueue_paced
from netsim.core.link.wire import schedule_node
from netsim.core.observe.packet_trace import begin_timeline
from netsim.core.state.dtypes import NONE
from netsim.core.state.packet_pool import append
from netsim.core.state.packet_sizes import packets_in
from netsim.core.state.sack_scoreboard import may_send_some
from netsim.kernel import inner, part
from netsim.transport import dispatch


@part
def may_send(world, connection_id, connection):
    if world.settings[0].selective > 0:
        return may_send_some(world, connection_id, connection)
    return connection.next < min(connection.stop, connection.acked + (connection.cwnd >> 16))


@part
def schedule_connection(world, connection_id, now):
    """Give the connection its turn at the NIC if it may send and does not wait there already."""
    connection = world.connections[connection_id]
    if connection.queued == 0 and may_send(world, connection_id, connection):
        connection.queued = 1
        link = world.links[connection.egress]
        link.free_at = max(link.free_at, now)
        if connection.ready_at <= now:
            append(world, link.send_ring, now, connection_id, 0)
            schedule_node(world, connection.source, link.free_at)
        else:
            enqueue_paced(world, connection.egress, connection_id, connection.ready_at)
            schedule_node(world, connection.source, max(link.free_at, connection.ready_at))


@inner
def send(world, message_id, now):
    """Put a message that waits for nothing more at the end of its connection's queue."""
    message = world.messages[message_id]
    flow = world.flows[message.flow]
    connection = world.connections[flow.connection]
    message.end = connection.stop + packets_in(message.bytes, connection.payload)
    message.next = NONE
    settings = world.settings[0]
    if settings.tracing:
        begin_timeline(world, message_id, connection.stop, now)
    if settings.receiver_credit and connection.next == connection.stop and world.sack_state[flow.connection].lost == 0:
        dispatch.on_backlog(connection, settings.controls)
    connection.stop = message.end
    if connection.last != NONE:
        world.messages[connection.last].next = message_id
    connection.last = message_id
    if connection.sending == NONE:
        connection.sending = message_id
    if connection.acking == NONE:
        connection.acking = message_id
    if connection.receiving == NONE:
        connection.receiving = message_id
    flow.started_at = min(flow.started_at, now)
    schedule_connection(world, flow.connection, now)


@inner
def wait_for_rank(world, message_id, part_id):
    part = world.parts[part_id]
    world.messages[message_id].next = NONE
    if part.first_waiting == NONE:
        part.first_waiting = message_id
    else:
        world.messages[part.last_waiting].next = message_id
    part.last_waiting = message_id


@inner
def release_dependents(world, message_id, part_id, now):
    """What waited for this message at part p and now waits for nothing more is sent, in order of row."""
    for i in range(world.messages[message_id].first_dependent, world.messages[message_id + 1].first_dependent):
        dependent = world.dependents[i]
        message = world.messages[dependent]
        if world.flows[message.flow].source_part != part_id:
            continue
        message.waits -= np.uint32(1)
        if message.waits == 0:
            if world.parts[part_id].entered:
                send(world, dependent, now)
            else:
                wait_for_rank(world, dependent, part_id)


@inner
def finish_if_done(world, part_id, at):
    """A part is finished when its rank has come, all it receives has arrived and all it sends has left."""
    part = world.parts[part_id]
    if not (part.entered and part.incoming == 0 and part.outgoing == 0):
        return
    at = max(at, part.left_at)
    part.finished_at = at
    progress = world.progress[0]
    row = world.finished[progress.finished]
    row.at = at
    row.part = part_id
    progress.finished += 1
    host = world.hosts[part.host]
    host.limit = min(host.limit, at + 1)  # its rank may act at `at`; until then the host must not go on


@part
def has_left(world, message_id, at):
    """Its last packet has left the NIC for the first time, at `at`."""
    part_id = world.flows[world.messages[message_id].flow].source_part
    part = world.parts[part_id]
    part.outgoing -= 1
    part.left_at = max(part.left_at, at)
    if part.outgoing == 0:
        finish_if_done(world, part_id, at)


@part
def has_arrived(world, message_id, now):
    flow = world.flows[world.messages[message_id].flow]
    flow.delivered_at = now
    if world.settings[0].tracing:
        world.message_timelines[message_id].delivered_at = now
    part = world.parts[flow.target_part]
    part.incoming -= 1
    if world.messages[message_id].first_dependent < world.messages[message_id + 1].first_dependent:
        release_dependents(world, message_id, flow.target_part, now)
    if part.incoming == 0:
        finish_if_done(world, flow.target_part, now)


@part
def is_acknowledged(world, message_id, now):
    flow = world.flows[world.messages[message_id].flow]
    flow.acked_at = now
    if world.settings[0].tracing:
        world.message_timelines[message_id].acked_at = now
    collective = world.collectives[flow.collective]
    collective.unacked -= 1
    if collective.sender_waits:
        release_dependents(world, message_id, flow.source_part, now)
