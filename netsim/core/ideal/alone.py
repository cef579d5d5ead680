"""An operation alone: its messages on the links of hosts, between which nothing waits, in the order NICs send them.

The core in small: a NIC takes its connections in turn, with ACKs first; a link takes packets as they come. Packets go
in trains, so that the time this takes is bounded; what lies between the links of two hosts is a delay.
"""

import numpy as np

from netsim.core.ideal.alone_links import (
    NOBODY,
    answer,
    carry,
    come_in,
    enter,
    idle_port,
    leave,
    leg_of_run,
    run_of,
    time_on,
)
from netsim.core.ideal.event_queue import (
    ACKED,
    ANSWERS,
    COMES,
    ENTERS,
    LEAVES,
    PASSES,
    SENDS,
    THERE,
    pop,
    push,
    start_calendar,
)
from netsim.core.ideal.legs import egress_of, is_received
from netsim.core.state.dtypes import NONE
from netsim.core.state.packet_sizes import packets_in
from netsim.kernel import inner, part

MOST_MESSAGES = 1 << 16  # an operation of more is not played, or of four times as many where they are long:
LONG = 16  # packets in the mean; simulating them takes longer
MOST_TRAINS = 1 << 16  # of an operation, about; twice as many where messages wait for others, by which it is more off
TURN = np.dtype([("first", "i8"), ("last", "i8"), ("next", "i8")])  # of a flow: its messages, and which is next in turn
PASSING = np.dtype([("message", "i8"), ("packets", "i8"), ("last_at", "i8"), ("next", "i8")])
TALLY = np.dtype([("passing", "i8"), ("train", "i8"), ("ended_at", "i8")])
INTO_RELAY, FROM_RELAY, TO_SENDER = range(3)  # the links of hosts on the way of an ACK, after the first


@inner
def release(world, work, message_id, now):
    """Put a message at the end of its connection's queue, and the connection in turn."""
    own, message = work.own[0], world.messages[message_id]
    run, turn = work.runs[message_id - own.first], work.turns[message.flow - own.first_flow]
    connection = world.connections[world.flows[message.flow].connection]
    payload = np.int64(connection.payload)
    run.left, run.released, run.next = packets_in(message.bytes, payload), now, NOBODY
    run.bytes, run.payload, run.flow = message.bytes, payload, message.flow - own.first_flow
    run.egress, run.back = egress_of(world, message_id), connection.back
    if turn.first == NOBODY:
        turn.first = message_id
        take_turn(work, np.int64(run.flow), np.int64(run.egress), now)
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
    port.free_at = now + time_on(world, run, link_id, packets, left)
    begins = now + time_on(world, run, link_id, 1, left + packets - 1)
    port.sends_until = begins
    if left == 0:
        turn.first = run.next
    if turn.first != NOBODY:
        take_turn(work, flow, link_id, now)
    follow(world, work, message_id, packets, left, begins, port.free_at)


@inner
def send_passing(world, work, link_id, now):
    """A relay sends a train on."""
    port = work.ports[link_id]
    train = work.passing[port.first_passing]
    port.first_passing = train.next
    message_id, packets, left = train.message, train.packets & NONE, train.packets >> 32
    run = run_of(work, message_id)
    leg = leg_of_run(world, work, run)
    carry(world, work, run, link_id, packets, left, now, train.last_at)
    begins = now + time_on(world, run, link_id, 1, left + packets - 1)
    across = leg.before - leg.relay_before - leg.relay_step
    port.sends_until = begins
    reach(world, work, message_id, link_id, packets, left, begins, port.free_at, across, leg.relay_rest)


@inner
def follow(world, work, message_id, packets, left, begins, ends):
    """The first packet of a train has left the NIC, then its last: when do they come to the next link of a host?"""
    run = run_of(work, message_id)
    leg, link_id = leg_of_run(world, work, run), np.int64(run.egress)
    if leg.entry != NONE:
        across = leg.entry_before - leg.step
        push(work, begins + across, ENTERS, message_id, packets | left << 32, ends + across, link_id)
    elif leg.relay != NONE:
        across = leg.relay_before - leg.step
        push(work, begins + across, PASSES, message_id, packets | left << 32, ends + across, link_id)
    else:
        reach(world, work, message_id, link_id, packets, left, begins, ends, leg.before - leg.step, leg.rest)


