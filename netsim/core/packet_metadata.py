"""What only some modes carry with a packet: `world.notes` and `world.telemetry`, tables that lie beside the air.

The note of the packet at air[place] is notes[place], its telemetry are the rows from telemetry[place * MOST_HOPS] on.
A ring moves packets by itself; whoever takes a packet from one ring and appends it to another takes its notes along:
`taken_place` of the ring it came from, then `carry_notes` to the ring it went to. All of it only where
`settings.noted`: else both tables have one row and nobody touches them. What works on them is called, not built
into the hosts: a run without notes pays one branch.
"""

from netsim.core.packet_header import ACK, TRIMMED
from netsim.core.tables import MOST_HOPS
from netsim.kernel import inner, part


@part
def first_place(ring):
    """Where in the air the packet at the head of a ring lies."""
    return ring.start + (ring.head & ring.mask)


@part
def taken_place(ring):
    """Where the packet lay that was taken from a ring last: what is noted of it stays there until the next append."""
    return ring.start + ((ring.head - 1) & ring.mask)


@part
def appended_place(ring):
    """Where the packet lies that was appended to a ring last."""
    return ring.start + ((ring.tail - 1) & ring.mask)


@part
def copy_telemetry(told, to):
    to.link = told.link
    to.at = told.at
    to.sent_bytes = told.sent_bytes
    to.queue = told.queue


@inner
def copy_notes(world, place, to):
    """The same is noted of the packet at `to` as of that at `place`."""
    old, new = world.notes[place], world.notes[to]
    new.stamp = old.stamp
    new.entropy = old.entropy
    new.hops = old.hops
    new.spare = old.spare
    if world.settings[0].telemetered:
        for k in range(old.hops):
            copy_telemetry(world.telemetry[place * MOST_HOPS + k], world.telemetry[to * MOST_HOPS + k])


@inner
def carry_notes(world, place, ring):
    """A packet has moved from `place` to the end of a ring, or its answer stands there: notes come along."""
    copy_notes(world, place, appended_place(ring))


@inner
def begin_notes(world, ring, now, entropy):
    """A new packet stands at the end of a ring, sent now: nothing else is known of it yet."""
    note = world.notes[appended_place(ring)]
    note.stamp = now
    note.entropy = entropy
    note.hops = 0
    note.spare = 0


@inner
def note_hop(world, place, l, now, sent_bytes, queue):
    """The link that sends the packet at `place` says how it is; links beyond the first MOST_HOPS say nothing.

    sent_bytes: all it has sent before this packet; queue: the bytes of data that wait behind it.
    """
    note = world.notes[place]
    if note.hops < MOST_HOPS:
        told = world.telemetry[place * MOST_HOPS + note.hops]
        told.link = l
        told.at = now
        told.sent_bytes = sent_bytes
        told.queue = queue
        note.hops += 1


@inner
def note_departure(world, l, queue, own, place, content, now, entropy):
    """A NIC has put a packet on its wire: one of its own, with this entropy, or the one that lay at `place`.

    queue: the row of its class.
    """
    link = world.links[l]
    if own:
        begin_notes(world, link.wire, now, entropy)
        return
    if world.settings[0].telemetered and not content & (ACK | TRIMMED):
        note_hop(world, place, l, now, link.sent_bytes - queue.leaving, queue.backlog - queue.leaving)
    carry_notes(world, place, link.wire)
