"""Scenarios of queue disciplines that a topology's `[queue]` table names."""

from dataclasses import replace

from netsim.queues.disciplines.codel import Codel
from netsim.queues.disciplines.drr import Drr
from netsim.topology.network import Network
from tests.reference.scenarios.drawn import drawn_together
from tests.reference.scenarios.networks import US, all_to_all, incast, leaves, queue, rails, shift, star
from tests.reference.scenarios.pfc import INTO_ONE_LEAF, TO_ONE_RAIL, pauses
from tests.reference.scenarios.priorities import classed
from tests.reference.scenarios.recovery import SELECTIVE, trimming
from tests.reference.scenarios.scenario import Collective, Scenario, one, scenarios
from tests.reference.scenarios.shared_buffer import sharing


def with_codel(network: Network, target_us: int = 1, interval_us: int = 8) -> Network:
    """The same network with switches that mark by waiting time."""
    return replace(network, queue={"codel": Codel(target=target_us * US, interval=interval_us * US)})


def with_drr(network: Network, quantum: int = 4160) -> Network:
    """The same network with links that let classes take turns."""
    return replace(network, queue={"drr": Drr(quantum=quantum)})


# fmt: off
DISCIPLINED = scenarios(
    Scenario("codel_marks_an_incast", with_codel(star(5)), one(incast(4, 300_000)), "ecn_marks marked_again",
             control="dctcp", window=20),
    Scenario("codel_marks_more_often_where_it_marked_lately", with_codel(star(4), 2, 6),
             (Collective(incast(3, 400_000)), Collective(incast(3, 200_000), (110 * US,) * 4)), "resumed_marking",
             control="none"),
    Scenario("codel_beside_red", with_codel(star(5, at=queue(60, 4, 20, 0.4))), one(incast(4, 200_000)),
             "ecn_marks marked_again", control="dctcp", window=20),
    Scenario("codel_drops_nothing_with_flow_control", with_codel(leaves(2, 4, 1, pfc=pauses(6, 3))),
             one(INTO_ONE_LEAF), "ecn_marks pauses", "data_dropped", control="dctcp", window=20),
    Scenario("codel_and_trimming", with_codel(trimming(star(6, at=queue(8)))), one(incast(5, 90_000)),
             "ecn_marks trims", control="dctcp", window=20, recovery=SELECTIVE),
    Scenario("codel_in_a_shared_buffer", with_codel(sharing(star(6), 60 * 4160, 1)), one(incast(5, 200_000)),
             "ecn_marks marked_again", control="dctcp", window=20),
    Scenario("codel_with_acks_in_the_queue", with_codel(star(4, control_class="shared"), 1, 4),
             one([*incast(3, 200_000), *shift(4, 1, 50_000, channel=1)]), "ecn_marks", control="dctcp", window=20),
    Scenario("codel_in_each_class", with_codel(star(5)), classed((0, incast(4, 200_000)), (1, incast(4, 200_000))),
             "ecn_marks lower_classes_waited", control="dctcp", window=20),
    Scenario("drr_shares_a_link_of_a_switch", with_drr(star(4)),
             classed((0, [(1, 0, 0, 200_000, ())]), (1, [(2, 0, 0, 200_000, ())])), control="none"),
    Scenario("drr_shares_a_nic", with_drr(star(3)),
             classed((0, [(0, 1, 0, 200_000, ())]), (1, [(0, 2, 0, 200_000, ())])), control="none"),
    Scenario("drr_by_bytes_of_small_and_full_packets", with_drr(star(5), 1500),
             classed((0, incast(4, 90_000)), (1, [(s, 0, c, 700, ()) for s in range(1, 5) for c in range(30)]),
                     (3, incast(4, 50_000))), control="none"),
    Scenario("drr_of_what_passes_through_a_gpu", with_drr(rails(3, 2, at=queue(30)), 9000),
             classed((0, TO_ONE_RAIL), (1, all_to_all(6, 50_000)), (2, shift(6, 3, 70_000))), "transit", window=9),
    Scenario("drr_passes_a_stopped_class", with_drr(leaves(2, 4, 1, pfc=pauses(3, 1))),
             classed((0, INTO_ONE_LEAF), (1, INTO_ONE_LEAF), (2, shift(8, 5, 40_000))),
             "pauses hosts_stopped switches_stopped passed_a_stopped_class", "data_dropped", control="none"),
)
# fmt: on


def drawn_disciplined(number: int) -> Scenario:
    """A drawn scenario whose switches mark by waiting time, too."""
    scenario = drawn_together(1000 + number)
    network = with_codel(scenario.network, 1 + number % 4, 3 + number % 7)
    return replace(scenario, name=f"disciplined{number}", network=network)
