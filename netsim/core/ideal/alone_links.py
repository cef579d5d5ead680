"""Links of hosts while an operation is played alone (alone.py): they take trains of data as these come, ACKs first."""

import numpy as np

from netsim.core.ideal.event_heap import LEAVES, PASSES, THERE, push
from netsim.core.ideal.legs import leg_of
from netsim.core.link.wire import time_to_send
from netsim.core.state.packet_sizes import last_payload
from netsim.kernel import inner, part

PORT = np.dtype(  # of a link
    [
        ("free_at", "i8"),  # of all that is there
        ("sends_until", "i8"),  # of the packet on its way and the ACKs after it
        ("answered", "i8"),  # ps of ACKs that have gone before what waited
        ("is_awake", "i8"),
        ("first", "i8"),  # whose turn it is
        ("last", "i8"),
        ("round_robin_own_next", "i8"),
        ("first_passing", "i8"),  # at a relay: what passes through
        ("last_passing", "i8"),
    ]
)


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


@part
def carry(world, work, message_id, link_id, packets, left, now, last_at):
    """A train on a link that takes packets as they come: when has its first packet left? All have at `free_at`."""
    port = work.ports[link_id]
    begins = max(port.free_at, now)
    port.free_at = max(
        begins + time_on(world, message_id, link_id, packets, left),
        last_at + time_on(world, message_id, link_id, 1, left),
    )
    return begins + time_on(world, message_id, link_id, 1, left + packets - 1)


@inner
def enter(world, work, message_id, packets, left, now, last_at):
    """A train comes to the link that leads to a relay."""
    link_id = np.int64(leg_of(world, work, message_id).entry)
    delay = world.link_classes[world.links[link_id].link_class].delay
    first = carry(world, work, message_id, link_id, packets, left, now, last_at)
    push(work, first + delay, PASSES, message_id, packets | left << 32, work.ports[link_id].free_at + delay, link_id)


@inner
def come_in(world, work, message_id, packets, left, now, last_at):
    """The first packet of a train comes to the last link; the last one does at `last_at`."""
    link_id = np.int64(leg_of(world, work, message_id).end)
    carry(world, work, message_id, link_id, packets, left, now, last_at)
    wait_for_acks(
        world, work, message_id, link_id, packets, left, work.ports[link_id].free_at, work.ports[link_id].answered
    )


@part
def wait_for_acks(world, work, message_id, link_id, packets, left, ends, answered):
    """A train will have left at `ends`, but for the ACKs that come to the link before its last packet begins."""
    push(work, ends - time_on(world, message_id, link_id, 1, left), LEAVES, message_id, packets | left << 32, answered)


@inner
def leave(world, work, message_id, packets, left, now, answered):
    """Its last packet begins: now, or after the ACKs that have come since, which go first."""
    link_id = np.int64(leg_of(world, work, message_id).end)
    port, delay = work.ports[link_id], world.link_classes[world.links[link_id].link_class].delay
    ends, more = now + time_on(world, message_id, link_id, 1, left), port.answered - answered
    if more > 0:
        wait_for_acks(world, work, message_id, link_id, packets, left, ends + more, port.answered)
    else:
        port.sends_until = ends
        push(work, ends + delay, THERE, message_id, packets, left, link_id)


@inner
def answer(world, work, link_id, packets, now):
    """ACKs come to a link: when does the last of them begin? They go first, but in switches where they share a queue.

    Of a train all but the last have gone by now where the link was idle.
    """
    port, link_class = work.ports[link_id], world.link_classes[world.links[link_id].link_class]
    ack = time_to_send(link_class, world.settings[0].ack_bytes)
    port.free_at = max(port.free_at + packets * ack, now + ack)
    if link_class.strict or world.links[link_id].source < world.settings[0].hosts:
        port.answered += packets * ack
        port.sends_until = max(port.sends_until, now) + ack
        return port.sends_until - ack
    return port.free_at - ack
