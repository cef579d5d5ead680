"""Links of hosts while an operation is played alone (alone.py): they take trains of data as these come, ACKs first."""

import numpy as np

from netsim.core.alone_events import LEAVES, PASSES, THERE, push
from netsim.core.egress import time_to_send
from netsim.core.ideal import leg_of
from netsim.core.messages import last_payload
from netsim.kernel import inner, part

PORT = np.dtype(  # of a link
    [
        ("free_at", "i8"),  # of all that is there
        ("sends_until", "i8"),  # of the packet on its way and the ACKs after it
        ("answered", "i8"),  # ps of ACKs that have gone before what waited
        ("is_awake", "i8"),
        ("first", "i8"),  # whose turn it is
        ("last", "i8"),
        ("favours_own", "i8"),
        ("first_passing", "i8"),  # at a relay: what passes through
        ("last_passing", "i8"),
    ]
)


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


@part
def carry(world, work, m, l, packets, left, now, last_at):
    """A train on a link that takes packets as they come: when has its first packet left? All have at `free_at`."""
    port = work.ports[l]
    begins = max(port.free_at, now)
    port.free_at = max(begins + time_on(world, m, l, packets, left), last_at + time_on(world, m, l, 1, left))
    return begins + time_on(world, m, l, 1, left + packets - 1)


@inner
def enter(world, work, m, packets, left, now, last_at):
    """A train comes to the link that leads to a relay."""
    l = np.int64(leg_of(world, work, m).entry)
    first, delay = carry(world, work, m, l, packets, left, now, last_at), world.kinds[world.links[l].kind].delay
    push(work, first + delay, PASSES, m, packets | left << 32, work.ports[l].free_at + delay, l)


@inner
def come_in(world, work, m, packets, left, now, last_at):
    """The first packet of a train comes to the last link; the last one does at `last_at`."""
    l = np.int64(leg_of(world, work, m).end)
    carry(world, work, m, l, packets, left, now, last_at)
    wait_for_acks(world, work, m, l, packets, left, work.ports[l].free_at, work.ports[l].answered)


@part
def wait_for_acks(world, work, m, l, packets, left, ends, answered):
    """A train will have left at `ends`, but for the ACKs that come to the link before its last packet begins."""
    push(work, ends - time_on(world, m, l, 1, left), LEAVES, m, packets | left << 32, answered)


@inner
def leave(world, work, m, packets, left, now, answered):
    """Its last packet begins: now, or after the ACKs that have come since, which go first."""
    l = np.int64(leg_of(world, work, m).end)
    port, ends = work.ports[l], now + time_on(world, m, l, 1, left)
    more = port.answered - answered
    if more > 0:
        wait_for_acks(world, work, m, l, packets, left, ends + more, port.answered)
    else:
        port.sends_until = ends
        push(work, ends + world.kinds[world.links[l].kind].delay, THERE, m, packets, left, l)


@inner
def answer(world, work, l, packets, now):
    """ACKs come to a link: when does the last of them begin? They go first, but in switches where they share a queue.

    Of a train all but the last have gone by now where the link was idle.
    """
    port, kind = work.ports[l], world.kinds[world.links[l].kind]
    ack = time_to_send(kind, world.settings[0].ack)
    port.free_at = max(port.free_at + packets * ack, now + ack)
    if kind.strict or world.links[l].source < world.settings[0].hosts:
        port.answered += packets * ack
        port.sends_until = max(port.sends_until, now) + ack
        return port.sends_until - ack
    return port.free_at - ack