@part
def reach(world, work, message_id, by, packets, left, begins, ends, across, rest):
    """The same for the last link; where packets may come by several, they do not wait there."""
    run = run_of(work, message_id)
    leg = leg_of_run(world, work, run)
    if leg.end == NONE:
        push(work, ends + rest, THERE, message_id, packets, left)
    else:
        if left == 0:  # the last packet may be a short one, which is faster
            link_id = np.int64(leg.end)
            ends += rest - work.ports[link_id].delay - time_on(world, run, link_id, 1, left)
        else:
            ends += across
        push(work, min(begins + across, ends), COMES, message_id, packets | left << 32, ends, by)


@inner
def forward(world, work, message_id, packets, now, last_at):
    """A train comes to a relay."""
    link_id, tally = np.int64(leg_of_run(world, work, run_of(work, message_id)).relay), work.tally[0]
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
def be_there(world, work, message_id, packets, left, now):
    """A train has come: its ACKs go before what else its host sends. With its last packet a message has arrived."""
    run = run_of(work, message_id)
    leg, link_id = leg_of_run(world, work, run), np.int64(run.back)
    if left == 0 and now < run.released + leg.alone:  # links between those of hosts are slower
        push(work, run.released + leg.alone, THERE, message_id, packets, left)
        return
    begins = answer(work, link_id, packets, now)
    if leg.entry != NONE:
        push(work, begins + leg.relay_echo, ANSWERS, message_id, packets | left << 32, INTO_RELAY, link_id)
    else:
        push(work, begins + leg.echo, ANSWERS, message_id, packets | left << 32, TO_SENDER, link_id)
    if left > 0:
        return
    work.tally[0].ended_at = max(work.tally[0].ended_at, now)
    for k in range(world.messages[message_id].first_dependent, world.messages[message_id + 1].first_dependent):
        if is_received(world, message_id, np.int64(world.dependents[k])):
            dependency_done(world, work, np.int64(world.dependents[k]), now)


@inner
def on_ack(world, work, message_id, packets, now, where):
    """ACKs come to a link of a host on their way to the sender; with the last one it may send what waits for that."""
    run = run_of(work, message_id)
    if where == INTO_RELAY:
        link_id = np.int64(leg_of_run(world, work, run).relay ^ 1)
    elif where == FROM_RELAY:
        link_id = np.int64(leg_of_run(world, work, run).entry ^ 1)
    else:
        link_id = np.int64(run.egress ^ 1)
    begins = answer(work, link_id, packets & NONE, now)
    there_at = begins + work.ports[link_id].ack + work.ports[link_id].delay
    if where == INTO_RELAY:
        push(work, there_at, ANSWERS, message_id, packets, FROM_RELAY, link_id)
    elif where == FROM_RELAY:
        push(work, begins + leg_of_run(world, work, run).entry_echo, ANSWERS, message_id, packets, TO_SENDER, link_id)
    elif packets >> 32 == 0:
        for k in range(world.messages[message_id].first_dependent, world.messages[message_id + 1].first_dependent):
            if not is_received(world, message_id, np.int64(world.dependents[k])):
                push(work, there_at, ACKED, np.int64(world.dependents[k]), 0, 0)


@part
def dependency_done(world, work, dependent, now):
    i = dependent - work.own[0].first
    work.waits[i] -= np.uint32(1)
    if work.waits[i] == 0:
        release(world, work, dependent, now)


@inner
def play(world, work, about):
    """How long the operation takes, in ps; it should be `about` so long."""
    start_calendar(work, about)
    for k in range(work.turns.size):
        work.turns[k].first = NOBODY
    for k in range(work.ports.size):
        idle_port(world, work.ports[k], k)
    for i in range(work.waits.size):
        work.waits[i] = world.messages[work.own[0].first + i].waits
    for i in range(work.waits.size):
        if work.waits[i] == 0:
            release(world, work, work.own[0].first + i, np.int64(0))
    while work.calendar[0].events > 0:
        event = pop(work)
        at, what, row, packets, last_at = event.at, event.what, event.row, event.packets, event.last_at
        if what == SENDS:
            send_train(world, work, row, at)
        elif what == PASSES:
            forward(world, work, row, packets, at, last_at)
        elif what == LEAVES:
            leave(world, work, row, packets & NONE, packets >> 32, at, last_at)
        elif what == ENTERS:
            enter(world, work, row, packets & NONE, packets >> 32, at, last_at)
        elif what == COMES:
            come_in(world, work, row, packets & NONE, packets >> 32, at, last_at)
        elif what == THERE:
            be_there(world, work, row, packets, last_at, at)
        elif what == ANSWERS:
            on_ack(world, work, row, packets, at, last_at)
        else:
            dependency_done(world, work, row, at)
    return work.tally[0].ended_at
