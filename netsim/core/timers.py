"""Time-outs. A coarse clock ticks; a connection without progress for `timeout` sends everything unacknowledged again."""

from netsim.core.hosts import rewind
from netsim.core.messages import offer
from netsim.core.tables import NEVER
from netsim.kernel import inner
from netsim.transport import dispatch


@inner
def first_progress(world):
    """The oldest progress among connections that have something outstanding, or NEVER if none has."""
    oldest = NEVER
    for c in range(world.settings[0].connections):
        connection = world.connections[c]
        if connection.next > connection.acked:
            oldest = min(oldest, connection.progress_at)
    return oldest


@inner
def tick_after(world, soonest):
    """The first tick at which something could have timed out, if nothing happens before `soonest`."""
    settings = world.settings[0]
    start = min(first_progress(world), soonest)
    if start == NEVER:
        return NEVER
    return -(-(start + settings.timeout) // settings.tick) * settings.tick


@inner
def check_timeouts(world, now):
    timeout = world.settings[0].timeout
    for c in range(world.settings[0].connections):
        connection = world.connections[c]
        if connection.next > connection.acked and now - connection.progress_at >= timeout:
            rewind(world, connection, connection.acked)
            connection.progress_at = now
            dispatch.on_timeout(connection)
            offer(world, c, now)
