"""Chunk flows in motion: a message waits for others and its rank, queues on its connection, arrives, frees others."""

import numpy as np

from netsim.core.egress import wake
from netsim.core.pacing import park
from netsim.core.packet_trace import begin_story
from netsim.core.rings import append
from netsim.core.sack_scoreboard import may_send_some
from netsim.core.tables import NONE
from netsim.kernel import inner, part
from netsim.transport import ndp


@part
def packets_in(message_bytes, payload):
    return (message_bytes + payload - 1) // payload


@part
def last_payload(message_bytes, payload):
    """Bytes in the last packet of a message: what the full ones leave over."""
    rest = message_bytes % payload
    return rest if rest else payload


@part
def may_send(world, c, connection):
    if world.settings[0].selective > 0:
        return may_send_some(world, c, connection)
    return connection.next < min(connection.stop, connection.acked + (connection.cwnd >> 16))


@part
def offer(world, c, now):
    """Give the connection its turn at the NIC if it may send and does not wait there already."""
    connection = world.connections[c]
    if connection.queued == 0 and may_send(world, c, connection):
        connection.queued = 1
        link = world.links[connection.egress]
        link.free_at = max(link.free_at, now)
        if connection.ready_at <= now:
            append(world, link.turns, now, c, 0)
            wake(world, connection.source, link.free_at)
        else:
            park(world, connection.egress, c, connection.ready_at)
            wake(world, connection.source, max(link.free_at, connection.ready_at))


@inner
def send(world, m, now):
    """Put a message that waits for nothing more at the end of its connection's queue."""
    message = world.messages[m]
    flow = world.flows[message.flow]
    connection = world.connections[flow.connection]
    message.end = connection.stop + packets_in(message.bytes, connection.payload)
    message.next = NONE
    if world.settings[0].tracing:
        begin_story(world, m, connection.stop, now)
    if world.settings[0].pulling and connection.next == connection.stop and world.repairs[flow.connection].lost == 0:
        ndp.begin(connection)
    connection.stop = message.end
    if connection.last != NONE:
        world.messages[connection.last].next = m
    connection.last = m
    if connection.sending == NONE:
        connection.sending = m
    if connection.acking == NONE:
        connection.acking = m
    if connection.receiving == NONE:
        connection.receiving = m
    flow.started_at = min(flow.started_at, now)
    offer(world, flow.connection, now)


@inner
def wait_for_rank(world, m, p):
    part = world.parts[p]
    world.messages[m].next = NONE
    if part.first_waiting == NONE:
        part.first_waiting = m
    else:
        world.messages[part.last_waiting].next = m
    part.last_waiting = m


@inner
def release_dependents(world, m, p, now):
    """What waited for this message at part p and now waits for nothing more is sent, in order of row."""
    for i in range(world.messages[m].first_dependent, world.messages[m + 1].first_dependent):
        dependent = world.dependents[i]
        message = world.messages[dependent]
        if world.flows[message.flow].source_part != p:
            continue
        message.waits -= np.uint32(1)
        if message.waits == 0:
            if world.parts[p].entered:
                send(world, dependent, now)
            else:
                wait_for_rank(world, dependent, p)


@inner
def finish_if_done(world, p, at):
    """A part is finished when its rank has come, all it receives has arrived and all it sends has left."""
    part = world.parts[p]
    if not (part.entered and part.incoming == 0 and part.outgoing == 0):
        return
    at = max(at, part.left_at)
    part.finished_at = at
    progress = world.progress[0]
    row = world.finished[progress.finished]
    row.at = at
    row.part = p
    progress.finished += 1
    host = world.hosts[part.host]
    host.limit = min(host.limit, at + 1)  # its rank may act at `at`; until then the host must not go on


@part
def has_left(world, m, at):
    """Its last packet has left the NIC for the first time, at `at`."""
    p = world.flows[world.messages[m].flow].source_part
    part = world.parts[p]
    part.outgoing -= 1
    part.left_at = max(part.left_at, at)
    if part.outgoing == 0:
        finish_if_done(world, p, at)


@part
def has_arrived(world, m, now):
    flow = world.flows[world.messages[m].flow]
    flow.delivered_at = now
    if world.settings[0].tracing:
        world.stories[m].delivered_at = now
    part = world.parts[flow.target_part]
    part.incoming -= 1
    if world.messages[m].first_dependent < world.messages[m + 1].first_dependent:
        release_dependents(world, m, flow.target_part, now)
    if part.incoming == 0:
        finish_if_done(world, flow.target_part, now)


@part
def is_acknowledged(world, m, now):
    flow = world.flows[world.messages[m].flow]
    flow.acked_at = now
    if world.settings[0].tracing:
        world.stories[m].acked_at = now
    collective = world.collectives[flow.collective]
    collective.unacked -= 1
    if collective.sender_waits:
        release_dependents(world, m, flow.source_part, now)
