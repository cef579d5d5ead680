"""Links of hosts while an operation is played alone (alone.py): they take trains of data as these come, ACKs first."""

import numpy as np

from netsim.core.ideal.event_queue import LEAVES, PASSES, THERE, push
from netsim.core.ideal.legs import leg_of_flow
from netsim.core.link.wire import time_to_send
from netsim.core.state.packet_sizes import last_payload
from netsim.kernel import inner, part

PORT = np.dtype(  # of a link: a cache line
    [
        ("free_at", "i8"),  # of all that is there
        ("sends_until", "i8"),  # of the packet on its way and the ACKs after it
        ("answered", "i8"),  # ps of ACKs that have gone before what waited
        ("ack", "i8"),  # ps of one of them
        ("delay", "i8"),
        ("first", "i4"),  # whose turn it is
        ("last", "i4"),
        ("first_passing", "i4"),  # at a relay: what passes through
        ("last_passing", "i4"),
        ("is_awake", "i2"),
        ("round_robin_own_next", "i2"),
        ("acks_first", "i2"),  # but in switches where they share a queue
        ("spare", "i2"),
    ]
)
RUN = np.dtype(  # of a message: what is asked of it at every train
    [
        ("left", "i8"),  # packets
        ("released", "i8"),  # when
        ("next", "i8"),  # of its flow
        ("bytes", "i8"),
        ("payload", "i8"),
        ("flow", "i8"),  # counted from the operation's first
        ("egress", "i8"),
        ("back", "i8"),  # the link of its ACKs
    ]
)
NOBODY = -1


@part
def run_of(work, message_id):
    return work.runs[message_id - work.own[0].first]


@part
def leg_of_run(world, work, run):
    return leg_of_flow(world, work, np.int64(run.flow), np.int64(run.bytes))


@part
def time_on(world, run, link_id, packets, left):
    """So many packets of a message on a link, its last one among them if none is `left`."""
    payload = np.int64(run.payload)
    link_class, header_bytes = world.link_classes[world.links[link_id].link_class], world.settings[0].header_bytes
    time = packets * time_to_send(link_class, header_bytes + payload)
    if left == 0:
        time += time_to_send(link_class, header_bytes + last_payload(np.int64(run.bytes), payload)) - time_to_send(
            link_class, header_bytes + payload
        )
    return time


@part
def carry(world, work, run, link_id, packets, left, now, last_at):
    """A train on a link that takes packets as they come: when has its first packet left? All have at `free_at`."""
    port = work.ports[link_id]
    begins = max(port.free_at, now)
    port.free_at = max(
        begins + time_on(world, run, link_id, packets, left),
        last_at + time_on(world, run, link_id, 1, left),
    )
    return begins + time_on(world, run, link_id, 1, left + packets - 1)


@inner
def enter(world, work, message_id, packets, left, now, last_at):
    """A train comes to the link that leads to a relay."""
    run = run_of(work, message_id)
    link_id = np.int64(leg_of_run(world, work, run).entry)
    delay = work.ports[link_id].delay
    first = carry(world, work, run, link_id, packets, left, now, last_at)
    push(work, first + delay, PASSES, message_id, packets | left << 32, work.ports[link_id].free_at + delay, link_id)


@inner
def come_in(world, work, message_id, packets, left, now, last_at):
    """The first packet of a train comes to the last link; the last one does at `last_at`."""
    run = run_of(work, message_id)
    link_id = np.int64(leg_of_run(world, work, run).end)
    carry(world, work, run, link_id, packets, left, now, last_at)
    wait_for_acks(
        world, work, message_id, link_id, packets, left, work.ports[link_id].free_at, work.ports[link_id].answered
    )


@part
def wait_for_acks(world, work, message_id, link_id, packets, left, ends, answered):
    """A train will have left at `ends`, but for the ACKs that come to the link before its last packet begins."""
    run = run_of(work, message_id)
    push(work, ends - time_on(world, run, link_id, 1, left), LEAVES, message_id, packets | left << 32, answered)


@inner
def leave(world, work, message_id, packets, left, now, answered):
    """Its last packet begins: now, or after the ACKs that have come since, which go first."""
    run = run_of(work, message_id)
    link_id = np.int64(leg_of_run(world, work, run).end)
    port = work.ports[link_id]
    ends, more = now + time_on(world, run, link_id, 1, left), port.answered - answered
    if more > 0:
        wait_for_acks(world, work, message_id, link_id, packets, left, ends + more, port.answered)
    else:
        port.sends_until = ends
        push(work, ends + port.delay, THERE, message_id, packets, left, link_id)


@part
def answer(work, link_id, packets, now):
    """ACKs come to a link: when does the last of them begin? Of a train all others have gone where it was idle."""
    port = work.ports[link_id]
    port.free_at = max(port.free_at + packets * port.ack, now + port.ack)
    if port.acks_first:
        port.answered += packets * port.ack
        port.sends_until = max(port.sends_until, now) + port.ack
        return port.sends_until - port.ack
    return port.free_at - port.ack


@part
def idle_port(world, port, link_id):
    link = world.links[link_id]
    link_class = world.link_classes[link.link_class]
    port.first, port.first_passing = NOBODY, NOBODY
    port.delay, port.ack = link_class.delay, time_to_send(link_class, world.settings[0].ack_bytes)
    port.acks_first = link_class.strict or link.source < world.settings[0].hosts
