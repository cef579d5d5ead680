"""What the ingresses of a lossless switch hold, where its egresses run one after the other within a visit.

All that an account brings about is a PAUSE or RESUME, which takes a delay to its sender: nothing that can come back to
this switch within the visit. So sums are enough, but for accounts that are tracked: those that may cross XOFF, whose
sender is paused, or that may meet a long queue. What happens to them is kept as events and, after all egresses have
run, put in order of time; pauses follow from that. Egresses depend on each other only where a packet may find no
headroom, or no room in a shared buffer: `admit_arrivals`, `may_overflow` and `may_fill_pool` tell beforehand.
"""

import numpy as np

from netsim.core.link.pfc import is_pausable, send_pause
from netsim.core.state.dtypes import NEVER, NONE
from netsim.core.state.packet_header import ACK, TRIMMED, bytes_of
from netsim.core.state.packet_pool import first_at, insert_into_inbox, load_ring
from netsim.kernel import inner, part
from netsim.queues.disciplines.shared_buffer import ALPHA

TRACKED, LISTED = 1, 2  # an account is tracked; and it is to be settled after this visit
LATE = 1  # key of an event: twice its time, and this more if it comes after the arrival of that time


@part
def counted_bytes(meta, strict):
    """What a packet counts against its ingress: ACKs and headers in a class of their own count nothing."""
    return 0 if strict and meta & (ACK | TRIMMED) else bytes_of(meta)


@inner
def track(world, ingress):
    """Settle this account after the visit."""
    progress = world.progress[0]
    world.pfc_state[ingress].tracked = LISTED
    world.unsettled[progress.unsettled] = ingress
    progress.unsettled += 1


@inner
def record_event(world, ingress, key, wire_bytes, row):
    """Keep for an account that bytes have left, or that queue `row` - 1 is too long (LATE) or short again."""
    if world.pfc_state[ingress].tracked == TRACKED:
        track(world, ingress)
    insert_into_inbox(world, world.account_events[world.port_number[ingress ^ 1]], key, wire_bytes, row, 0)


@part
def admit_arrivals(world, ingress, link_class, port, head, arrived):
    """Take into account what came by an ingress whose wire stood at `head` before.

    Returns whether its headroom is enough even if nothing leaves in this visit.
    """
    pfc, xoff = world.pfc_state[ingress], world.settings[0].xoff
    if world.wire_heads[port] < 0:
        world.wire_heads[port] = head
    if not link_class.pausable:
        return True
    pfc.ingress_occupancy += arrived
    if pfc.ingress_occupancy > xoff and not pfc.tracked:
        track(world, ingress)
    return pfc.ingress_occupancy <= xoff + link_class.headroom


@part
def release_ingress(world, link_id, link_class, at, wire_bytes, rest):
    """The last bit of a data packet has left an egress, where `rest` bytes are left."""
    pfc = world.pfc_state[link_id]
    ingress = pfc.leaving_from
    if is_pausable(world, ingress):
        if world.pfc_state[ingress].tracked:
            record_event(world, ingress, 2 * at, wire_bytes, 0)
        else:
            world.pfc_state[ingress].ingress_occupancy -= wire_bytes
    if pfc.is_above and rest <= link_class.resume_at:
        record_resume(world, link_id, at)


@inner
def record_resume(world, link_id, at):
    """A queue is short again: whom it stopped is among the tracked."""
    node = world.nodes[world.links[link_id].source]
    world.pfc_state[link_id].is_above = 0
    for i in range(node.first_in, node.last_in):
        if world.pfc_state[world.inbound[i]].tracked:
            record_event(world, world.inbound[i], 2 * at, 0, 1 + np.int64(link_id))


@inner
def record_pause(world, link_id, ingress, at):
    """The queue of an egress has grown too long by a packet that came by `ingress`, whose account is tracked."""
    if is_pausable(world, ingress):
        world.pfc_state[link_id].is_above = 1
        record_event(world, ingress, 2 * at + LATE, 0, 1 + np.int64(link_id))


@inner
def inbox_bytes(world, link_id):
    """What has come for an egress and counts."""
    inbox, strict = (
        world.inboxes[world.port_number[link_id]],
        world.link_classes[world.links[link_id].link_class].strict,
    )
    total = 0
    for k in range(inbox.start, inbox.start + inbox.tail):
        total += counted_bytes(world.packet_pool[k].meta, strict)
    return total


@inner
def may_fill_pool(world, node_id, count, inputs):
    """Whether the shared buffer may refuse a packet or have its sender pause, if nothing leaves; else sums are enough.

    Something has come for `count` egresses by `inputs` ingresses. Watches the buffer if it may be fuller than ever.
    """
    node, pool, settings = world.nodes[node_id], world.pools[node_id], world.settings[0]
    if pool.room == 0:
        return False
    taken = np.int64(pool.taken)
    for i in range(count):
        taken += inbox_bytes(world, world.busy_egresses[i])
    most = settings.queues.shared_buffer.alpha * (pool.room - taken) >> ALPHA  # that an account or a queue holds then
    all_pausable = True
    for i in range(inputs):
        ingress = world.inbound[node.first_in + np.int64(world.due_ingresses[i])]
        if not is_pausable(world, ingress):
            all_pausable = False
        elif world.pfc_state[ingress].ingress_occupancy > min(settings.xoff, most):
            return True
    if not all_pausable:
        for i in range(count):
            if world.links[world.busy_egresses[i]].backlog + inbox_bytes(world, world.busy_egresses[i]) > most:
                return True
    pool.watched = taken > pool.fullest
    return False


