"""How long a message needs on a network where nothing else is: on its route, or over all paths it may be sprayed on."""

import numpy as np

from netsim.core.link.wire import time_to_send
from netsim.core.state.dtypes import NEVER, NONE
from netsim.core.state.packet_sizes import last_payload, packets_in
from netsim.kernel import inner, part

LEG = np.dtype(  # of a message of `size` bytes on its connection; times in ps
    [  # what is asked at every train, a cache line
        ("size", "i8"),
        ("alone", "i8"),  # from its release to the arrival of its last bit
        ("step", "i8"),  # the first of its packets on the first link
        ("rest", "i8"),  # from there on, after the last of them
        ("before", "i8"),  # from its release until its first bit can enter the last link
        ("echo", "i8"),  # the ACK of its last packet until it can enter the link that leads to the sender
        ("end", "u4"),  # the last link; NONE where packets may come by several, and where it is the first as well
        ("relay", "u4"),  # the link by which a relay sends it on; NONE without relay
        ("entry", "u4"),  # the switch's link into the relay; NONE where there is none
        ("spare", "u4"),
        # the rest
        ("first", "i8"),  # its packets on the first link
        ("slow", "i8"),  # what it takes longer because other links are slower than the first
        ("last", "i8"),  # its packets on the last link
        ("full", "i8"),  # a full packet on the last link
        ("fulls", "i8"),  # how many packets are full
        ("back", "i8"),  # the ACK of its last packet to the sender, at least
        ("relay_echo", "i8"),  # and to the relay, if there is one
        ("entry_echo", "i8"),  # from the relay on
        ("entry_before", "i8"),  # until its first bit can enter the link into the relay
        ("relay_before", "i8"),  # the same of the NIC of a relay
        ("relay_work", "i8"),
        ("relay_rest", "i8"),
        ("relay_step", "i8"),
        ("spares", "i8", 3),
    ]
)
REACHED = np.dtype([("stamp", "i8"), ("large", "i8"), ("small", "i8")])  # per node: the soonest a packet can be there
LAYER = np.dtype(  # links that packets may take at one step of their way
    [
        ("small", "i8"),  # a small packet on one of them, its delay included
        ("crossing", "i8"),  # all full packets over all of them at once, and the least delay
    ]
)
FRACTION = 12  # binary digits of a link's share of a layer


@part
def link_of(world, connection_id, hop):
    return np.int64(world.hops[connection_id * world.settings[0].stride + hop])


@part
def choices_at(world, node_id, goal):
    """The links that switch v may choose from towards a host."""
    hosts = world.settings[0].hosts
    return world.ecmp_groups[world.ecmp_group_of[(node_id - hosts) * hosts + goal]]


@part
def fixed_links(world, connection_id):
    """How many links of a connection's route all its packets take: up to where a switch has a choice."""
    length = np.int64(world.connections[connection_id].length)
    if world.settings[0].per_packet_routing == 0:
        return length
    segment = world.spray_segments[connection_id]
    fixed = min(length, np.int64(segment.outward) + 1)
    while fixed < length:
        node_id = np.int64(world.links[link_of(world, connection_id, fixed - 1)].target)
        if choices_at(world, node_id, np.int64(segment.target)).count > 1:
            break
        fixed += 1
    return fixed


