"""What the ingresses of a lossless switch hold, where its egresses run one after the other within a visit.

All that an account brings about is a PAUSE or RESUME, which takes a delay to its sender: nothing that can come back to
this switch within the visit. So sums are enough, but for accounts that are tracked: those that may cross XOFF, whose
sender is stopped, or that may meet a long queue. What happens to them is noted and, after all egresses have run, put in
order of time; the signals follow from that. Only a packet that may find no headroom couples egresses: `pfc_admit` and
`may_overflow` tell beforehand.
"""

import numpy as np

from netsim.core.packet_header import bytes_of, is_ack
from netsim.core.pauses import is_ruled, signal
from netsim.core.rings import file_into, first_at, hold
from netsim.core.tables import NEVER, NONE
from netsim.kernel import inner, part

TRACKED, LISTED = 1, 2  # an account is tracked; and it is to be settled after this visit
LATE = 1  # key of a note: twice its time, and this more if it comes after the arrival of that time


@part
def counted_bytes(state, strict):
    """What a packet counts against its ingress: ACKs in a class of their own count nothing."""
    return 0 if strict and is_ack(state) else bytes_of(state)


@inner
def track(world, ingress):
    """Settle this account after the visit."""
    progress = world.progress[0]
    world.gates[ingress].tracked = LISTED
    world.unsettled[progress.unsettled] = ingress
    progress.unsettled += 1


@inner
def note(world, ingress, key, wire_bytes, row):
    """Note for an account that bytes have left, or that queue `row` - 1 is too long (LATE) or short again."""
    if world.gates[ingress].tracked == TRACKED:
        track(world, ingress)
    file_into(world, world.account_notes[world.port_of[ingress ^ 1]], key, wire_bytes, row)


@part
def pfc_admit(world, ingress, kind, port, head, arrived):
    """Take into account what came by an ingress whose wire stood at `head` before.

    Returns whether its headroom is enough even if nothing leaves in this visit.
    """
    gate, xoff = world.gates[ingress], world.settings[0].xoff
    if world.heads[port] < 0:
        world.heads[port] = head
    if not kind.pausable:
        return True
    gate.held += arrived
    if gate.held > xoff and not gate.tracked:
        track(world, ingress)
    return gate.held <= xoff + kind.headroom


@part
def pfc_release(world, l, kind, at, wire_bytes, rest):
    """The last bit of a data packet has left egress l, where `rest` bytes are left."""
    gate = world.gates[l]
    ingress = gate.leaving_from
    if is_ruled(world, ingress):
        if world.gates[ingress].tracked:
            note(world, ingress, 2 * at, wire_bytes, 0)
        else:
            world.gates[ingress].held -= wire_bytes
    if gate.is_long and rest <= kind.go_at:
        note_short(world, l, at)


@inner
def note_short(world, l, at):
    """A queue is short again: whom it stopped is among the tracked."""
    node = world.nodes[world.links[l].source]
    world.gates[l].is_long = 0
    for i in range(node.first_in, node.last_in):
        if world.gates[world.inbound[i]].tracked:
            note(world, world.inbound[i], 2 * at, 0, 1 + np.int64(l))


@inner
def stop_ingress(world, l, ingress, at):
    """The queue of an egress has grown too long by a packet that came by `ingress`, whose account is tracked."""
    if is_ruled(world, ingress):
        world.gates[l].is_long = 1
        note(world, ingress, 2 * at + LATE, 0, 1 + np.int64(l))


@inner
def may_overflow(world, v, count):
    """Whether a queue may find no room for what has come, if nothing leaves; where one may get long, track all."""
    node = world.nodes[v]
    gets_long = False
    for i in range(count):
        link = world.links[world.busy[i]]
        kind = world.kinds[link.kind]
        inbox = world.inboxes[world.port_of[world.busy[i]]]
        length = link.backlog + inbox.tail * world.settings[0].largest
        if length > kind.stop_above:
            length = link.backlog
            for k in range(inbox.start, inbox.start + inbox.tail):
                length += counted_bytes(world.packet_pool[k].state, kind.strict)
            if length > kind.room:
                return True
            gets_long |= length > kind.stop_above
    if gets_long:
        for i in range(node.first_in, node.last_in):
            if is_ruled(world, world.inbound[i]) and world.gates[world.inbound[i]].tracked != LISTED:
                track(world, world.inbound[i])
    return False


@part
def arrived_bytes(world, ingress):
    """What has come by an ingress in this visit and counts."""
    first, wire = world.heads[world.port_of[ingress ^ 1]], hold(world.links[ingress].wire)
    strict = world.kinds[world.links[ingress].kind].strict
    total = 0
    if first >= 0 and is_ruled(world, ingress):
        for k in range(first, wire.head):
            total += counted_bytes(world.packet_pool[wire.start + (k & wire.mask)].state, strict)
    return total


@inner
def settle(world, ingress):
    """Put what came and went at a tracked account in order of time, and tell its sender what follows."""
    gate, link = world.gates[ingress], world.links[ingress]
    port = world.port_of[ingress ^ 1]
    notes, wire = world.account_notes[port], hold(link.wire)
    strict, was_closed = world.kinds[link.kind].strict, np.int64(gate.closed)
    gate.held -= arrived_bytes(world, ingress)
    k, j = world.heads[port] if world.heads[port] >= 0 else wire.head, 0
    while k < wire.head or j < notes.tail:
        key = world.packet_pool[notes.start + j].at if j < notes.tail else NEVER << 1
        packet = world.packet_pool[wire.start + (k & wire.mask)]
        comes = packet.at if k < wire.head else NEVER
        if key <= 2 * comes:
            apply_note(world, ingress, world.packet_pool[notes.start + j], key >> 1)
            j += 1
        else:
            gate.held += counted_bytes(packet.state, strict)
            k += 1
            if gate.held > world.settings[0].xoff and not gate.closed:
                signal(world, ingress, comes, 1)
    notes.tail = 0
    gate.tracked = TRACKED if gate.closed else 0
    world.nodes[link.target].closed += np.int64(gate.closed) - was_closed


@part
def apply_note(world, ingress, written, at):
    """As let_go, let_go_on and stop_for in core/pauses.py."""
    gate = world.gates[ingress]
    gate.held -= written.label
    if written.at & LATE:
        gate.stopped_by = written.state - 1
        if not gate.closed:
            signal(world, ingress, at, 1)
        return
    if written.state > 0 and gate.stopped_by == written.state - 1:
        gate.stopped_by = NONE
    if gate.closed and gate.stopped_by == NONE and gate.held <= world.settings[0].xon:
        signal(world, ingress, at, 0)


@inner
def settle_all(world):
    progress = world.progress[0]
    for i in range(progress.unsettled):
        settle(world, world.unsettled[i])
    progress.unsettled = 0


@inner
def put_back_arrivals(world, v, count):
    """What has been received for `count` egresses comes again; accounts are as they were before."""
    node = world.nodes[v]
    for i in range(count):
        world.inboxes[world.port_of[world.busy[i]]].tail = 0
    for i in range(node.first_in, node.last_in):
        ingress = world.inbound[i]
        gate, link, port = world.gates[ingress], world.links[ingress], world.port_of[ingress ^ 1]
        gate.held -= arrived_bytes(world, ingress)
        gate.tracked = TRACKED if gate.closed else 0
        if world.heads[port] >= 0:
            link.wire.head = world.heads[port]
            world.due[ingress] = first_at(world.packet_pool, hold(link.wire))
    world.progress[0].unsettled = 0
