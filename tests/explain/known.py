"""Scenarios in which one cause is known, because they are built around it."""

from typing import Any

import numpy as np

from netsim.config import build_scenario
from netsim.config.scenario import Scenario
from netsim.topology import LeafSpine
from netsim.traces import Group, Operation, Trace
from tests.odd_links import OddLinks
from tests.traffic import compute, send

MB = 1_000_000


def leaf_spine(leaves: int, hosts: int, spines: int, **settings: Any) -> LeafSpine:
    return LeafSpine(leaves=leaves, hosts_per_leaf=hosts, spines=spines, **settings)


def trace_of(ranks: int, *operations: Operation) -> Trace:
    world = Group("world", tuple(range(ranks)))
    return Trace("known", ranks, {"world": world}, operations)


def flows(*each: tuple[int, int, int]) -> Operation:
    ranks = tuple(sorted({end for source, target, _ in each for end in (source, target)}))
    return Operation("flows", None, ranks, bytes=sum(size for *_, size in each), flows=each)


def collision() -> Scenario:
    """Two flows of one leaf, hashed to one spine of four."""
    trace, topology = trace_of(8, flows((0, 4, MB), (1, 5, MB))), leaf_spine(2, 4, 4, buffer="unlimited")
    for seed in range(100):
        scenario = build_scenario(trace, topology, seed=seed, transport="none")
        if len(set(uplinks(scenario, [0, 1], [4, 5]))) == 1:
            return scenario
    raise AssertionError("no seed makes them collide")


def uplinks(scenario: Scenario, sources: list[int], targets: list[int]) -> list[str]:
    """The name of the second link of each route."""
    network = scenario.topology.build()
    zeros = np.zeros(len(sources), "i8")
    routes = scenario.routing.routes(network, np.array(sources), np.array(targets), zeros, scenario.seed)
    return [network.link_name(int(routes.links[first + 1])) for first in routes.first[:-1]]


def four_to_one() -> Scenario:
    """All eight hosts of a leaf send over its two spines to as many hosts of the next."""
    trace = trace_of(32, flows(*((host, host + 8, MB // 2) for host in range(8))))
    return build_scenario(trace, "leaf_spine_32_4to1", sets=["topology.buffer=unlimited"], transport="none")


def incast() -> Scenario:
    """Six hosts send to a seventh on the same leaf."""
    trace = trace_of(8, flows(*((host, 0, MB // 2) for host in range(1, 7))))
    return build_scenario(trace, leaf_spine(1, 8, 1, buffer="unlimited"), transport="none")


def slow_rank() -> Scenario:
    """Rank 3 computes for 200 us before an all_reduce that takes about 60."""
    late = compute(3, 200 * MB)
    reduce = Operation("all_reduce", "world", tuple(range(8)), bytes=MB)
    return build_scenario(trace_of(8, late, reduce), leaf_spine(1, 8, 1), transport="none")


def lossy_link() -> Scenario:
    """One flow over the one spine, on the way to which 2 % of packets are lost."""
    topology = OddLinks(leaves=2, hosts_per_leaf=2, spines=1, odd={"leaf0->spine0": {"loss": 0.02}})
    return build_scenario(trace_of(4, flows((0, 2, 4 * MB))), topology, transport="none")


def paused_upstream() -> Scenario:
    """Hosts 0 to 2 send to host 4 of the next leaf; host 3 sends to host 5, whose link is idle, and is paused too."""
    topology = leaf_spine(2, 4, 1, pfc="on", spine={"rate": "400Gb/s"})
    trace = trace_of(8, *(send(host, 4, 2 * MB) for host in range(3)), send(3, 5, MB))
    return build_scenario(trace, topology, transport="none")


KNOWN = {  # scenario, collective, kind of cause, link or rank
    "ECMP collision": (collision, 0),
    "oversubscription": (four_to_one, 0),
    "incast": (incast, 0),
    "straggler": (slow_rank, 0),
    "loss recovery": (lossy_link, 0),
    "PFC spreading": (paused_upstream, 3),
}
