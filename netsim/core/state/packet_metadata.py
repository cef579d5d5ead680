"""What only some modes carry with a packet: `world.packet_metadata` and `world.telemetry`, beside the packet pool.

That of packet_pool[i] is packet_metadata[i], its telemetry are the rows from telemetry[i * MOST_HOPS] on.
A ring moves packets by itself; whoever takes a packet from one ring and appends it to another takes its metadata along:
`taken_index` of the ring it came from, then `carry_metadata` to the ring it went to. All of it only where
`settings.timestamped`: else both tables have one row and nobody touches them. What works on them is called, not built
into the hosts: a run without it pays one branch.
"""

from netsim.core.state.dtypes import MOST_HOPS
from netsim.core.state.packet_header import ACK, TRIMMED
from netsim.kernel import inner, part


@part
def head_index(ring):
    """Index of the packet at the head of a ring."""
    return ring.start + (ring.head & ring.mask)


@part
def taken_index(ring):
    """Index of the packet that was taken from a ring last: its metadata stays until the next append."""
    return ring.start + ((ring.head - 1) & ring.mask)


@part
def tail_index(ring):
    """Index of the packet that was appended to a ring last."""
    return ring.start + ((ring.tail - 1) & ring.mask)


@part
def copy_telemetry(record, to):
    to.link = record.link
    to.at = record.at
    to.sent_bytes = record.sent_bytes
    to.queue = record.queue


@inner
def copy_metadata(world, pool_index, to):
    """The packet at `to` gets the metadata of that at `pool_index`."""
    old, new = world.packet_metadata[pool_index], world.packet_metadata[to]
    new.stamp = old.stamp
    new.entropy = old.entropy
    new.hops = old.hops
    new.pool_index = old.pool_index
    if world.settings[0].telemetered:
        for k in range(old.hops):
            copy_telemetry(world.telemetry[pool_index * MOST_HOPS + k], world.telemetry[to * MOST_HOPS + k])


@inner
def carry_metadata(world, pool_index, ring):
    """A packet has moved from `pool_index` to the end of a ring, or its answer stands there."""
    copy_metadata(world, pool_index, tail_index(ring))


@inner
def begin_metadata(world, ring, now, entropy):
    """A new packet stands at the end of a ring, sent now: nothing else is known of it yet."""
    metadata = world.packet_metadata[tail_index(ring)]
    metadata.stamp = now
    metadata.entropy = entropy
    metadata.hops = 0
    metadata.pool_index = 0


@inner
def append_telemetry(world, pool_index, link_id, now, sent_bytes, queue):
    """The link that sends the packet at `pool_index` appends its INT record; those beyond the first MOST_HOPS do not.

    sent_bytes: all it has sent before this packet; queue: the bytes of data that wait behind it.
    """
    metadata = world.packet_metadata[pool_index]
    if metadata.hops < MOST_HOPS:
        record = world.telemetry[pool_index * MOST_HOPS + metadata.hops]
        record.link = link_id
        record.at = now
        record.sent_bytes = sent_bytes
        record.queue = queue
        metadata.hops += 1


@inner
def record_departure(world, link_id, queue, own, pool_index, meta, now, entropy):
    """A NIC has put a packet on its wire: one of its own, with this entropy, or the one that lay at `pool_index`.

    queue: the row of its class.
    """
    link = world.links[link_id]
    if own:
        begin_metadata(world, link.in_flight, now, entropy)
        return
    if world.settings[0].telemetered and not meta & (ACK | TRIMMED):
        append_telemetry(
            world, pool_index, link_id, now, link.sent_bytes - queue.leaving, queue.backlog - queue.leaving
        )
    carry_metadata(world, pool_index, link.in_flight)
