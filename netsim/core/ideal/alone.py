"""An operation alone: its messages on the links of hosts, between which nothing waits, in the order NICs send them.

The core in small: a NIC takes its connections in turn, with ACKs first; a link takes packets as they come. Packets go
in trains, so that the time this takes is bounded; what lies between the links of two hosts is a delay.
"""

import numpy as np

from netsim.core.ideal.event_heap import pop, push
from netsim.core.ideal.legs import egress_of, is_received, leg_of
from netsim.core.link.wire import time_to_send
from netsim.core.state.dtypes import NONE
from netsim.core.state.packet_sizes import last_payload, packets_in
from netsim.kernel import inner, part

SENDS, PASSES, COMES, THERE, ANSWERS, ACKED = range(6)
MOST_TRAINS, MOST_MESSAGES = 1 << 16, 1 << 14  # of an operation, about; one of more messages is not played
RUN = np.dtype([("left", "i8"), ("released", "i8"), ("next", "i8")])  # of a message: packets, when, what follows
TURN = np.dtype([("first", "i8"), ("last", "i8"), ("next", "i8")])  # of a flow: its messages, and which is next in turn
PORT = np.dtype(  # of a link
    [
        ("free_at", "i8"),
        ("is_awake", "i8"),
        ("first", "i8"),  # whose turn it is
        ("last", "i8"),
        ("round_robin_own_next", "i8"),
        ("first_passing", "i8"),  # at a relay: what passes through
        ("last_passing", "i8"),
    ]
)
PASSING = np.dtype([("message", "i8"), ("packets", "i8"), ("last_at", "i8"), ("next", "i8")])
TALLY = np.dtype([("events", "i8"), ("pushed", "i8"), ("passing", "i8"), ("train", "i8"), ("ended_at", "i8")])
NOBODY = -1


@part
def time_on(world, message_id, link_id, packets, left):
    """So many packets of a message on a link, its last one among them if none is `left`."""
    message = world.messages[message_id]
    payload = np.int64(world.connections[world.flows[message.flow].connection].payload)
    link_class, header_bytes = world.link_classes[world.links[link_id].link_class], world.settings[0].header_bytes
    time = packets * time_to_send(link_class, header_bytes + payload)
    if left == 0:
        time += time_to_send(link_class, header_bytes + last_payload(message.bytes, payload)) - time_to_send(
            link_class, header_bytes + payload
        )
    return time


@inner
def release(world, work, message_id, now):
    """Put a message at the end of its connection's queue, and the connection in turn."""
    own, message = work.own[0], world.messages[message_id]
    run, turn = work.runs[message_id - own.first], work.turns[message.flow - own.first_flow]
    payload = np.int64(world.connections[world.flows[message.flow].connection].payload)
    run.left, run.released, run.next = packets_in(message.bytes, payload), now, NOBODY
    if turn.first == NOBODY:
        turn.first = message_id
        take_turn(work, np.int64(message.flow) - own.first_flow, egress_of(world, message_id), now)
    else:
        work.runs[turn.last - own.first].next = message_id
    turn.last = message_id


@inner
def take_turn(work, flow, link_id, now):
    """The flow is the last in turn at its NIC."""
    port = work.ports[link_id]
    work.turns[flow].next = NOBODY
    if port.first == NOBODY:
        port.first = flow
    else:
        work.turns[port.last].next = flow
    port.last = flow
    wake_port(work, link_id, now)


@part
def wake_port(work, link_id, now):
    port = work.ports[link_id]
    if port.is_awake == 0 and (port.first != NOBODY or port.first_passing != NOBODY):
        port.is_awake = 1
        push(work, max(now, port.free_at), SENDS, link_id, 0, 0)


@inner
def send_train(world, work, link_id, now):
    """A NIC sends what passes through it and what is its own in turn, some packets at a time."""
    port = work.ports[link_id]
    port.is_awake = 0
    if port.free_at <= now:
        if port.first_passing != NOBODY and not (port.round_robin_own_next and port.first != NOBODY):
            port.round_robin_own_next = 1
            send_passing(world, work, link_id, now)
        elif port.first != NOBODY:
            port.round_robin_own_next = 0
            send_own(world, work, link_id, now)
    wake_port(work, link_id, now)


@inner
def send_own(world, work, link_id, now):
    """The connection whose turn it is sends some packets."""
    own, port = work.own[0], work.ports[link_id]
    flow = port.first
    turn = work.turns[flow]
    port.first, message_id = turn.next, turn.first
    run = work.runs[message_id - own.first]
    packets = min(run.left, work.tally[0].train)
    run.left -= packets
    left = run.left
    port.free_at = now + time_on(world, message_id, link_id, packets, left)
    if left == 0:
        turn.first = run.next
    if turn.first != NOBODY:
        take_turn(work, flow, link_id, now)
    begins = now + time_on(world, message_id, link_id, 1, left + packets - 1)
    follow(world, work, message_id, leg_of(world, work, message_id), packets, left, begins, port.free_at)


@inner
def send_passing(world, work, link_id, now):
    """A relay sends a train on."""
    port = work.ports[link_id]
    train = work.passing[port.first_passing]
    port.first_passing = train.next
    message_id, packets, left = train.message, train.packets & NONE, train.packets >> 32
    leg = leg_of(world, work, message_id)
    carry(world, work, message_id, link_id, packets, left, now, train.last_at)
    begins, across = (
        now + time_on(world, message_id, link_id, 1, left + packets - 1),
        leg.before - leg.relay_before - leg.relay_step,
    )
    reach(world, work, message_id, leg, packets, left, begins, port.free_at, across, leg.relay_rest)


