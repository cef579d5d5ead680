"""Scenarios of switches whose ports share one buffer: alone, with marks, trimming, flow control."""

from dataclasses import replace

from netsim.queues.disciplines.shared_buffer import SharedBuffer
from netsim.topology.network import Network
from tests.reference.scenarios.networks import PACKET, US, incast, leaves, queue, rails, shift, star
from tests.reference.scenarios.pfc import INTO_ONE_LEAF, TO_ONE_RAIL, pauses
from tests.reference.scenarios.plain import CROSSING
from tests.reference.scenarios.recovery import SELECTIVE, trimming
from tests.reference.scenarios.scenario import Scenario, one, scenarios


def sharing(network: Network, size_bytes: int, alpha: float) -> Network:
    """Give the same network with switches whose ports share so many bytes."""
    return replace(network, shared_buffer=SharedBuffer(size=size_bytes, alpha=alpha))


TWO_PORTS = [(s, t, 0, 120_000, ()) for t in (0, 1) for s in (2, 3, 4, 5)]

# fmt: off
SHARED_ALONE = scenarios(
    Scenario("shared_one_port", sharing(star(5), 30 * PACKET, 1), one(incast(4, 120_000)), "data_dropped naks"),
    Scenario("shared_two_ports_come_at_different_times", sharing(star(6), 40 * PACKET, 2),
             one(TWO_PORTS, 0, 0, 0, 0, 9 * US, 9 * US), "data_dropped", control="none"),
    Scenario("shared_small_alpha", sharing(star(6), 100 * PACKET, 1 / 16), one(TWO_PORTS), "data_dropped",
             timeout_ps=40 * US),
    Scenario("shared_odd_alpha_and_packets", sharing(star(6), 77_777, 0.7), one([*TWO_PORTS, (4, 2, 0, 50_001, ())]),
             "data_dropped", payload=3001, timeout_ps=40 * US),
    Scenario("shared_two_tiers", sharing(leaves(2, 4, 1), 24 * PACKET, 1),
             one(INTO_ONE_LEAF + shift(8, 3, 90_000, channel=1)), "data_dropped"),
    Scenario("shared_with_acks_in_the_queue", sharing(star(4, control_class="shared"), 6 * PACKET, 0.25), one(CROSSING),
             "data_dropped acks_dropped", timeout_ps=60 * US),
    # the buffer of one packet does not apply
    Scenario("shared_marks_and_dctcp", sharing(star(6, at=queue(1, 2, 9, 0.7)), 60 * PACKET, 1), one(TWO_PORTS),
             "ecn_marks", control="dctcp", window=20),
    Scenario("shared_servers_share_nothing_inside", sharing(rails(3, 2, at=queue(1)), 18 * PACKET, 1),
             one(TO_ONE_RAIL + shift(6, 1, 100_000, channel=3)), "data_dropped transit", control="none"),
    Scenario("shared_trims", sharing(trimming(star(6, at=queue(4))), 20 * PACKET, 1), one(TWO_PORTS), "trims nacked",
             recovery=SELECTIVE),
)

SHARED_LOSSLESS = scenarios(
    # xoff alone would let 80 packets in
    Scenario("shared_pauses_by_what_is_left", sharing(star(5, pfc=pauses(20, 16)), 20 * PACKET, 1),
             one([*incast(4, 120_000), (1, 2, 0, 60_000, ())]), "pauses hosts_stopped", "data_dropped retransmitted"),
    Scenario("shared_pauses_in_two_tiers", sharing(leaves(2, 4, 1, pfc=pauses(12, 10)), 30 * PACKET, 0.5),
             one(INTO_ONE_LEAF + shift(8, 3, 90_000, channel=1)), "hosts_stopped switches_stopped", "data_dropped"),
    Scenario("shared_pauses_without_headroom", sharing(star(5, pfc=pauses(20, 16, headroom=2)), 16 * PACKET, 1),
             one(incast(4, 120_000)), "pauses data_dropped"),
    Scenario("shared_large_pool_leaves_xoff_as_it_is", sharing(star(4, pfc=pauses(4, 2)), 10_000 * PACKET, 8),
             one(CROSSING), "pauses hosts_stopped", "data_dropped"),
    Scenario("shared_pauses_on_rails", sharing(rails(3, 2, pfc=pauses(12, 8)), 24 * PACKET, 1), one(TO_ONE_RAIL),
             "pauses transit", "data_dropped"),
    control="none",
)
# fmt: on

SHARED = SHARED_ALONE | SHARED_LOSSLESS
