"""Scenarios of loss recovery: wires that lose by chance, selective repeat, trimming, receivers that pull (NDP)."""

from dataclasses import replace

from netsim.queues.disciplines.trim import Trim
from netsim.topology.network import Network
from tests.reference.scenarios.networks import US, all_to_all, incast, leaves, line, queue, rails, ring, shift, star
from tests.reference.scenarios.plain import CROSSING
from tests.reference.scenarios.scenario import Collective, Scenario, one, scenarios

SELECTIVE = "selective_repeat"
ARRIVING = Trim(last=0)


def losing(network: Network, loss: float) -> Network:
    """Give the same network with wires that lose packets by chance."""
    return replace(network, links=tuple(link._replace(loss=loss) for link in network.links))


def trimming(network: Network, how: Trim | None = None) -> Network:
    """Give the same network with switches that cut a packet without room to its header."""
    return replace(network, trim=how or Trim())


# fmt: off
LOSING = scenarios(
    Scenario("wires_lose_data_and_acks", losing(leaves(2, 3, 1, at=queue(30)), 0.02), one(shift(6, 3, 90_000)),
             "data_dropped acks_dropped naks timeouts", timeout_ps=60 * US),
    Scenario("wires_lose_and_mark", losing(leaves(2, 4, 1, at=queue(12, 2, 9, 0.7)), 0.01),
             one(shift(8, 4, 90_000) + shift(8, 5, 60_000)), "data_dropped acks_dropped ecn_marks", control="dctcp",
             seed=5),
    Scenario("wires_lose_what_passes_through", losing(rails(3, 2, at=queue(60)), 0.02),
             one(ring(6, 5, 60_000, pieces=2) + [(s, 4, 1, 60_000, ()) for s in range(4)]),
             "data_dropped acks_dropped transit"),
)

REPEATING = scenarios(
    Scenario("selective_without_loss", star(4), one(all_to_all(4, 50_000)), "", "retransmitted"),
    Scenario("selective_sends_what_is_missing", star(4, at=queue(20)), one(incast(3, 250_000)),
             "data_dropped overtaken sacks", window=30),
    Scenario("selective_loses_its_tail", star(7, at=queue(2)), one(incast(6, 4096)), "data_dropped timeouts",
             timeout_ps=40 * US),
    Scenario("selective_on_wires_that_lose", losing(leaves(2, 3, 1, at=queue(30)), 0.03),
             one(shift(6, 3, 120_000) + shift(6, 2, 30_000, channel=1)),
             "data_dropped acks_dropped overtaken sacks timeouts copies", timeout_ps=60 * US),
    Scenario("selective_in_a_small_window_of_places", losing(line(2, gigabits=(100,)), 0.05),
             one([(0, 1, 0, 400_000, ()), (1, 0, 0, 400_000, ())]), "data_dropped overtaken", control="none",
             places=16),
    Scenario("selective_many_short_messages", losing(star(3), 0.04),
             one([(1, 2, 0, size, ()) for size in (1, 4096, 4097, 20_000, 5, 8192) * 8]),
             "data_dropped acked_together overtaken", window=20),
    Scenario("selective_needless_time_outs", line(1, gigabits=(100,), delay_ns=20_000), one([(0, 1, 0, 100_000, ())]),
             "timeouts copies", timeout_ps=30 * US, window=8),
    Scenario("selective_with_dctcp", losing(leaves(2, 4, 1, at=queue(12, 2, 9, 0.7)), 0.01),
             one(shift(8, 4, 90_000) + shift(8, 5, 60_000)), "data_dropped ecn_marks overtaken", control="dctcp",
             reordering=5),
    Scenario("selective_shared_queue_loses_acks", star(4, at=queue(5), control_class="shared"), one(CROSSING),
             "acks_dropped data_dropped", timeout_ps=64 * US),
    recovery=SELECTIVE,
)

