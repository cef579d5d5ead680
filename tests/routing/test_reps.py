"""Recycled entropies: senders leave a path that marks, without knowing it; oblivious spraying stays."""

from __future__ import annotations

from netsim.topology.builder import NetworkBuilder
from netsim.topology.network import Network
from tests.core.scenario_runs import play_core
from tests.reference.scenarios.networks import GIGABIT, MICROSECOND, queue, shift
from tests.reference.scenarios.per_packet_routing import REPS, SPRAY
from tests.reference.scenarios.scenario import Scenario, one
from tests.reference.switch.per_packet_routing import PerPacket

SLOW = 10  # Gb/s


def one_slow_spine() -> Network:
    """Two leaves of four hosts and four spines, the cables of one of them at a tenth of the rate."""
    builder = NetworkBuilder("one slow spine")
    hosts = [builder.host(f"host{i}") for i in range(8)]
    leaves = [builder.switch(f"leaf{i}", "leaf") for i in range(2)]
    spines = [builder.switch(f"spine{i}", "spine") for i in range(4)]
    cables = [(host, leaves[number // 4], 100, "leaf") for number, host in enumerate(hosts)]
    cables += [(leaf, spine, 100 if spine > spines[0] else SLOW, "spine") for leaf in leaves for spine in spines]
    for a, b, gigabits, kind in cables:
        at = vars(queue(500, 3, 3))
        builder.connect(a, b, rate_bps=gigabits * GIGABIT, delay_ps=MICROSECOND, kind=kind, **at)
    return builder.build()


def share_of_the_slow_spine(per_packet: PerPacket, seed: int) -> float:
    """The part of all packets that went over it, in either direction, from where there was a choice."""
    rows = shift(8, 4, 4_000_000)
    scenario = Scenario(
        "one slow spine", one_slow_spine(), one(rows), control="dctcp", per_packet=per_packet, seed=seed
    )
    run = play_core(scenario)
    links = run.fabric.world.links
    from_leaves = {
        link.number: link.target
        for link in run.fabric.network.links
        if link.kind == "spine" and run.fabric.network.tier_of(link.source) == "leaf"
    }
    packets = {number: int(links["in_flight"]["tail"][number]) for number in from_leaves}
    slow = min(from_leaves.values())
    return sum(packets[number] for number in packets if from_leaves[number] == slow) / sum(packets.values())


def test_marked_paths_are_left() -> None:
    for seed in (1, 2, 3):
        assert 0.23 < share_of_the_slow_spine(SPRAY, seed) < 0.27
        assert share_of_the_slow_spine(REPS, seed) < 0.18
