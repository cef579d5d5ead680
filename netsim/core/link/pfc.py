"""Priority flow control at a switch and at those who send to it (IEEE 802.1Qbb).

What came in by a link and is still here counts against that link. Above XOFF its sender is told to stop, at or below
XON to go on. So is whoever adds to a queue that is longer than its buffer holds besides what is still on the way, until
it is short again. The frames travel back in one propagation delay and take no bandwidth.
"""

import numpy as np

from netsim.core.link.shared_buffer import admit_to_pool, release_from_pool, resume_threshold
from netsim.core.link.wire import schedule_node
from netsim.core.observe.packet_trace import trace_pause
from netsim.core.state.dtypes import NONE
from netsim.core.state.packet_pool import append
from netsim.kernel import inner, part


@inner
def on_pause(world, link_id, now):
    """The sender of a link takes the signal that has come: it stops after the packet in transmission, or goes on."""
    pfc = world.pfc_state[link_id]
    ring = pfc.signals
    stop = world.packet_pool[ring.start + (ring.head & ring.mask)].header
    ring.head += 1
    if world.settings[0].tracing:
        trace_pause(world, link_id, now, stop)
    if stop:
        pfc.paused_since = now
    else:
        pfc.paused_ps += now - pfc.paused_since
        link = world.links[link_id]
        link.free_at = max(link.free_at, now)
    pfc.paused = stop


@inner
def send_pause(world, link_id, now, stop):
    """Tell the sender of a link to stop or to go on."""
    pfc = world.pfc_state[link_id]
    pfc.pause_sent = stop
    pfc.pauses += stop
    at = now + world.link_classes[world.links[link_id ^ 1].link_class].delay
    append(world, pfc.signals, at, stop, 0)
    egress = world.egress_index[link_id % world.settings[0].ports]
    world.next_pause[egress] = min(world.next_pause[egress], at)
    source = world.links[link_id].source
    world.nodes[source].next_pause = min(world.nodes[source].next_pause, at)
    schedule_node(world, source, at)


@part
def is_pausable(world, ingress):
    """Whether flow control rules what comes in by a link: not inside a server."""
    return world.settings[0].lossless and world.pfc_state[ingress].is_pausable


@part
def pfc_admit(world, ingress, wire_bytes, now):
    """Take a packet that came by `ingress` into account, if there is room for it."""
    pfc, settings = world.pfc_state[ingress], world.settings[0]
    if settings.pooling:
        if not admit_to_pool(world, ingress, wire_bytes):
            return False
    elif (
        pfc.ingress_occupancy + wire_bytes
        > settings.xoff + world.link_classes[world.links[ingress].link_class].headroom
    ):
        return False
    pfc.ingress_occupancy += wire_bytes
    if (pfc.ingress_occupancy > settings.xoff or pfc.headroom_occupancy > 0) and not pfc.pause_sent:
        send_pause(world, ingress, now, 1)
    return True


@part
def pfc_release(world, ingress, wire_bytes, now):
    """The last bit of a packet that came in by `ingress` has left."""
    pfc, settings = world.pfc_state[ingress], world.settings[0]
    pfc.ingress_occupancy -= wire_bytes
    xon = settings.xon
    if settings.pooling:
        release_from_pool(world, ingress, wire_bytes)
        xon = resume_threshold(world, ingress)
    if pfc.pause_sent and pfc.paused_by == NONE and pfc.ingress_occupancy <= xon and pfc.headroom_occupancy == 0:
        send_pause(world, ingress, now, 0)


@part
def pause_for(world, ingress, row, now):
    """A queue has grown too long by a packet that came by `ingress`."""
    pfc = world.pfc_state[ingress]
    world.pfc_state[row].is_above = 1
    pfc.paused_by = row
    if not pfc.pause_sent:
        send_pause(world, ingress, now, 1)


@inner
def resume_others(world, node_id, row, now):
    """A queue is short again: those whom it stopped go on, unless their own accounts forbid it."""
    node, settings = world.nodes[node_id], world.settings[0]
    rise = np.int64(row) // settings.ports * settings.ports
    world.pfc_state[row].is_above = 0
    for i in range(node.first_in, node.last_in):
        ingress = world.inbound[i] + rise
        if world.pfc_state[ingress].paused_by == row:
            world.pfc_state[ingress].paused_by = NONE
            pfc_release(world, ingress, 0, now)
