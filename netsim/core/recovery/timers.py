"""Retransmission timers: a connection without progress for its time-out retransmits what is unacknowledged.

A connection with something outstanding has one entry among the timers of its host, which are in order of (time,
connection). Progress does not touch it: when it comes up too early it is put back to when the time-out is due now. So
a packet costs nothing, and time-outs are exact to the picosecond.
"""

from netsim.core.state.packet_pool import first_at, insert_sorted, length, load_ring
from netsim.core.state.sack_scoreboard import awaits
from netsim.kernel import inner, part


@part
def is_outstanding(world, connection_id, connection):
    """It waits for something that a time-out makes up for."""
    if world.settings[0].selective > 0:
        return awaits(world, connection_id, connection)
    return connection.next > connection.acked


@inner
def arm(world, connection_id, connection):
    """Set the timer of a connection that has none."""
    connection.armed = 1
    host = world.hosts[connection.source]
    insert_sorted(world, host.timers, connection.last_progress_at + connection.timeout, connection_id, True)
    host.expires = first_at(world.packet_pool, load_ring(host.timers))


@part
def start_timer(world, connection_id, connection, now):
    """Nothing was outstanding, and now something is."""
    connection.last_progress_at = now
    if connection.armed == 0:
        arm(world, connection_id, connection)


@inner
def expired(world, node_id, now):
    """The next connection of a host whose time-out is due by now, taken off its timers; -1 if there is none."""
    host = world.hosts[node_id]
    while length(host.timers) and first_at(world.packet_pool, load_ring(host.timers)) <= now:
        connection_id = world.packet_pool[host.timers.start + (host.timers.head & host.timers.mask)].header
        host.timers.head += 1
        connection = world.connections[connection_id]
        connection.armed = 0
        if is_outstanding(world, connection_id, connection):
            if connection.last_progress_at + connection.timeout <= now:
                return connection_id
            arm(world, connection_id, connection)
    host.expires = first_at(world.packet_pool, load_ring(host.timers))
    return -1
