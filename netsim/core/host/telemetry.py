"""What an ACK carries beside its number: the time stamp of the round trip, telemetry of the links."""

from netsim.core.link.wire import time_to_send
from netsim.core.state.dtypes import MOST_HOPS
from netsim.core.state.packet_metadata import copy_telemetry
from netsim.core.state.sack_scoreboard import outstanding
from netsim.kernel import inner
from netsim.transport import dispatch
from netsim.transport.fixed_point import LOAD_BITS


@inner
def fullest_link(world, connection_id, pool_index, idle):
    """(load, span): of the link with the highest load among the INT records of the packet at `pool_index`.

    HPCC, SIGCOMM 2019, section 3.2 and MeasureInflight: what the link sent since its last record, as a share of what
    it could have, plus what stands in its queue, as a share of what it can send in `idle` ps. span: since when, ps; 0
    where there was no record of a link before. load: LOAD_BITS fractional bits.
    """
    load, span = 0, 0
    for k in range(world.packet_metadata[pool_index].hops):
        record, before = (
            world.telemetry[pool_index * MOST_HOPS + k],
            world.last_telemetry[connection_id * MOST_HOPS + k],
        )
        since = record.at - before.at
        is_same = before.at > 0 and before.link == record.link
        if is_same and since > 0:
            link_class = world.link_classes[world.links[record.link].link_class]
            waits = time_to_send(link_class, min(record.queue, before.queue))
            sent = time_to_send(link_class, record.sent_bytes - before.sent_bytes)
            its = (waits << LOAD_BITS) // idle + (sent << LOAD_BITS) // since
            if its > load:
                load, span = its, since
        if since > 0 or not is_same:
            copy_telemetry(record, before)
    return load, span


@inner
def read_metadata(world, connection_id, connection, pool_index, gained, marked, now):
    """Tell the control what the ACK at `pool_index` carries; `gained`: packets it acknowledges for the first time."""
    settings = world.settings[0]
    if settings.telemetered:
        idle = dispatch.base_rtt(connection, settings.controls)
        load, span = fullest_link(world, connection_id, pool_index, idle)
        dispatch.on_telemetry(connection, settings.controls, gained, load, span)
    else:
        rtt, rest = now - world.packet_metadata[pool_index].stamp, outstanding(world, connection_id, connection)
        dispatch.on_round_trip(connection, settings.controls, gained, marked, rtt, rest, now)