TRIMMING = scenarios(
    Scenario("trimming_an_incast", trimming(star(9, at=queue(6))), one(incast(8, 80_000)), "trims nacked cut_last",
             "data_dropped timeouts", window=8),
    Scenario("trimming_what_comes", trimming(star(9, at=queue(6)), ARRIVING), one(incast(8, 80_000)), "trims nacked",
             "cut_last", window=8),
    Scenario("trimming_the_last_and_short_ones", trimming(star(9, at=queue(6)), Trim(last=1)),
             one([(s, 0, c, size, ()) for s in range(1, 9) for c, size in enumerate((70_000, 1_000, 9_000))]),
             "trims nacked cut_last", window=8),
    Scenario("trimming_in_two_tiers", trimming(leaves(2, 4, 1, at=queue(5))),
             one([(s, 0, 0, 60_000, ()) for s in (1, 2, 4, 5, 6, 7)] + shift(8, 3, 40_000, channel=1)), "trims nacked",
             window=12),
    Scenario("trimming_fills_the_class_of_headers", trimming(star(12, at=queue(1)), ARRIVING), one(incast(11, 16_000)),
             "trims nacked data_dropped timeouts", window=4, payload=2000, header=1000, timeout_ps=40 * US),
    Scenario("trimming_with_marks_and_dctcp", trimming(star(5, at=queue(12, 2, 9, 0.7))), one(incast(4, 90_000)),
             "trims ecn_marks", control="dctcp", window=20),
    Scenario("trimming_and_marking_what_comes", trimming(star(5, at=queue(12, 2, 9, 0.7)), Trim(marking="enqueue")),
             one(incast(4, 90_000)), "trims ecn_marks cut_last", control="dctcp", window=20),
    Scenario("trimming_what_passed_through", trimming(rails(3, 2, at=queue(4))),
             one([(s, 4, c, 60_000, ()) for s in range(4) for c in range(2)]), "trims transit"),
    Scenario("trimming_on_wires_that_lose", losing(trimming(star(5, at=queue(6))), 0.02), one(incast(4, 90_000)),
             "trims data_dropped acks_dropped overtaken", window=10, timeout_ps=60 * US),
    recovery=SELECTIVE,
)

PULLING = scenarios(
    Scenario("ndp_alone", trimming(line(3, gigabits=(100,))), one([(0, 1, 0, 300_000, ())]), "pulls credits"),
    Scenario("ndp_incast", trimming(star(9, at=queue(8))), one(incast(8, 120_000)), "trims pulls", window=12),
    Scenario("ndp_messages_queue_up", trimming(star(4, at=queue(8))),
             one([(s, 0, 0, size, ()) for s in (1, 2, 3) for size in (50_000, 4096, 1, 90_000, 20_000)]),
             "trims pulls credits", window=7),
    Scenario("ndp_short_messages_at_once", trimming(star(10, at=queue(3))), one(incast(9, 9_000, channels=2)),
             "trims pulls nacked"),
    Scenario("ndp_in_and_out", trimming(star(6, gigabits=10, at=queue(8))),
             one([(0, t, 0, 150_000, ()) for t in (1, 2, 3, 4)] + [(5, 4, 0, 400_000, ())]), "pulls", window=23,
             share=1.0),
    Scenario("ndp_loses_pulls", losing(trimming(star(5, at=queue(8)), ARRIVING), 0.03),
             one([*incast(4, 160_000), (0, 2, 0, 90_000, ())]), "trims pulls acks_dropped data_dropped timeouts",
             window=6, timeout_ps=50 * US),
    Scenario("ndp_one_packet_at_a_time", losing(trimming(star(4, at=queue(2))), 0.02),
             one(incast(3, 60_000, channels=2)), "pulls timeouts", window=1, timeout_ps=40 * US),
    Scenario("ndp_ring_of_servers", trimming(rails(3, 2, at=queue(8))),
             one(ring(6, 5, 60_000, pieces=2) + [(s, 4, 1, 60_000, ()) for s in range(4)]), "pulls transit", window=9),
    Scenario("ndp_without_trimming", star(5, at=queue(6)), one(incast(4, 90_000)), "data_dropped pulls", window=8),
    recovery=SELECTIVE, control="ndp",
)
# fmt: on


RECOVERING = LOSING | REPEATING | TRIMMING | PULLING


SMALL = Collective(shift(3, 1, 40_000))
BROKEN = Scenario(
    "a_wire_loses_almost_everything",
    losing(star(3), 0.98),
    (SMALL,),
    "timeouts",
    timeout_ps=20 * US,
    retries=7,
)
