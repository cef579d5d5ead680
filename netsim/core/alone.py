"""An operation alone: its messages on the links of hosts, between which nothing waits, in the order NICs send them.

The core in small: a NIC takes its connections in turn, with ACKs first; a link takes packets as they come. Packets go
in trains, so that the time this takes is bounded; what lies between the links of two hosts is a delay.
"""

import numpy as np

from netsim.core.egress import time_to_send
from netsim.core.ideal import egress_of, is_received, leg_of
from netsim.core.messages import last_payload, packets_in
from netsim.core.tables import NONE
from netsim.kernel import inner, part

SENDS, PASSES, COMES, THERE, ANSWERS, ACKED = range(6)
MOST_TRAINS, MOST_MESSAGES = 1 << 16, 1 << 14  # of an operation, about; one of more messages is not played
EVENT = np.dtype([("at", "i8"), ("number", "i8"), ("what", "i8"), ("row", "i8"), ("packets", "i8"), ("last_at", "i8")])
RUN = np.dtype([("left", "i8"), ("released", "i8"), ("next", "i8")])  # of a message: packets, when, what follows
TURN = np.dtype([("first", "i8"), ("last", "i8"), ("next", "i8")])  # of a flow: its messages, and which is next in turn
PORT = np.dtype(  # of a link
    [
        ("free_at", "i8"),
        ("is_awake", "i8"),
        ("first", "i8"),  # whose turn it is
        ("last", "i8"),
        ("favours_own", "i8"),
        ("first_passing", "i8"),  # at a relay: what passes through
        ("last_passing", "i8"),
    ]
)
PASSING = np.dtype([("message", "i8"), ("packets", "i8"), ("last_at", "i8"), ("next", "i8")])
TALLY = np.dtype([("events", "i8"), ("pushed", "i8"), ("passing", "i8"), ("train", "i8"), ("ended_at", "i8")])
NOBODY = -1


@inner
def push(work, at, what, row, packets, last_at):
    """Put an event on the heap; among equals the earlier one stays first."""
    heap, tally = work.heap, work.tally[0]
    k = tally.events
    tally.events += 1
    tally.pushed += 1
    while k > 0 and heap[(k - 1) >> 1].at > at:
        move(heap[(k - 1) >> 1], heap[k])
        k = (k - 1) >> 1
    event = heap[k]
    event.at, event.number, event.what, event.row = at, tally.pushed, what, row
    event.packets, event.last_at = packets, last_at


@part
def move(event, to):
    to.at, to.number, to.what, to.row = event.at, event.number, event.what, event.row
    to.packets, to.last_at = event.packets, event.last_at


@part
def is_before(one, other):
    return one.at < other.at or (one.at == other.at and one.number < other.number)


@inner
def pop(work):
    """The first event: its row of the heap is the one behind those in use, until the next push."""
    heap, tally = work.heap, work.tally[0]
    tally.events -= 1
    size = np.int64(tally.events)
    spare = heap[heap.size - 1]
    move(heap[0], spare)
    last, k = heap[size], np.int64(0)
    while 2 * k + 1 < size:
        child = 2 * k + 1
        if child + 1 < size and is_before(heap[child + 1], heap[child]):
            child += 1
        if not is_before(heap[child], last):
            break
        move(heap[child], heap[k])
        k = child
    move(last, heap[k])
    return spare


@part
def time_on(world, m, l, packets, left):
    """So many packets of a message on a link, its last one among them if none is `left`."""
    message = world.messages[m]
    payload = np.int64(world.connections[world.flows[message.flow].connection].payload)
    kind, header = world.kinds[world.links[l].kind], world.settings[0].header
    time = packets * time_to_send(kind, header + payload)
    if left == 0:
        time += time_to_send(kind, header + last_payload(message.bytes, payload)) - time_to_send(kind, header + payload)
    return time


@inner
def release(world, work, m, now):
    """Put a message at the end of its connection's queue, and the connection in turn."""
    own, message = work.own[0], world.messages[m]
    run, turn = work.runs[m - own.first], work.turns[message.flow - own.first_flow]
    payload = np.int64(world.connections[world.flows[message.flow].connection].payload)
    run.left, run.released, run.next = packets_in(message.bytes, payload), now, NOBODY
    if turn.first == NOBODY:
        turn.first = m
        take_turn(work, np.int64(message.flow) - own.first_flow, egress_of(world, m), now)
    else:
        work.runs[turn.last - own.first].next = m
    turn.last = m


@inner
def take_turn(work, flow, l, now):
    """The flow is the last in turn at its NIC."""
    port = work.ports[l]
    work.turns[flow].next = NOBODY
    if port.first == NOBODY:
        port.first = flow
    else:
        work.turns[port.last].next = flow
    port.last = flow
    wake(work, l, now)


@part
def wake(work, l, now):
    port = work.ports[l]
    if port.is_awake == 0 and (port.first != NOBODY or port.first_passing != NOBODY):
        port.is_awake = 1
        push(work, max(now, port.free_at), SENDS, l, 0, 0)


@inner
def send_train(world, work, l, now):
    """A NIC sends what passes through it and what is its own in turn, some packets at a time."""
    port = work.ports[l]
    port.is_awake = 0
    if port.free_at <= now:
        if port.first_passing != NOBODY and not (port.favours_own and port.first != NOBODY):
            port.favours_own = 1
            send_passing(world, work, l, now)
        elif port.first != NOBODY:
            port.favours_own = 0
            send_own(world, work, l, now)
    wake(work, l, now)


