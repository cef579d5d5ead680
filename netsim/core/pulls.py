"""Receiver-driven: what is missing is pulled, at the pace of the receiver's link, from all its senders in turn.

Handley et al., NDP (SIGCOMM 2017), section 3.2; as in EQDS (Olteanu et al., NSDI 2022) a receiver paces its pulls a
little below its line rate. A pull says how many there have been on its connection, so that the next makes up for a lost
one. What senders do with them: transport/ndp.py.
"""

import numpy as np

from netsim.core.egress import time_to_send
from netsim.core.packet_header import ACK, CREDIT, PULL, label, state
from netsim.core.packet_metadata import begin_notes
from netsim.core.rings import append, first_at, hold, length
from netsim.core.sack_sender import message_with
from netsim.core.tables import NEVER, NONE
from netsim.kernel import inner, part
from netsim.transport import ndp


@inner
def due(world, c, connection, sequence, is_header, now):
    """Something has come. It is due a pull, or, where what is missing is on its way already, a credit with its ACK.

    As many packets as the first window holds are on their way, or have been pulled, but for the one that has come.
    """
    repair = world.repairs[c]
    if sequence >= repair.known:
        m = message_with(world, connection.receiving, sequence)
        if m != NONE:
            repair.known = world.messages[m].end
    missing = repair.known - connection.expected - repair.ahead
    if not is_header and missing < ndp.first_window(connection):
        return CREDIT
    repair.asked += 1
    if repair.asked - repair.pulled == 1:
        append(world, world.pullers[connection.back].askers, now, c, 0)
    return 0


@part
def next_pull(world, l):
    """When the next pull leaves for this NIC, or NEVER."""
    puller = world.pullers[l]
    if length(puller.askers) == 0:
        return NEVER
    return max(puller.ready_at, first_at(world.packet_pool, hold(puller.askers)))


@inner
def pull(world, l, now):
    """Send a pull to the sender whose turn it is; the next one waits for as long as its packet takes to come."""
    puller, link = world.pullers[l], world.links[l]
    ring = puller.askers
    c = world.packet_pool[ring.start + (ring.head & ring.mask)].label
    ring.head += 1
    connection, repair = world.connections[c], world.repairs[c]
    repair.pulled += 1
    if repair.asked > repair.pulled:
        append(world, puller.askers, now, c, 0)
    full = world.settings[0].header + np.int64(connection.payload)
    time = time_to_send(world.kinds[world.links[l ^ 1].kind], full)
    puller.ready_at = now + ndp.pace(time, world.settings[0].controls.ndp)
    link.free_at = max(link.free_at, now)
    content = state(world.settings[0].ack, connection.length - 1, ACK | PULL)
    append(world, link.control, now, label(c, repair.pulled & 0xFFFFFFFF), content)
    if world.settings[0].timestamped:
        begin_notes(world, link.control, now, 0)
