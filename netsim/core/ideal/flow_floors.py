"""The ideal time of flows: what one connection carries for one collective, in one message or in several."""

import numpy as np

from netsim.core.ideal.idle_path import measure_leg
from netsim.core.ideal.legs import egress_of, leg_of
from netsim.core.state.dtypes import NEVER
from netsim.kernel import inner

FLOOR = np.dtype(
    [
        ("ideal", "i8"),  # from the first release to the last delivery, at least; ps
        ("first", "i8"),  # all its packets on its first link
        ("rest", "i8"),  # from there on, at least
        ("messages", "i8"),
        ("fulls", "i8"),  # packets that are full
        ("egress", "i8"),
    ]
)


@inner
def flow_floors(world, work):
    """Fill FLOOR of each flow.

    Messages may go in any order: of several the full packets count as one message, and all packets on the first link.
    """
    floors, own = work.floors, work.own[0]
    for f in range(floors.size):
        floors[f].rest = NEVER
    for message_id in range(own.first, own.first + work.waits.size):
        leg, floor = leg_of(world, work, message_id), floors[world.messages[message_id].flow - own.first_flow]
        floor.egress = egress_of(world, message_id)
        floor.ideal = max(floor.ideal, leg.alone)
        floor.first += leg.first
        floor.rest = min(floor.rest, leg.rest)
        floor.messages += 1
        floor.fulls += leg.fulls
    for f in range(floors.size):
        floor = floors[f]
        if floor.messages > 1:
            connection_id = np.int64(world.flows[own.first_flow + f].connection)
            floor.ideal = max(floor.ideal, floor.first + floor.rest)
            if floor.fulls > 0:
                payload = np.int64(world.connections[connection_id].payload)
                measure_leg(world, work, connection_id, floor.fulls * payload, work.legs[f])
                floor.ideal = max(floor.ideal, work.legs[f].alone)
