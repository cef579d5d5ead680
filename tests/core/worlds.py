"""Worlds, connections and plain kernels for tests of the core's tables."""

from collections.abc import Callable
from typing import Any

import numpy as np

from netsim.core.flows.connections import Connections, Sender
from netsim.core.state.build import Bytes, new_world
from netsim.core.state.world import World
from netsim.topology.network import SCALE_UP, Network
from tests.core.scenario_runs import by_rows
from tests.reference.scenarios.networks import shortest_routes

USUAL = Sender(control="window", window=50, timeout=100_000_000, payload=4096, scale_up_payload=16384)


def at_rest(network: Network, header: int = 64, ack: int = 64) -> World:
    """The network before anything was asked of it."""
    sizes = Bytes(header, ack, USUAL.payload, USUAL.scale_up_payload)
    return new_world(network, sizes, seed=1, control="window", parameters={})


def connections_of(network: Network, sender: Sender = USUAL) -> Connections:
    """No connection yet; routes are the twin's."""
    inside = np.array([kind == SCALE_UP for kind in network.kinds])
    return Connections(len(network.hosts), by_rows(shortest_routes(network)), inside, sender)


def ask(connections: Connections, world: World, *ends: tuple[int, int, int]) -> tuple[World, list[int]]:
    """The numbers of the connections (source, target, channel)."""
    source, target, channel = np.array(ends, "i8").T
    world, numbers = connections.numbers(world, source, target, channel)
    return world, numbers.tolist()


def route_in(world: World, c: int) -> tuple[int, ...]:
    """The links of connection c as the core holds them."""
    stride = int(world.settings[0]["stride"])
    hops: Any = world.hops[c * stride : c * stride + int(world.connections["length"][c])]
    return tuple(hops.tolist())


def plain(kernel: Any) -> Callable[..., Any]:
    """The Python function of a kernel that calls no other kernel."""
    function: Callable[..., Any] = getattr(kernel, "py_func", kernel)
    return function
