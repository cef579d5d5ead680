"""What a new connection's path is like when nothing else is there: how long a round trip takes, what it holds."""

import numpy as np

from netsim.core.link.wire import time_to_send
from netsim.core.state.dtypes import NEVER
from netsim.core.switch.per_packet_routing import FLOWLET
from netsim.kernel import bare, entry, part

LARGEST_BUFFER = 1 << 40  # bytes; a queue with more room than that has no limit
MEGABIT_BITS = 8 * 10**6  # a byte in so many ps is one Mbit/s


@entry
def lay_routes(owned, first, starts, links):
    """Write the routes of connections first, first + 1, ...: links[starts[i] : starts[i + 1]]."""
    world = bare(owned)
    stride = world.settings[0].stride
    for i in range(starts.size - 1):
        for k in range(starts[i + 1] - starts[i]):
            world.hops[(first + i) * stride + k] = links[starts[i] + k]


@part
def drain_time(link_class):
    """Emptying this queue, full, and the one of the way back; NEVER where it has no limit."""
    if link_class.buffer >= LARGEST_BUFFER:
        return NEVER
    return 2 * (link_class.buffer * link_class.ps // link_class.per_bytes)


@entry
def measure_routes(owned, first, last_hop, times):
    """For connections first, first + 1, ...: the links of their routes before hop last_hop[i] (i8[n]).

    times i8[n, 5], ps: a full packet's way there; its ACK's way back; a full packet on the slowest link; emptying every
    switch queue there and back, each full, or NEVER where one has no limit; 0.
    """
    world = bare(owned)
    settings = world.settings[0]
    for i in range(last_hop.size):
        connection_id = np.int64(first + i)
        full = settings.header_bytes + np.int64(world.connections[connection_id].payload)
        row = times[i]
        row[:] = 0
        for hop in range(last_hop[i]):
            link_id = world.hops[connection_id * settings.stride + hop]
            there, back = (
                world.link_classes[world.links[link_id].link_class],
                world.link_classes[world.links[link_id ^ 1].link_class],
            )
            row[0] += time_to_send(there, full) + there.delay
            row[1] += time_to_send(back, settings.ack_bytes) + back.delay
            row[2] = max(row[2], time_to_send(there, full))
            if hop > 0:  # at its own NIC a packet does not wait once it is sent
                row[3] = min(NEVER, row[3] + drain_time(there))


@entry
def measure_sprayed(owned, switches, targets, payloads, times, seen, reached):
    """The same for what switches choose per packet, from switches[i] (counted from 0) to host targets[i]; i8[n] each.

    Of all ways, which have equally many links, the longest times; the third is a full packet's on all links that lie
    equally far from the target together (flowlets: on the fastest of them), where that is slowest; the fifth is the
    shortest way there. seen i8[nodes] (zeros), reached i8[nodes, 5]: scratch.
    """
    world = bare(owned)
    hosts, one_by_one = world.settings[0].hosts, world.settings[0].per_packet_routing == FLOWLET
    edge, following = np.empty(seen.size, "i8"), np.empty(seen.size, "i8")
    for i in range(switches.size):
        full, slowest = world.settings[0].header_bytes + payloads[i], 0
        edge[0], count = hosts + switches[i], 1
        reached[edge[0], :] = 0
        while edge[0] != targets[i]:
            mbps, links, found, fastest = 0, 0, 0, NEVER
            for k in range(count):
                group = world.ecmp_groups[world.ecmp_group_of[(edge[k] - hosts) * hosts + targets[i]]]
                for g in range(np.int64(group.first), np.int64(group.first) + np.int64(group.count)):
                    link_id = world.ecmp_links[g]
                    link_class, node_id = (
                        world.link_classes[world.links[link_id].link_class],
                        np.int64(world.links[link_id].target),
                    )
                    if seen[node_id] != i + 1:
                        seen[node_id] = i + 1
                        reached[node_id, :4], reached[node_id, 4] = 0, NEVER
                        following[found] = node_id
                        found += 1
                    go_on(world, link_id, full, reached[edge[k]], reached[node_id])
                    mbps += MEGABIT_BITS * link_class.per_bytes // link_class.ps
                    fastest = min(fastest, time_to_send(link_class, full))
                    links += 1
            slowest = max(slowest, fastest if links == 1 or one_by_one else -(-full * MEGABIT_BITS // mbps))
            edge, following, count = following, edge, found
        times[i, :] = reached[targets[i], :]
        times[i, 2] = slowest


@part
def go_on(world, link_id, full, so_far, onwards):
    """Over one link more: the longest times to its far end, and the shortest."""
    there, back = (
        world.link_classes[world.links[link_id].link_class],
        world.link_classes[world.links[link_id ^ 1].link_class],
    )
    segment = time_to_send(there, full) + there.delay
    onwards[0], onwards[4] = max(onwards[0], so_far[0] + segment), min(onwards[4], so_far[4] + segment)
    onwards[1] = max(onwards[1], so_far[1] + time_to_send(back, world.settings[0].ack_bytes) + back.delay)
    onwards[3] = max(onwards[3], min(NEVER, so_far[3] + drain_time(there)))


def times_of(world, first, count):
    """Idle round trip, full packet on the slowest link, emptying every queue, how unlike ways are: ps, i8[count] each.

    Where switches choose per packet these are of all ways together: the longest round trip, the slowest place, and by
    how much the longest way there takes longer than the shortest.
    """
    rows = world.connections[first : first + count]
    last_hop, times = rows["length"].astype("i8"), np.zeros((count, 5), "i8")
    sprayed = np.zeros(0, "i8")
    if world.settings[0]["per_packet_routing"]:
        outward = world.spray_segments[first : first + count]["outward"].astype("i8")
        sprayed = np.flatnonzero(outward < last_hop)
        last_hop[sprayed] = outward[sprayed] + 1
    measure_routes(world, first, last_hop, times)
    if len(sprayed):
        nic = world.hops[(first + sprayed) * int(world.settings[0]["stride"]) + last_hop[sprayed] - 1]
        switches = world.links["target"][nic].astype("i8") - int(world.settings[0]["hosts"])
        targets = world.spray_segments["target"][first + sprayed].astype("i8")
        ends, which = np.unique(np.stack([switches, targets, rows["payload"][sprayed]]), axis=1, return_inverse=True)
        onwards, nodes = np.zeros((ends.shape[1], 5), "i8"), len(world.nodes)
        scratch = np.zeros(nodes, "i8"), np.zeros((nodes, 5), "i8")
        measure_sprayed(world, *np.ascontiguousarray(ends), onwards, *scratch)
        onwards = onwards[which.reshape(-1)]
        slowest = np.maximum(times[sprayed, 2], onwards[:, 2])
        times[sprayed] = np.minimum(times[sprayed] + onwards, NEVER)
        times[sprayed, 2], times[sprayed, 4] = slowest, onwards[:, 0] - onwards[:, 4]
    return times[:, 0] + times[:, 1], times[:, 2], times[:, 3], times[:, 4]
