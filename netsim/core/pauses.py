"""Priority flow control at a switch and at those who send to it (IEEE 802.1Qbb).

What came in by a link and is still here counts against that link. Above XOFF its sender is told to stop, at or below
XON to go on. So is whoever adds to a queue that is longer than its buffer holds besides what is still on the way, until
it is short again. The frames travel back in one propagation delay and take no bandwidth.
"""

import numpy as np

from netsim.core.egress import wake
from netsim.core.packet_trace import write_pause
from netsim.core.pools import leave_pool, let_into_pool, resumes_at
from netsim.core.rings import append
from netsim.core.tables import NONE
from netsim.kernel import inner, part


@inner
def obey(world, l, now):
    """The sender of a link takes the signal that has come: it stops after the packet in transmission, or goes on."""
    gate = world.gates[l]
    ring = gate.signals
    stop = world.packet_pool[ring.start + (ring.head & ring.mask)].label
    ring.head += 1
    if world.settings[0].tracing:
        write_pause(world, l, now, stop)
    if stop:
        gate.paused_since = now
    else:
        gate.paused_ps += now - gate.paused_since
        link = world.links[l]
        link.free_at = max(link.free_at, now)
    gate.paused = stop


@inner
def signal(world, l, now, stop):
    """Tell the sender of a link to stop or to go on."""
    gate = world.gates[l]
    gate.closed = stop
    gate.pauses += stop
    at = now + world.kinds[world.links[l ^ 1].kind].delay
    append(world, gate.signals, at, stop, 0)
    place = world.out_place[l % world.settings[0].ports]
    world.hears[place] = min(world.hears[place], at)
    source = world.links[l].source
    world.nodes[source].signalled_at = min(world.nodes[source].signalled_at, at)
    wake(world, source, at)


@part
def is_ruled(world, ingress):
    """Whether flow control rules what comes in by a link: not inside a server."""
    return world.settings[0].lossless and world.kinds[world.links[ingress].kind].pausable


@part
def let_in(world, ingress, wire_bytes, now):
    """Take a packet that came by `ingress` into account, if there is room for it."""
    gate, settings = world.gates[ingress], world.settings[0]
    if settings.pooling:
        if not let_into_pool(world, ingress, wire_bytes):
            return False
    elif gate.held + wire_bytes > settings.xoff + world.kinds[world.links[ingress].kind].headroom:
        return False
    gate.held += wire_bytes
    if (gate.held > settings.xoff or gate.beyond > 0) and not gate.closed:
        signal(world, ingress, now, 1)
    return True


@part
def let_go(world, ingress, wire_bytes, now):
    """The last bit of a packet that came in by `ingress` has left."""
    gate, settings = world.gates[ingress], world.settings[0]
    gate.held -= wire_bytes
    xon = settings.xon
    if settings.pooling:
        leave_pool(world, ingress, wire_bytes)
        xon = resumes_at(world, ingress)
    if gate.closed and gate.stopped_by == NONE and gate.held <= xon and gate.beyond == 0:
        signal(world, ingress, now, 0)


@part
def stop_for(world, ingress, row, now):
    """A queue has grown too long by a packet that came by `ingress`."""
    gate = world.gates[ingress]
    world.gates[row].is_long = 1
    gate.stopped_by = row
    if not gate.closed:
        signal(world, ingress, now, 1)


@inner
def let_go_on(world, v, row, now):
    """A queue is short again: those whom it stopped go on, unless their own accounts forbid it."""
    node, settings = world.nodes[v], world.settings[0]
    rise = np.int64(row) // settings.ports * settings.ports
    world.gates[row].is_long = 0
    for i in range(node.first_in, node.last_in):
        ingress = world.inbound[i] + rise
        if world.gates[ingress].stopped_by == row:
            world.gates[ingress].stopped_by = NONE
            let_go(world, ingress, 0, now)
