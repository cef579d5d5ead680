"""Which switches of a network share a buffer among their ports, how large it is, and whether packets fit in."""

from typing import Any

import numpy as np

from netsim.errors import InputError
from netsim.queues.disciplines.shared_buffer import ALPHA, SharedBuffer
from netsim.topology.network import SCALE_UP, Network


def pools(network: Network) -> Any:
    """Bytes that the ports of each node share, i8[nodes]; 0 for hosts and for switches inside a server (NVLink)."""
    size = np.zeros(len(network.hosts) + len(network.switches), "i8")
    if network.shared_buffer:
        outside = np.array([kind != SCALE_UP for kind in network.kinds], bool)
        size[np.asarray(network.source)[outside]] = network.shared_buffer.size
        size[: len(network.hosts)] = 0
    return size


def largest_queues(network: Network) -> Any:
    """Bytes that a port may hold at most, i8[links]: its own buffer, or its share of one when all others are empty."""
    if not network.shared_buffer:
        return np.asarray(network.buffer_bytes)
    alpha = network.shared_buffer.numbers()["alpha"]
    alone = network.shared_buffer.size * alpha // (alpha + (1 << ALPHA))
    return np.where(pools(network)[np.asarray(network.source)] > 0, alone, network.buffer_bytes)


def check_pools(network: Network, largest: Any) -> None:
    """InputError where a shared buffer has less than a packet for each port; largest: bytes of one on each link."""
    shared, size, source = network.shared_buffer, pools(network), np.asarray(network.source)
    for node in np.flatnonzero(size).tolist():
        ports = np.flatnonzero(source == node)
        needed = int(largest[ports].sum())
        if size[node] < needed:
            what = f"shared_buffer.size = {size[node]} B holds no packet for each of {len(ports)} ports"
            raise InputError(what, where=network.node_name(node), hint=f"give at least {needed} B")
    pooled = np.flatnonzero(size[source] > 0)
    if shared and len(pooled):
        _check_alpha(network, shared, int(largest_queues(network)[pooled[0]]), int(largest[pooled].max()))


def _check_alpha(network: Network, shared: SharedBuffer, room: int, needed: int) -> None:
    if network.pfc:
        room = min(room, network.pfc.xoff) + (needed if network.pfc.headroom is None else network.pfc.headroom)
    if room < needed:
        what = f"shared_buffer.alpha = {shared.alpha:g} lets a queue hold {room} B, no packet of {needed} B"
        raise InputError(what, where=network.name, hint="give a larger alpha or size")
