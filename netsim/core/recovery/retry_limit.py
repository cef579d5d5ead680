"""When a connection gives up: a NIC's retry limit (InfiniBand's retry count: 7 retries at most).

A time-out counts when packets were under way and none of the connection has been acknowledged since the last one that
counted; whatever is acknowledged begins the count anew. So losses alone do not add up to a failure.
"""

from netsim.core.state.sack_scoreboard import packets_in_flight
from netsim.kernel import inner


@inner
def has_given_up(world, connection_id, connection):
    """Count a time-out. Whether it is one more than the connection may have."""
    arrived = connection.acked
    if world.settings[0].selective > 0:
        arrived += world.sack_state[connection_id].got
        if packets_in_flight(world, connection_id, connection) == 0:
            return False  # it waits for a pull: nothing has been sent in vain
    if arrived > connection.arrived_at_timeout:
        connection.arrived_at_timeout = arrived
        connection.retries = 0
    connection.retries += 1
    return connection.retries > connection.max_retries
