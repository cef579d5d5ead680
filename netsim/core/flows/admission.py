"""A schedule becomes messages: who waits for whom, turned round; and how long it takes when nothing is in its way."""

import numpy as np

from netsim.core.flows.messages import wait_for_rank
from netsim.core.link.wire import time_to_send
from netsim.core.state.dtypes import NONE
from netsim.core.state.packet_sizes import last_payload, packets_in
from netsim.kernel import bare, entry, inner
from netsim.transport import dispatch
from netsim.units import PS_BITS


@entry
def admit(owned, first, first_dependent, first_flow, collective, flow_of_row, sizes, first_after, after):
    """Fill message rows first .. first + m (the last is an end mark) and the dependents of each; flows, parts exist.

    flow_of_row u4[m]: flow of each row, counted from first_flow; sizes i8[m] bytes; first_after i8[m + 1] and
    after i4: predecessors (CSR).
    """
    world = bare(owned)
    rows = sizes.size
    group = world.collectives[collective]
    group.unacked = rows
    group.sender_waits = 0
    if link_dependents(world, first, first_dependent, first_flow, flow_of_row, first_after, after):
        group.sender_waits = 1
    for i in range(rows):
        message = world.messages[first + i]
        message.bytes = sizes[i]
        message.end = 0
        message.flow = first_flow + flow_of_row[i]
        message.waits = first_after[i + 1] - first_after[i]
        message.next = NONE
        flow = world.flows[message.flow]
        world.parts[flow.source_part].outgoing += 1
        world.parts[flow.target_part].incoming += 1
        if message.waits == 0:
            wait_for_rank(world, first + i, flow.source_part)


@inner
def link_dependents(world, first, first_dependent, first_flow, flow_of_row, first_after, after):
    """Fill in the dependents of each message: 1 if a message waits for what another rank than its sender receives."""
    rows, sender_waits = flow_of_row.size, 0
    for i in range(rows + 1):
        world.messages[first + i].first_dependent = 0
    for k in range(after.size):  # count the dependents of each, one row further on
        world.messages[first + after[k] + 1].first_dependent += np.uint32(1)
    before = first_dependent
    for i in range(rows + 1):
        before += world.messages[first + i].first_dependent
        world.messages[first + i].first_dependent = before
    for i in range(rows - 1, -1, -1):  # from the back, so that dependents stand in order of row
        part_id = world.flows[first_flow + flow_of_row[i]].source_part
        for k in range(first_after[i], first_after[i + 1]):
            predecessor = world.messages[first + after[k] + 1]
            predecessor.first_dependent -= np.uint32(1)
            world.dependents[predecessor.first_dependent] = first + i
            if world.flows[first_flow + flow_of_row[after[k]]].target_part != part_id:
                sender_waits = 1
    for i in range(rows):  # each start now stands one row too far on
        world.messages[first + i].first_dependent = world.messages[first + i + 1].first_dependent
    world.messages[first + rows].first_dependent = first_dependent + after.size
    return sender_waits


@inner
def time_alone(world, connection_id, size):
    """From the first bit sent to the last bit received on an idle route, store and forward.

    p full packets of x bytes over H links of rate R and delay d: p x/R + (H - 1) x/R + H d.
    """
    connection = world.connections[connection_id]
    header_bytes, payload = world.settings[0].header_bytes, np.int64(connection.payload)
    packets = packets_in(size, payload)
    full, short = header_bytes + payload, header_bytes + last_payload(size, payload)
    arrives, delays, filled, slowest = 0, 0, 0, 0
    for hop in range(connection.length):
        link_class = world.link_classes[
            world.links[world.hops[connection_id * world.settings[0].stride + hop]].link_class
        ]
        time = time_to_send(link_class, full)
        filled += time
        slowest = max(slowest, time)
        starts = arrives
        if packets > 1:  # the last packet waits for the one before it
            starts = max(starts, filled + delays + (packets - 2) * slowest)
        arrives = starts + time_to_send(link_class, short) + link_class.delay
        delays += link_class.delay
    return arrives


@entry
def start_controls(owned, first, last, idle, network):
    """Set up the controls of connections first .. last - 1; idle: their round trips on an idle network, ps.

    network: the longest of the network that each is in.
    """
    world = bare(owned)
    settings = world.settings[0]
    for connection_id in range(first, last):
        connection = world.connections[connection_id]
        link_class = world.link_classes[world.links[connection.egress].link_class]
        line_bps, wire_bytes = (
            PS_BITS * link_class.per_bytes // link_class.ps,
            settings.header_bytes + np.int64(connection.payload),
        )
        dispatch.start(
            connection,
            settings.controls,
            line_bps,
            idle[connection_id - first],
            network[connection_id - first],
            wire_bytes,
        )