@inner
def send_own(world, work, l, now):
    """The connection whose turn it is sends some packets."""
    own, port = work.own[0], work.ports[l]
    flow = port.first
    turn = work.turns[flow]
    port.first, m = turn.next, turn.first
    run = work.runs[m - own.first]
    packets = min(run.left, work.tally[0].train)
    run.left -= packets
    left = run.left
    port.free_at = now + time_on(world, m, l, packets, left)
    if left == 0:
        turn.first = run.next
    if turn.first != NOBODY:
        take_turn(work, flow, l, now)
    begins = now + time_on(world, m, l, 1, left + packets - 1)
    follow(world, work, m, leg_of(world, work, m), packets, left, begins, port.free_at)


@inner
def send_passing(world, work, l, now):
    """A relay sends a train on."""
    port = work.ports[l]
    train = work.passing[port.first_passing]
    port.first_passing = train.next
    m, packets, left = train.message, train.packets & NONE, train.packets >> 32
    leg = leg_of(world, work, m)
    carry(world, work, m, l, packets, left, now, train.last_at)
    begins, across = now + time_on(world, m, l, 1, left + packets - 1), leg.before - leg.relay_before - leg.relay_step
    reach(world, work, m, leg, packets, left, begins, port.free_at, across, leg.relay_rest)


@inner
def follow(world, work, m, leg, packets, left, begins, ends):
    """The first packet of a train has left the NIC, then its last: when do they come to the next link of a host?"""
    if leg.relay != NONE:
        across = leg.relay_before - leg.step
        push(work, begins + across, PASSES, m, packets | left << 32, ends + across)
    else:
        reach(world, work, m, leg, packets, left, begins, ends, leg.before - leg.step, leg.rest)


@part
def reach(world, work, m, leg, packets, left, begins, ends, across, rest):
    """The same for the last link; where packets may come by several, they do not wait there."""
    if leg.end == NONE:
        push(work, ends + rest, THERE, m, packets, left)
    else:
        if left == 0:  # the last packet may be a short one, which is faster
            l = np.int64(leg.end)
            ends += rest - world.kinds[world.links[l].kind].delay - time_on(world, m, l, 1, left)
        else:
            ends += across
        push(work, min(begins + across, ends), COMES, m, packets | left << 32, ends)


@part
def carry(world, work, m, l, packets, left, now, last_at):
    """A train on a link that takes packets as they come: when has it left?"""
    port = work.ports[l]
    begins = max(port.free_at, now)
    port.free_at = max(begins + time_on(world, m, l, packets, left), last_at + time_on(world, m, l, 1, left))


@inner
def pass_on(world, work, m, packets, now, last_at):
    """A train comes to a relay."""
    l, tally = np.int64(leg_of(world, work, m).relay), work.tally[0]
    port, train = work.ports[l], work.passing[tally.passing]
    train.message, train.packets, train.last_at, train.next = m, packets, last_at, NOBODY
    if port.first_passing == NOBODY:
        port.first_passing = tally.passing
    else:
        work.passing[port.last_passing].next = tally.passing
    port.last_passing = tally.passing
    tally.passing += 1
    wake(work, l, now)


@inner
def come_in(world, work, m, packets, left, now, last_at):
    """The first packet of a train comes to the last link; the last one does at `last_at`."""
    l = np.int64(leg_of(world, work, m).end)
    carry(world, work, m, l, packets, left, now, last_at)
    push(work, work.ports[l].free_at + world.kinds[world.links[l].kind].delay, THERE, m, packets, left)


@part
def answer(world, work, l, packets, now):
    """ACKs on a link: of a train all but the last have gone by now where it was idle."""
    port, ack = work.ports[l], time_to_send(world.kinds[world.links[l].kind], world.settings[0].ack)
    port.free_at = max(port.free_at + packets * ack, now + ack)


@inner
def be_there(world, work, m, packets, left, now):
    """A train has come: its ACKs go before what else its host sends. With its last packet a message has arrived."""
    own, leg = work.own[0], leg_of(world, work, m)
    if left == 0 and now < work.runs[m - own.first].released + leg.alone:  # links between those of hosts are slower
        push(work, work.runs[m - own.first].released + leg.alone, THERE, m, packets, left)
        return
    answer(world, work, np.int64(world.connections[world.flows[world.messages[m].flow].connection].back), packets, now)
    push(work, now + leg.echo, ANSWERS, egress_of(world, m) ^ 1, packets, 0)
    if left > 0:
        return
    work.tally[0].ended_at = max(work.tally[0].ended_at, now)
    back_at = now + leg.back
    for k in range(world.messages[m].first_dependent, world.messages[m + 1].first_dependent):
        dependent = np.int64(world.dependents[k])
        if is_received(world, m, dependent):
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
            pass_on(world, work, row, packets, at, last_at)
        elif what == COMES:
            come_in(world, work, row, packets & NONE, packets >> 32, at, last_at)
        elif what == THERE:
            be_there(world, work, row, packets, last_at, at)
        elif what == ANSWERS:
            answer(world, work, row, packets, at)
        else:
            let_go(world, work, row, at)
    return work.tally[0].ended_at
