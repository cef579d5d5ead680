"""The ideal time of an operation: no order of sending on an idle network is faster.

Three bounds, of which the largest counts. The longest chain of messages, where what one message waits for shares a
link. Every link of a host: the soonest its first packet can come, all it has to carry, the least that is left
afterwards. And the mean over many long chains, which have to make room for the ACKs of what comes meanwhile. Links
between switches are left out: what meets there is a matter of routing, and shows as slowdown.
"""

import numpy as np

from netsim.core.ideal.idle_path import measure_leg
from netsim.core.link.wire import time_to_send
from netsim.core.state.dtypes import NEVER, NONE
from netsim.kernel import inner, part


@part
def leg_of_flow(world, work, flow, message_bytes):
    """The LEG of a message of so many bytes; flows, counted from the operation's first, remember their last one."""
    leg = work.legs[flow]
    if leg.size != message_bytes:
        connection_id = np.int64(world.flows[work.own[0].first_flow + flow].connection)
        measure_leg(world, work, connection_id, message_bytes, leg)
    return leg


@part
def leg_of(world, work, message_id):
    message = world.messages[message_id]
    return leg_of_flow(world, work, np.int64(message.flow) - work.own[0].first_flow, np.int64(message.bytes))


@part
def egress_of(world, message_id):
    connection = world.connections[world.flows[world.messages[message_id].flow].connection]
    return np.int64(connection.egress) % world.settings[0].ports


@part
def ack_before(world, message_id, link_id):
    """How long the ACK of a message's last packet, which goes first, keeps link l from sending what waited for it."""
    connection = world.connections[world.flows[world.messages[message_id].flow].connection]
    if connection.back != link_id:
        return np.int64(0)
    return np.int64(time_to_send(world.link_classes[world.links[link_id].link_class], world.settings[0].ack_bytes))


@part
def is_received(world, before, message_id):
    """Whether message m waits for the delivery of the other; else, sent by the same part, for its acknowledgement."""
    return (
        world.flows[world.messages[message_id].flow].source_part == world.flows[world.messages[before].flow].target_part
    )


@inner
def released(world, work, i):
    """The soonest that message i waits for nothing more; those before it are known."""
    first, begin, soonest = work.own[0].first, work.begin, np.int64(0)
    message_id = first + i
    link_id = egress_of(world, message_id)
    link, head, load, ack = np.int64(NONE), NEVER, np.int64(0), NEVER
    for k in range(work.first_after[i], work.first_after[i + 1]):
        other = first + work.after[k]
        leg = leg_of(world, work, other)
        if not is_received(world, other, message_id):
            soonest = max(soonest, begin[work.after[k]] + leg.alone + leg.back)
            continue
        its = ack_before(world, other, link_id)
        soonest = max(soonest, begin[work.after[k]] + leg.alone + its)
        if leg.end != NONE and (link == NONE or link == leg.end):  # they come one after the other
            link, head, load = np.int64(leg.end), min(head, begin[work.after[k]] + leg.before), load + leg.last
            ack = min(ack, its)
    if link == NONE:
        return soonest
    return max(soonest, head + load + world.link_classes[world.links[link].link_class].delay + ack)


@inner
def remaining(world, work, i):
    """The least time from the delivery of message i to the end, by what waits for it."""
    first, end, longest = work.own[0].first, work.end, np.int64(0)
    message_id = first + i
    link, load, tail, ack = np.int64(NONE), np.int64(0), NEVER, np.int64(0)
    for k in range(world.messages[message_id].first_dependent, world.messages[message_id + 1].first_dependent):
        dependent = np.int64(world.dependents[k])
        if not is_received(world, message_id, dependent):
            back = leg_of(world, work, message_id).back
            longest = max(longest, back + leg_of(world, work, dependent).alone + end[dependent - first])
            continue
        leg, link_id = leg_of(world, work, dependent), egress_of(world, dependent)
        ack = ack_before(world, message_id, link_id)
        longest = max(longest, ack + leg.alone + end[dependent - first])
        if link == NONE or link == link_id:  # they leave one after the other
            link, load, tail = link_id, load + leg.first, min(tail, ack + leg.rest + end[dependent - first])
    return max(longest, load + tail) if link != NONE else longest


@inner
def longest_chain(world, work):
    """The longest chain of messages in ps, -1 for a cycle; and the begin, the end and the order of each."""
    first, waits, order = work.own[0].first, work.waits, work.order
    ready, rows = 0, waits.size
    for i in range(rows):
        if waits[i] == 0:
            order[ready] = i
            ready += 1
    taken = 0
    while taken < ready:
        i = np.int64(order[taken])
        taken += 1
        work.begin[i] = released(world, work, i)
        for k in range(world.messages[first + i].first_dependent, world.messages[first + i + 1].first_dependent):
            dependent = world.dependents[k] - first
            waits[dependent] -= np.uint32(1)
            if waits[dependent] == 0:
                order[ready] = dependent
                ready += 1
    if taken < rows:
        return -1
    longest = np.int64(0)
    for k in range(rows - 1, -1, -1):
        i = np.int64(order[k])
        work.end[i] = remaining(world, work, i)
        leg = leg_of(world, work, first + i)
        longest = max(longest, work.begin[i] + leg.alone + work.end[i])
    return longest
