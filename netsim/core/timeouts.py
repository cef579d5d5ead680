"""What a host does when the time-out of a connection is due: it sends again, or the connection has failed."""

from netsim.core.go_back_n import rewind
from netsim.core.messages import offer
from netsim.core.retry_limit import has_given_up
from netsim.core.sack_sender import on_timeout
from netsim.core.timers import arm, expired, is_outstanding
from netsim.kernel import inner
from netsim.transport import dispatch


@inner
def expire(world, v, now):
    """Time out what is due at a host by now, in order of connection."""
    c = expired(world, v, now)
    while c >= 0:
        connection = world.connections[c]
        if has_given_up(world, c, connection):
            fail(world, c, now)
        else:
            time_out(world, c, connection, now)
        c = expired(world, v, now)


@inner
def time_out(world, c, connection, now):
    """Everything under way counts as lost."""
    if world.settings[0].selective > 0:
        on_timeout(world, c, connection)
    else:
        rewind(world, connection, connection.acked)
    connection.progress_at = now
    dispatch.on_timeout(connection, now, world.settings[0].controls)
    if is_outstanding(world, c, connection):
        arm(world, c, connection)
    offer(world, c, now)


@inner
def fail(world, c, now):
    """A connection has given up. Of several the first counts: hosts are not visited in order of time."""
    progress = world.progress[0]
    if now < progress.failed_at or (now == progress.failed_at and c + 1 < progress.failed):
        progress.failed_at = now
        progress.failed = c + 1