@inner
def follow(world, work, message_id, leg, packets, left, begins, ends):
    """The first packet of a train has left the NIC, then its last: when do they come to the next link of a host?"""
    if leg.relay != NONE:
        across = leg.relay_before - leg.step
        push(work, begins + across, PASSES, message_id, packets | left << 32, ends + across)
    else:
        reach(world, work, message_id, leg, packets, left, begins, ends, leg.before - leg.step, leg.rest)


@part
def reach(world, work, message_id, leg, packets, left, begins, ends, across, rest):
    """The same for the last link; where packets may come by several, they do not wait there."""
    if leg.end == NONE:
        push(work, ends + rest, THERE, message_id, packets, left)
    else:
        if left == 0:  # the last packet may be a short one, which is faster
            link_id = np.int64(leg.end)
            ends += (
                rest
                - world.link_classes[world.links[link_id].link_class].delay
                - time_on(world, message_id, link_id, 1, left)
            )
        else:
            ends += across
        push(work, min(begins + across, ends), COMES, message_id, packets | left << 32, ends)


@part
def carry(world, work, message_id, link_id, packets, left, now, last_at):
    """A train on a link that takes packets as they come: when has it left?"""
    port = work.ports[link_id]
    begins = max(port.free_at, now)
    port.free_at = max(
        begins + time_on(world, message_id, link_id, packets, left),
        last_at + time_on(world, message_id, link_id, 1, left),
    )


@inner
def forward(world, work, message_id, packets, now, last_at):
    """A train comes to a relay."""
    link_id, tally = np.int64(leg_of(world, work, message_id).relay), work.tally[0]
    port, train = work.ports[link_id], work.passing[tally.passing]
    train.message, train.packets, train.last_at, train.next = message_id, packets, last_at, NOBODY
    if port.first_passing == NOBODY:
        port.first_passing = tally.passing
    else:
        work.passing[port.last_passing].next = tally.passing
    port.last_passing = tally.passing
    tally.passing += 1
    wake_port(work, link_id, now)


@inner
def come_in(world, work, message_id, packets, left, now, last_at):
    """The first packet of a train comes to the last link; the last one does at `last_at`."""
    link_id = np.int64(leg_of(world, work, message_id).end)
    carry(world, work, message_id, link_id, packets, left, now, last_at)
    push(
        work,
        work.ports[link_id].free_at + world.link_classes[world.links[link_id].link_class].delay,
        THERE,
        message_id,
        packets,
        left,
    )


@part
def answer(world, work, link_id, packets, now):
    """ACKs on a link: of a train all but the last have gone by now where it was idle."""
    port, ack = (
        work.ports[link_id],
        time_to_send(world.link_classes[world.links[link_id].link_class], world.settings[0].ack_bytes),
    )
    port.free_at = max(port.free_at + packets * ack, now + ack)


@inner
def be_there(world, work, message_id, packets, left, now):
    """A train has come: its ACKs go before what else its host sends. With its last packet a message has arrived."""
    own, leg = work.own[0], leg_of(world, work, message_id)
    if (
        left == 0 and now < work.runs[message_id - own.first].released + leg.alone
    ):  # links between those of hosts are slower
        push(work, work.runs[message_id - own.first].released + leg.alone, THERE, message_id, packets, left)
        return
    answer(
        world,
        work,
        np.int64(world.connections[world.flows[world.messages[message_id].flow].connection].back),
        packets,
        now,
    )
    push(work, now + leg.echo, ANSWERS, egress_of(world, message_id) ^ 1, packets, 0)
    if left > 0:
        return
    work.tally[0].ended_at = max(work.tally[0].ended_at, now)
    back_at = now + leg.back
    for k in range(world.messages[message_id].first_dependent, world.messages[message_id + 1].first_dependent):
        dependent = np.int64(world.dependents[k])
        if is_received(world, message_id, dependent):
            let_go(world, work, dependent, now)
        else:
            push(work, back_at, ACKED, dependent, 0, 0)


@part
def let_go(world, work, dependent, now):
    i = dependent - work.own[0].first
    work.waits[i] -= np.uint32(1)
    if work.waits[i] == 0:
        release(world, work, dependent, now)


@inner
def play(world, work):
    """How long the operation takes, in ps."""
    for k in range(work.turns.size):
        work.turns[k].first = NOBODY
    for k in range(work.ports.size):
        work.ports[k].first, work.ports[k].first_passing = NOBODY, NOBODY
    for i in range(work.waits.size):
        work.waits[i] = world.messages[work.own[0].first + i].waits
    for i in range(work.waits.size):
        if work.waits[i] == 0:
            release(world, work, work.own[0].first + i, np.int64(0))
    while work.tally[0].events > 0:
        event = pop(work)
        at, what, row, packets, last_at = event.at, event.what, event.row, event.packets, event.last_at
        if what == SENDS:
            send_train(world, work, row, at)
        elif what == PASSES:
            forward(world, work, row, packets, at, last_at)
        elif what == COMES:
            come_in(world, work, row, packets & NONE, packets >> 32, at, last_at)
        elif what == THERE:
            be_there(world, work, row, packets, last_at, at)
        elif what == ANSWERS:
            answer(world, work, row, packets, at)
        else:
            let_go(world, work, row, at)
    return work.tally[0].ended_at
