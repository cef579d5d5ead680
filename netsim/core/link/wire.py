"""What both ends of a wire share: the time to send, and putting a packet on it."""

from netsim.core.state.packet_header import connection_of, is_ack, next_hop
from netsim.core.state.packet_pool import append, length
from netsim.kernel import part


@part
def schedule_node(world, node_id, at):
    if at < world.next_event[node_id]:
        world.next_event[node_id] = at
        slot = world.node_blocks[node_id]
        world.next_event_of_group[slot] = min(world.next_event_of_group[slot], at)


@part
def time_to_send(link_class, wire_bytes):
    """Serialisation, rounded up to a picosecond, so that 600 Gb/s and 3.2 Tb/s are right too."""
    if link_class.per_bytes == 1:
        return wire_bytes * link_class.ps
    return (wire_bytes * link_class.ps + link_class.per_bytes - 1) // link_class.per_bytes


@part
def link_at(world, connection, hop, ack):
    """The link of that hop. Links come in pairs: the other direction of l is l ^ 1."""
    return world.hops[connection * world.settings[0].stride + hop] ^ ack


@part
def onward(world, header, meta):
    """The next link of a packet that is not at its end."""
    return link_at(world, connection_of(header), next_hop(meta), is_ack(meta))


@part
def transmit(world, link_id, link, at, header, meta):
    """A packet that arrives at the far end at `at`."""
    if length(link.in_flight) == 0:
        world.next_arrival[link_id] = at
        schedule_node(world, link.target, at)
    append(world, link.in_flight, at, header, meta)
