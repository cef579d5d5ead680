"""What both ends of a wire share: the time to send, and putting a packet on it."""

from netsim.core.packet_header import connection_of, is_ack, next_hop
from netsim.core.rings import append, length
from netsim.kernel import part

GROUP = 4  # nodes are looked through in groups of 2^4: most groups sleep


@part
def wake(world, v, at):
    if at < world.wake[v]:
        world.wake[v] = at
        slot = world.slots[v]
        world.wakes[slot] = min(world.wakes[slot], at)


@part
def time_to_send(kind, wire_bytes):
    """Serialisation, rounded up to a picosecond, so that 600 Gb/s and 3.2 Tb/s are right too."""
    if kind.per_bytes == 1:
        return wire_bytes * kind.ps
    return (wire_bytes * kind.ps + kind.per_bytes - 1) // kind.per_bytes


@part
def link_at(world, connection, hop, ack):
    """The link of that hop. Links come in pairs: the other direction of l is l ^ 1."""
    return world.hops[connection * world.settings[0].stride + hop] ^ ack


@part
def onward(world, label, state):
    """The next link of a packet that is not at its end."""
    return link_at(world, connection_of(label), next_hop(state), is_ack(state))


@part
def put_on_wire(world, l, link, at, label, state):
    """A packet that arrives at the far end at `at`."""
    if length(link.wire) == 0:
        world.due[l] = at
        wake(world, link.target, at)
    append(world, link.wire, at, label, state)
