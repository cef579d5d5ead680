"""Recycled entropies: senders leave a path that marks, without knowing it; oblivious spraying stays."""

from tests.core.scenario_runs import play_core
from tests.odd_links import OddLinks
from tests.reference.scenarios.networks import GIGABIT, PACKET, shift
from tests.reference.scenarios.per_packet_routing import REPS, SPRAY
from tests.reference.scenarios.scenario import Scenario, one
from tests.reference.switch.per_packet_routing import PerPacket

# the cables of one spine of four at a tenth of the rate
MARKED = {"kmin": 3 * PACKET, "kmax": 3 * PACKET, "pmax": 1}
FABRIC = OddLinks(
    leaves=2, spines=4, hosts_per_leaf=4, buffer=500 * PACKET, ecn=MARKED, odd={"spine0": {"rate_bps": 10 * GIGABIT}}
)


def share_of_the_slow_spine(per_packet: PerPacket, seed: int) -> float:
    """The part of all packets that went over it, in either direction, from where there was a choice."""
    rows = shift(8, 4, 4_000_000)
    scenario = Scenario("one slow spine", FABRIC.build(), one(rows), control="dctcp", per_packet=per_packet, seed=seed)
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