@inner
def cross(world, work, begin, end, goal, sizes, step, stamp):
    """One step of all paths: from work.nodes[begin:end] to those after them, which are added. Returns the new end.

    sizes: a full packet, the smallest one, how many full ones.
    """
    large, small, fulls = sizes
    nodes, reached, layer = work.nodes, work.reached, work.layers[step]
    links, fastest, slowest, least_delay, new_end = 0, NEVER, 0, NEVER, end
    layer.small = NEVER
    for k in range(begin, end):
        node_id = nodes[k]
        group, from_large, from_small = choices_at(world, node_id, goal), reached[node_id].large, reached[node_id].small
        for i in range(np.int64(group.count)):
            link = world.links[world.ecmp_links[group.first + i]]
            link_class, after = world.link_classes[link.link_class], reached[link.target]
            full, last = time_to_send(link_class, large), time_to_send(link_class, small)
            if after.stamp != stamp:
                after.stamp, after.large, after.small = stamp, NEVER, NEVER
                nodes[new_end] = link.target
                new_end += 1
            after.large = min(after.large, from_large + full + link_class.delay)
            after.small = min(after.small, from_small + last + link_class.delay)
            layer.small, least_delay = min(layer.small, last + link_class.delay), min(least_delay, link_class.delay)
            links, fastest, slowest = links + 1, min(fastest, full), max(slowest, full)
    layer.crossing = least_delay - (-fulls // links) * fastest
    if fastest < slowest:
        share = 0  # of what as many links of the fastest kind could carry
        for k in range(begin, end):
            group = choices_at(world, nodes[k], goal)
            for i in range(np.int64(group.count)):
                link_class = world.link_classes[world.links[world.ecmp_links[group.first + i]].link_class]
                share += (fastest << FRACTION) // time_to_send(link_class, large) + 1
        layer.crossing = least_delay + (fulls * fastest << FRACTION) // share
    return new_end


@inner
def spread_out(world, work, connection_id, first, sizes):
    """Beyond the links that are fixed: the soonest a full and a small packet are there, and all full ones together.

    Returns these three, the time of a small one up to the last link, and that link or NONE.
    """
    goal, nodes, reached, layers = (
        np.int64(world.spray_segments[connection_id].target),
        work.nodes,
        work.reached,
        work.layers,
    )
    stamp = reached[world.next_event.size].stamp + 1
    reached[world.next_event.size].stamp = stamp
    nodes[0] = first
    reached[first].stamp, reached[first].large, reached[first].small = stamp, 0, 0
    begin, end, steps = np.int64(0), np.int64(1), np.int64(0)
    last = np.int64(NONE)
    while nodes[begin] != goal:
        if end - begin == 1 and choices_at(world, nodes[begin], goal).count == 1:
            last = np.int64(world.ecmp_links[choices_at(world, nodes[begin], goal).first])
        else:
            last = np.int64(NONE)
        following = cross(world, work, begin, end, goal, sizes, steps, stamp)
        begin, end, steps = end, following, steps + 1
    together, before, after = 0, 0, 0
    for j in range(steps):
        after += layers[j].small
    for j in range(steps):
        after -= layers[j].small
        together = max(together, before + layers[j].crossing + after)
        if j < steps - 1:
            before += layers[j].small
    return reached[goal].large, reached[goal].small, together, before, last


@part
def ack_path(world, connection_id, leg):
    """An ACK on its way to the sender. Where switches choose, no more than the first link is sure."""
    leg.back, leg.echo, leg.relay_echo, leg.entry_echo = 0, 0, 0, 0
    length = np.int64(world.connections[connection_id].length)
    for hop in range(length - 1, -1, -1):
        link_id = link_of(world, connection_id, hop)
        link_class = world.link_classes[world.links[link_id ^ 1].link_class]
        time = time_to_send(link_class, world.settings[0].ack_bytes) + link_class.delay
        if world.settings[0].per_packet_routing == 0 or hop == length - 1:
            leg.back += time
        if link_id == leg.relay:
            leg.relay_echo, leg.entry_echo = leg.echo, -leg.echo - time
        if hop > 0:
            leg.echo += time
    leg.entry_echo += leg.echo


@inner
def leave_relay(world, connection_id, hop, come_before, leg):
    """Fill in what a LEG says of the link of a relay that it leaves by `hop`, having come by the link before."""
    leg.relay_before, leg.relay_work, leg.relay_step = leg.before, leg.last, leg.full
    leg.entry, leg.entry_before = NONE, 0
    if hop > 1:
        leg.entry, leg.entry_before = link_of(world, connection_id, hop - 1), come_before


@inner
def measure_spread(world, work, connection_id, sizes, packets, first_bit, leg):
    """Fill in the end of a LEG whose packets are sprayed from where its fixed links end, at `first_bit` the soonest.

    Returns what a large and a small packet need from there on, and what all need together.
    """
    large, small, _ = sizes
    first = np.int64(world.links[link_of(world, connection_id, fixed_links(world, connection_id) - 1)].target)
    far_large, far_small, together, before, end = spread_out(world, work, connection_id, first, sizes)
    leg.before, leg.end = first_bit + before, np.uint32(end)
    if end != NONE:
        link_class = world.link_classes[world.links[end].link_class]
        leg.full = time_to_send(link_class, large)
        leg.last = (packets - 1) * leg.full + time_to_send(link_class, small)
    return far_large, far_small, together


@inner
def measure_leg(world, work, connection_id, size, leg):
    """Fill in the LEG of a message of `size` bytes on a connection, store and forward as in `time_alone`."""
    connection, header_bytes = world.connections[connection_id], world.settings[0].header_bytes
    payload, hosts = np.int64(connection.payload), world.settings[0].hosts
    packets, small = packets_in(size, payload), header_bytes + last_payload(size, payload)
    large = header_bytes + payload if packets > 1 else small
    fixed = fixed_links(world, connection_id)
    arrives, delays, filled, slowest, rest_large, rest_small = 0, 0, 0, 0, 0, 0
    leg.size, leg.entry, leg.relay, leg.fulls = size, NONE, NONE, size // payload
    for hop in range(fixed):
        link_id = link_of(world, connection_id, hop)
        link_class = world.link_classes[world.links[link_id].link_class]
        full, last = time_to_send(link_class, large), time_to_send(link_class, small)
        come_before = leg.before
        leg.before, leg.last, leg.full = filled + delays, (packets - 1) * full + last, full
        if hop == 0:
            leg.first, leg.step = leg.last, full
            rest_large -= full
            rest_small -= last
        elif np.int64(world.links[link_id].source) < hosts:
            leg.relay, leg.relay_rest = link_id, -rest_small - last
            leave_relay(world, connection_id, hop, come_before, leg)
        rest_large += full + link_class.delay
        rest_small += last + link_class.delay
        filled += full
        slowest = max(slowest, full)
        waits = filled + delays + (packets - 2) * slowest if packets > 1 else 0  # the last for the one before
        arrives = max(arrives, waits) + last + link_class.delay
        delays += link_class.delay
    leg.end = link_of(world, connection_id, fixed - 1) if fixed > 1 else NONE
    if fixed < connection.length:
        sizes, first_bit = (large, small, leg.fulls), filled + delays
        far_large, far_small, together = measure_spread(world, work, connection_id, sizes, packets, first_bit, leg)
        over_all = first_bit + (packets - 2) * slowest + far_large if packets > 1 else 0
        arrives = max(arrives + far_small, over_all, first_bit + together)
        rest_large, rest_small = rest_large + far_large, rest_small + far_small
    leg.alone, leg.rest, leg.slow = arrives, rest_small, arrives - leg.first - rest_large
    if leg.relay != NONE:
        leg.relay_rest += rest_small
    ack_path(world, connection_id, leg)
