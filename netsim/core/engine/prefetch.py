"""Memory asked for ahead of need. With many connections their rows are in no cache when a packet comes.

Each pass asks for what the next one reads, for all packets of the coming visit: so the waits overlap. Nothing here
changes what happens.
"""

from netsim.core.state.packet_header import connection_of, is_ack, next_hop
from netsim.core.state.packet_pool import load_ring
from netsim.kernel import part, prefetch

MANY = 1 << 11  # connections, above which their rows fill a core's own cache
MANY_LINKS = 1 << 11  # links, likewise
TURNS = 8  # turns of a NIC in one visit, about


@part
def packet_at(world, ring, k):
    return world.packet_pool[ring.start + (k & ring.mask)]


@part
def last_before(world, link_id, until):
    """The end of those packets on a wire that arrive before `until`."""
    if world.next_arrival[link_id] >= until:
        return world.links[link_id].in_flight.head
    in_flight = load_ring(world.links[link_id].in_flight)
    k = in_flight.head
    while k < in_flight.tail and packet_at(world, in_flight, k).at < until:
        k += 1
    return k


@part
def prefetch_routes(world, node_id, until):
    """What a switch will look up: the next link of each packet."""
    node = world.nodes[node_id]
    for i in range(node.first_in, node.last_in):
        link_id = world.inbound[i]
        if world.next_arrival[link_id] < until:
            in_flight = load_ring(world.links[link_id].in_flight)
            for k in range(in_flight.head, last_before(world, link_id, until)):
                packet = packet_at(world, in_flight, k)
                row = connection_of(packet.header) * world.settings[0].stride
                prefetch(world.hops, row + next_hop(packet.meta), 0)


@part
def message_of(world, packet):
    """The message of a packet that comes to its end."""
    connection = world.connections[connection_of(packet.header)]
    return connection.acking if is_ack(packet.meta) else connection.receiving


@part
def prefetch_arrivals(world, link_id, until):
    """What a host will read for each packet on this wire: its connection, its message, its flow."""
    in_flight = load_ring(world.links[link_id].in_flight)
    end = last_before(world, link_id, until)
    for k in range(in_flight.head, end):
        packet = packet_at(world, in_flight, k)
        connection_id = connection_of(packet.header)
        if is_ack(packet.meta):
            prefetch(world.connections, connection_id, 0)
            prefetch(world.connections, connection_id, 1)
        prefetch(world.connections, connection_id, 2)
    for k in range(in_flight.head, end):
        message_id = message_of(world, packet_at(world, in_flight, k))
        if message_id < world.messages.size:
            prefetch(world.messages, message_id, 0)
    for k in range(in_flight.head, end):
        message_id = message_of(world, packet_at(world, in_flight, k))
        if message_id < world.messages.size:
            prefetch(world.flows, world.messages[message_id].flow, 0)


@part
def prefetch_departures(world, link_id):
    """What a host will read for the next turns of this NIC."""
    ring = load_ring(world.links[link_id].send_ring)
    end = min(ring.tail, ring.head + TURNS)
    for k in range(ring.head, end):
        connection_id = packet_at(world, ring, k).header
        prefetch(world.connections, connection_id, 0)
        prefetch(world.connections, connection_id, 1)
    for k in range(ring.head, end):
        message_id = world.connections[packet_at(world, ring, k).header].sending
        if message_id < world.messages.size:
            prefetch(world.messages, message_id, 0)
    for k in range(ring.head, end):
        message_id = world.connections[packet_at(world, ring, k).header].sending
        if message_id < world.messages.size:
            prefetch(world.flows, world.messages[message_id].flow, 0)


@part
def prefetch_node(world, node_id, until):
    """What the visit to a node will need."""
    if node_id >= world.settings[0].hosts:
        prefetch_routes(world, node_id, until)
        return
    node = world.nodes[node_id]
    for i in range(node.first_in, node.last_in):
        prefetch_arrivals(world, world.inbound[i], until)
    for i in range(node.first_out, node.last_out):
        prefetch_departures(world, world.outbound[i])


@part
def prefetch_links(world, node_id, until):
    """The rows of the links of a node that is visited soon: those that bring something, and all if many do."""
    node = world.nodes[node_id]
    bring = 0
    for i in range(node.first_in, node.last_in):
        link_id = world.inbound[i]
        if world.next_arrival[link_id] < until:
            prefetch(world.links, link_id, 0)
            if world.settings[0].lossless:
                prefetch(world.pfc_state, link_id, 0)
            bring += 1
    if 2 * bring > node.last_in - node.first_in:
        for i in range(node.first_out, node.last_out):
            prefetch(world.links, world.outbound[i], 0)
            prefetch(world.links, world.outbound[i], 1)
            if world.settings[0].lossless:
                prefetch(world.pfc_state, world.outbound[i], 0)


@part
def prefetch_packets(world, node_id, until):
    """The first packets on the wires into a node that is visited next, and those in its queues that it sends then.

    The rows of its links are at hand by now.
    """
    node = world.nodes[node_id]
    for i in range(node.first_in, node.last_in):
        link_id = world.inbound[i]
        if world.next_arrival[link_id] < until:
            prefetch_head(world, world.links[link_id].in_flight)
    if node_id >= world.settings[0].hosts and node.next_egress < until:
        for i in range(node.first_out, node.last_out):
            if world.next_egress[i] < until:
                prefetch_head(world, world.links[world.outbound[i]].payload)


@part
def prefetch_head(world, row):
    """The first packets of a ring."""
    first = row.start + (row.head & row.mask)
    prefetch(world.packet_pool, first, 0)
    prefetch(world.packet_pool, first, 1)