@inner
def may_overflow(world, node_id, count, ties):
    """Whether a queue may find no room for what has come, if nothing leaves; where one may get long, track all.

    Also where one may get long and, with `ties`, two queues may at one instant by packets of one ingress: the last of
    them is which its sender waits for.
    """
    node = world.nodes[node_id]
    gets_long = False
    for i in range(count):
        link = world.links[world.busy_egresses[i]]
        link_class = world.link_classes[link.link_class]
        inbox = world.inboxes[world.port_number[world.busy_egresses[i]]]
        length = link.backlog + inbox.tail * world.settings[0].max_packet_bytes
        if length > link_class.pause_above:
            length = link.backlog + inbox_bytes(world, world.busy_egresses[i])
            if length > link_class.room:
                return True
            gets_long |= length > link_class.pause_above
    if gets_long and ties:
        return True
    if gets_long:
        for i in range(node.first_in, node.last_in):
            if is_pausable(world, world.inbound[i]) and world.pfc_state[world.inbound[i]].tracked != LISTED:
                track(world, world.inbound[i])
    return False


@part
def arrived_bytes(world, ingress):
    """What has come by an ingress in this visit and counts."""
    first, in_flight = world.wire_heads[world.port_number[ingress ^ 1]], load_ring(world.links[ingress].in_flight)
    strict = world.link_classes[world.links[ingress].link_class].strict
    total = 0
    if first >= 0 and is_pausable(world, ingress):
        for k in range(first, in_flight.head):
            total += counted_bytes(world.packet_pool[in_flight.start + (k & in_flight.mask)].meta, strict)
    return total


@inner
def settle(world, ingress):
    """Put what came and went at a tracked account in order of time, and tell its sender what follows."""
    pfc, link = world.pfc_state[ingress], world.links[ingress]
    port = world.port_number[ingress ^ 1]
    events, in_flight = world.account_events[port], load_ring(link.in_flight)
    strict, was_paused = world.link_classes[link.link_class].strict, np.int64(pfc.pause_sent)
    pfc.ingress_occupancy -= arrived_bytes(world, ingress)
    k, j = world.wire_heads[port] if world.wire_heads[port] >= 0 else in_flight.head, 0
    while k < in_flight.head or j < events.tail:
        key = world.packet_pool[events.start + j].at if j < events.tail else NEVER << 1
        packet = world.packet_pool[in_flight.start + (k & in_flight.mask)]
        comes = packet.at if k < in_flight.head else NEVER
        if key <= 2 * comes:
            apply_event(world, ingress, world.packet_pool[events.start + j], key >> 1)
            j += 1
        else:
            pfc.ingress_occupancy += counted_bytes(packet.meta, strict)
            k += 1
            if pfc.ingress_occupancy > world.settings[0].xoff and not pfc.pause_sent:
                send_pause(world, ingress, comes, 1)
    events.tail = 0
    pfc.tracked = TRACKED if pfc.pause_sent else 0
    world.nodes[link.target].paused_senders += np.int64(pfc.pause_sent) - was_paused


@part
def apply_event(world, ingress, event, at):
    """As pfc_release, resume_others and pause_for in core/link/pfc.py."""
    pfc = world.pfc_state[ingress]
    pfc.ingress_occupancy -= event.header
    if event.at & LATE:
        pfc.paused_by = event.meta - 1
        if not pfc.pause_sent:
            send_pause(world, ingress, at, 1)
        return
    if event.meta > 0 and pfc.paused_by == event.meta - 1:
        pfc.paused_by = NONE
    if pfc.pause_sent and pfc.paused_by == NONE and pfc.ingress_occupancy <= world.settings[0].xon:
        send_pause(world, ingress, at, 0)


@inner
def settle_all(world, inputs):
    """After a visit in which something came by `inputs` ingresses."""
    progress = world.progress[0]
    for i in range(progress.unsettled):
        settle(world, world.unsettled[i])
    progress.unsettled = 0
    for i in range(inputs):
        world.wire_heads[world.due_ingresses[i]] = -1


@inner
def put_back_arrivals(world, node_id, count, inputs):
    """What came for `count` egresses by `inputs` ingresses comes again; accounts are as they were before."""
    node = world.nodes[node_id]
    for i in range(count):
        world.inboxes[world.port_number[world.busy_egresses[i]]].tail = 0
    for i in range(node.first_in, node.last_in):
        ingress = world.inbound[i]
        world.pfc_state[ingress].ingress_occupancy -= arrived_bytes(world, ingress)
        world.pfc_state[ingress].tracked = TRACKED if world.pfc_state[ingress].pause_sent else 0
    for i in range(inputs):
        ingress = world.inbound[node.first_in + np.int64(world.due_ingresses[i])]
        in_flight = world.links[ingress].in_flight
        in_flight.head = world.wire_heads[world.due_ingresses[i]]
        world.wire_heads[world.due_ingresses[i]] = -1
        world.next_arrival[ingress] = first_at(world.packet_pool, load_ring(in_flight))
    world.progress[0].unsettled = 0
