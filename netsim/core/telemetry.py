"""What an ACK brings home beside its number: how long the round trip took, how full the links were."""

from netsim.core.egress import time_to_send
from netsim.core.packet_metadata import copy_telemetry
from netsim.core.sack_scoreboard import outstanding
from netsim.core.tables import MOST_HOPS
from netsim.kernel import inner
from netsim.transport import dispatch
from netsim.transport.hpcc import LOAD_BITS


@inner
def fullest_link(world, c, place, idle):
    """(load, span): of the link with the highest load among those that spoke in the packet at `place`.

    HPCC, SIGCOMM 2019, section 3.2 and MeasureInflight: what the link sent since it was heard last, as a share of what
    it could have, plus what stands in its queue, as a share of what it can send in `idle` ps. span: since when, ps; 0
    where no link has been heard of before. load: LOAD_BITS fractional bits.
    """
    load, span = 0, 0
    for k in range(world.notes[place].hops):
        told, before = world.telemetry[place * MOST_HOPS + k], world.heard[c * MOST_HOPS + k]
        since = told.at - before.at
        is_same = before.at > 0 and before.link == told.link
        if is_same and since > 0:
            kind = world.kinds[world.links[told.link].kind]
            waits = time_to_send(kind, min(told.queue, before.queue))
            sent = time_to_send(kind, told.sent_bytes - before.sent_bytes)
            its = (waits << LOAD_BITS) // idle + (sent << LOAD_BITS) // since
            if its > load:
                load, span = its, since
        if since > 0 or not is_same:
            copy_telemetry(told, before)
    return load, span


@inner
def read_notes(world, c, connection, place, gained, marked, now):
    """Tell the control what the ACK at `place` brings; `gained`: packets it acknowledges for the first time."""
    settings = world.settings[0]
    if settings.telemetered:
        load, span = fullest_link(world, c, place, connection.hpcc.idle)
        dispatch.on_telemetry(connection, gained, load, span, settings.controls)
    else:
        rtt, rest = now - world.notes[place].stamp, outstanding(world, c, connection)
        dispatch.on_round_trip(connection, gained, marked, rtt, rest, now, settings.controls)
