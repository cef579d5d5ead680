"""Time-outs. A coarse clock ticks; a connection without progress for too long sends again what is unacknowledged."""

from netsim.core.failures import has_given_up
from netsim.core.go_back_n import rewind
from netsim.core.messages import offer
from netsim.core.places import awaits
from netsim.core.repairs import after_silence
from netsim.core.tables import NEVER
from netsim.kernel import inner, part
from netsim.transport import dispatch


@part
def is_outstanding(world, c, connection):
    """It waits for something that a time-out makes up for."""
    if world.settings[0].selective > 0:
        return awaits(world, c, connection)
    return connection.next > connection.acked


@inner
def first_deadline(world):
    """When the first of the connections that have something outstanding has waited too long; NEVER if none has."""
    first = NEVER
    for c in range(world.settings[0].connections):
        connection = world.connections[c]
        if is_outstanding(world, c, connection):
            first = min(first, connection.progress_at + connection.timeout)
    return first


@inner
def tick_after(world, soonest):
    """The first tick at which something could have timed out, if nothing happens before `soonest`."""
    settings = world.settings[0]
    deadline = min(first_deadline(world), soonest + settings.timeout)
    if deadline >= NEVER:
        return NEVER
    return -(-deadline // settings.tick) * settings.tick


@inner
def check_timeouts(world, now):
    for c in range(world.settings[0].connections):
        connection = world.connections[c]
        if is_outstanding(world, c, connection) and now - connection.progress_at >= connection.timeout:
            if has_given_up(world, c, connection):
                world.progress[0].failed = c + 1
                return
            if world.settings[0].selective > 0:
                after_silence(world, c, connection)
            else:
                rewind(world, connection, connection.acked)
            connection.progress_at = now
            dispatch.on_timeout(connection, now, world.settings[0].controls)
            offer(world, c, now)
