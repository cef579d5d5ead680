"""What the route of a new connection is like when nothing else is there: how long a round trip takes, what it holds."""

import numpy as np

from netsim.core.admission import time_alone
from netsim.core.egress import time_to_send
from netsim.core.tables import NEVER
from netsim.kernel import bare, entry

LARGEST_BUFFER = 1 << 40  # bytes; a queue with more room than that has no limit


@entry
def lay_routes(owned, first, starts, links):
    """Write the routes of connections first, first + 1, ...: links[starts[i] : starts[i + 1]]."""
    world = bare(owned)
    stride = world.settings[0].stride
    for i in range(starts.size - 1):
        for k in range(starts[i + 1] - starts[i]):
            world.hops[(first + i) * stride + k] = links[starts[i] + k]


@entry
def measure_routes(owned, first, idle, slowest, drain):
    """For connections first, first + 1, ...: three times in ps, i8[n] each.

    idle: round trip of a full packet and its ACK on an idle network; slowest: a full packet on the slowest link;
    drain: emptying every switch queue on the way there and back, each full, or NEVER where one has no limit.
    """
    world = bare(owned)
    settings = world.settings[0]
    for i in range(idle.size):
        c = np.int64(first + i)
        connection = world.connections[c]
        full = settings.header + np.int64(connection.payload)
        idle[i] = time_alone(world, c, np.int64(connection.payload))
        slowest[i], drain[i] = 1, 0
        for hop in range(connection.length):
            l = world.hops[c * settings.stride + hop]
            there, back = world.kinds[world.links[l].kind], world.kinds[world.links[l ^ 1].kind]
            idle[i] += time_to_send(back, settings.ack) + back.delay
            slowest[i] = max(slowest[i], time_to_send(there, full))
            if hop > 0:  # at its own NIC a packet does not wait once it is sent
                if there.buffer >= LARGEST_BUFFER:
                    drain[i] = NEVER
                elif drain[i] < NEVER:
                    drain[i] += 2 * (there.buffer * there.ps // there.per_bytes)
