"""Memory asked for ahead of need. With many connections their rows are in no cache when a packet comes.

Each pass asks for what the next one reads, for all packets of the coming visit: so the waits overlap. Nothing here
changes what happens.
"""

from netsim.core.packet_header import connection_of, is_ack, next_hop
from netsim.core.rings import hold
from netsim.kernel import part, prefetch

MANY = 1 << 11  # connections, above which their rows fill a core's own cache
MANY_LINKS = 1 << 11  # links, likewise
TURNS = 8  # turns of a NIC in one visit, about


@part
def packet_at(world, ring, k):
    return world.packet_pool[ring.start + (k & ring.mask)]


@part
def last_before(world, l, until):
    """The end of those packets on a wire that arrive before `until`."""
    if world.due[l] >= until:
        return world.links[l].wire.head
    wire = hold(world.links[l].wire)
    k = wire.head
    while k < wire.tail and packet_at(world, wire, k).at < until:
        k += 1
    return k


@part
def ask_for_routes(world, v, until):
    """What a switch will look up: the next link of each packet."""
    node = world.nodes[v]
    for i in range(node.first_in, node.last_in):
        l = world.inbound[i]
        if world.due[l] < until:
            wire = hold(world.links[l].wire)
            for k in range(wire.head, last_before(world, l, until)):
                packet = packet_at(world, wire, k)
                row = connection_of(packet.label) * world.settings[0].stride
                prefetch(world.hops, row + next_hop(packet.state), 0)


@part
def message_of(world, packet):
    """The message of a packet that comes to its end."""
    connection = world.connections[connection_of(packet.label)]
    return connection.acking if is_ack(packet.state) else connection.receiving


@part
def ask_for_arrivals(world, l, until):
    """What a host will read for each packet on this wire: its connection, its message, its flow."""
    wire = hold(world.links[l].wire)
    end = last_before(world, l, until)
    for k in range(wire.head, end):
        packet = packet_at(world, wire, k)
        c = connection_of(packet.label)
        if is_ack(packet.state):
            prefetch(world.connections, c, 0)
            prefetch(world.connections, c, 1)
        prefetch(world.connections, c, 2)
    for k in range(wire.head, end):
        m = message_of(world, packet_at(world, wire, k))
        if m < world.messages.size:
            prefetch(world.messages, m, 0)
    for k in range(wire.head, end):
        m = message_of(world, packet_at(world, wire, k))
        if m < world.messages.size:
            prefetch(world.flows, world.messages[m].flow, 0)


@part
def ask_for_departures(world, l):
    """What a host will read for the next turns of this NIC."""
    turns = hold(world.links[l].turns)
    end = min(turns.tail, turns.head + TURNS)
    for k in range(turns.head, end):
        c = packet_at(world, turns, k).label
        prefetch(world.connections, c, 0)
        prefetch(world.connections, c, 1)
    for k in range(turns.head, end):
        m = world.connections[packet_at(world, turns, k).label].sending
        if m < world.messages.size:
            prefetch(world.messages, m, 0)
    for k in range(turns.head, end):
        m = world.connections[packet_at(world, turns, k).label].sending
        if m < world.messages.size:
            prefetch(world.flows, world.messages[m].flow, 0)


@part
def ask_ahead(world, v, until):
    """What the visit to a node will need."""
    if v >= world.settings[0].hosts:
        ask_for_routes(world, v, until)
        return
    node = world.nodes[v]
    for i in range(node.first_in, node.last_in):
        ask_for_arrivals(world, world.inbound[i], until)
    for i in range(node.first_out, node.last_out):
        ask_for_departures(world, world.outbound[i])


@part
def ask_for_links(world, v, until):
    """The rows of the links of a node that is visited soon: those that bring something, and all if many do."""
    node = world.nodes[v]
    bring = 0
    for i in range(node.first_in, node.last_in):
        l = world.inbound[i]
        if world.due[l] < until:
            prefetch(world.links, l, 0)
            if world.settings[0].lossless:
                prefetch(world.gates, l, 0)
            bring += 1
    if 2 * bring > node.last_in - node.first_in:
        for i in range(node.first_out, node.last_out):
            prefetch(world.links, world.outbound[i], 0)
            prefetch(world.links, world.outbound[i], 1)
            if world.settings[0].lossless:
                prefetch(world.gates, world.outbound[i], 0)


@part
def ask_for_packets(world, v, until):
    """The first packets on the wires into a node that is visited next; the rows of its links are at hand by now."""
    node = world.nodes[v]
    for i in range(node.first_in, node.last_in):
        l = world.inbound[i]
        if world.due[l] < until:
            wire = hold(world.links[l].wire)
            prefetch(world.packet_pool, wire.start + (wire.head & wire.mask), 0)
            prefetch(world.packet_pool, wire.start + (wire.head & wire.mask), 1)
