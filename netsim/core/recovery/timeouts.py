"""What a host does when the time-out of a connection is due: it retransmits, or the connection has failed."""

from netsim.core.flows.messages import schedule_connection
from netsim.core.recovery.go_back_n import rewind
from netsim.core.recovery.retry_limit import has_given_up
from netsim.core.recovery.sack_sender import on_timeout
from netsim.core.recovery.timers import arm, expired, is_outstanding
from netsim.core.state.sack_scoreboard import outstanding
from netsim.kernel import inner
from netsim.transport import dispatch


@inner
def on_timeouts(world, node_id, now):
    """Time out what is due at a host by now, in order of connection."""
    connection_id = expired(world, node_id, now)
    while connection_id >= 0:
        connection = world.connections[connection_id]
        if has_given_up(world, connection_id, connection):
            fail(world, connection_id, now)
        else:
            time_out(world, connection_id, connection, now)
        connection_id = expired(world, node_id, now)


@inner
def time_out(world, connection_id, connection, now):
    """Everything under way counts as lost."""
    in_flight = outstanding(world, connection_id, connection)
    if world.settings[0].selective > 0:
        on_timeout(world, connection_id, connection)
    else:
        rewind(world, connection, connection.acked)
    connection.last_progress_at = now
    dispatch.on_timeout(connection, world.settings[0].controls, in_flight, now)
    if is_outstanding(world, connection_id, connection):
        arm(world, connection_id, connection)
    schedule_connection(world, connection_id, now)


@inner
def fail(world, connection_id, now):
    """A connection has given up. Of several the first counts: hosts are not visited in order of time."""
    progress = world.progress[0]
    if now < progress.failed_at or (now == progress.failed_at and connection_id + 1 < progress.failed):
        progress.failed_at = now
        progress.failed = connection_id + 1
