"""Retransmission timers: a connection without progress for its time-out sends again what is unacknowledged.

A connection with something outstanding has one entry among the timers of its host, which are in order of (time,
connection). Progress does not touch it: when it comes up too early it is put back to when the time-out is due now. So
a packet costs nothing, and time-outs are exact to the picosecond.
"""

from netsim.core.rings import first_at, hold, insert_sorted, length
from netsim.core.sack_scoreboard import awaits
from netsim.kernel import inner, part


@part
def is_outstanding(world, c, connection):
    """It waits for something that a time-out makes up for."""
    if world.settings[0].selective > 0:
        return awaits(world, c, connection)
    return connection.next > connection.acked


@inner
def arm(world, c, connection):
    """Set the timer of a connection that has none."""
    connection.armed = 1
    host = world.hosts[connection.source]
    insert_sorted(world, host.timers, connection.progress_at + connection.timeout, c, True)
    host.expires = first_at(world.packet_pool, hold(host.timers))


@part
def start_timer(world, c, connection, now):
    """Nothing was outstanding, and now something is."""
    connection.progress_at = now
    if connection.armed == 0:
        arm(world, c, connection)


@inner
def expired(world, v, now):
    """The next connection of a host whose time-out is due by now, taken off its timers; -1 if there is none."""
    host = world.hosts[v]
    while length(host.timers) and first_at(world.packet_pool, hold(host.timers)) <= now:
        c = world.packet_pool[host.timers.start + (host.timers.head & host.timers.mask)].label
        host.timers.head += 1
        connection = world.connections[c]
        connection.armed = 0
        if is_outstanding(world, c, connection):
            if connection.progress_at + connection.timeout <= now:
                return c
            arm(world, c, connection)
    host.expires = first_at(world.packet_pool, hold(host.timers))
    return -1
