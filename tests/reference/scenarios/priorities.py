"""Scenarios with several classes of traffic: strict priority, queues, marks and pauses for each."""

from tests.reference.scenarios.networks import US, all_to_all, incast, leaves, loop, queue, rails, ring, shift, star
from tests.reference.scenarios.pfc import INTO_ONE_LEAF, TO_ONE_RAIL, pauses
from tests.reference.scenarios.recovery import SELECTIVE, losing, trimming
from tests.reference.scenarios.scenario import Collective, Scenario, scenarios
from tests.reference.scenarios.shared_buffer import sharing
from tests.reference.switch.per_packet_routing import PerPacket

PACKET = 4160


def classed(*collectives: tuple[int, list[tuple[int, int, int, int, tuple[int, ...]]]]) -> tuple[Collective, ...]:
    """Collectives that all start at once, each a class and rows."""
    return tuple(Collective(rows, traffic_class=level) for level, rows in collectives)


# fmt: off
CLASSED = scenarios(
    Scenario("classes_go_in_order_at_a_switch", star(4),
             classed((0, incast(3, 90_000)), (1, incast(3, 50_000)), (2, [(1, 0, 0, 30_000, ())])),
             "lower_classes_waited", control="none"),
    Scenario("classes_go_in_order_at_a_nic", star(3),
             classed((1, [(0, 1, 0, 60_000, ())]), (0, [(0, 2, c, 60_000, ()) for c in range(3)]),
                     (3, ring(3, 4, 20_000))),
             "lower_classes_waited", window=6),
    Scenario("classes_have_buffers_of_their_own", star(5, at=queue(5)),
             classed((0, incast(4, 90_000)), (1, incast(4, 90_000))), "data_dropped lower_classes_waited",
             timeout_ps=70 * US),
    Scenario("classes_mark_by_their_own_queue", leaves(2, 4, 1, at=queue(60, 2, 9, 0.7)),
             classed((0, INTO_ONE_LEAF), (1, shift(8, 3, 60_000))), "ecn_marks lower_classes_waited", control="dctcp",
             window=20),
    Scenario("classes_pause_by_themselves", star(5, pfc=pauses(4, 2)),
             classed((1, incast(4, 120_000)), (0, [(s, s % 4 + 1, 0, 90_000, ()) for s in range(1, 5)])),
             "pauses hosts_stopped lower_classes_waited", "data_dropped", control="none"),
    Scenario("classes_pause_in_two_tiers", leaves(2, 4, 1, pfc=pauses(3, 1)),
             classed((0, INTO_ONE_LEAF), (1, INTO_ONE_LEAF), (2, shift(8, 5, 40_000))),
             "pauses hosts_stopped switches_stopped passed_a_stopped_class", "data_dropped", control="none"),
    Scenario("classes_with_rates_pause_and_park", leaves(2, 3, 1, at=queue(100, 1, 4), pfc=pauses(6, 3)),
             classed((0, shift(6, 3, 150_000)), (1, [(s, 0, 0, 90_000, ()) for s in (1, 2, 3)])),
             "ecn_marks paced cnps",
             control="dcqcn", window="bdp"),
    Scenario("classes_pass_through_a_gpu", rails(3, 2, at=queue(30)),
             classed((0, TO_ONE_RAIL), (1, all_to_all(6, 50_000)), (2, shift(6, 3, 70_000))),
             "transit lower_classes_waited", window=9),
    Scenario("classes_pause_what_passes_through", rails(3, 2, pfc=pauses(5, 2)),
             classed((1, TO_ONE_RAIL), (0, shift(6, 2, 90_000)), (0, ring(6, 3, 40_000, channel=2))), "transit pauses",
             control="none"),
    Scenario("classes_share_a_buffer", sharing(star(6), 40 * PACKET, 1),
             classed((0, [(s, t, 0, 90_000, ()) for t in (0, 1) for s in (2, 3, 4, 5)]), (1, incast(5, 80_000))),
             "data_dropped lower_classes_waited", timeout_ps=80 * US),
    Scenario("classes_are_trimmed", trimming(star(6, at=queue(5))),
             classed((0, incast(5, 60_000)), (1, incast(5, 60_000))), "trims nacked", recovery=SELECTIVE,
             timeout_ps=80 * US),
    Scenario("classes_are_trimmed_until_headers_find_no_room", trimming(star(10, at=queue(1))),
             classed((1, incast(9, 16_000)), (0, incast(9, 16_000))), "trims data_dropped timeouts", recovery=SELECTIVE,
             window=4, payload=2000, header=1000, timeout_ps=60 * US),
    Scenario("classes_on_wires_that_lose", losing(star(4, at=queue(30)), 0.02),
             classed((0, incast(3, 90_000)), (5, shift(4, 1, 60_000))), "data_dropped acks_dropped",
             timeout_ps=60 * US),
    Scenario("classes_are_pulled", trimming(star(6, at=queue(8))),
             classed((0, incast(5, 60_000)), (1, incast(5, 60_000))), "trims pulls", control="ndp", recovery=SELECTIVE,
             window=12),
    Scenario("classes_choose_the_least_loaded_link", leaves(2, 4, 2, at=queue(60)),
             classed((0, shift(8, 4, 60_000)), (1, shift(8, 5, 60_000))), "rerouted avoided_a_queue",
             per_packet=PerPacket("adaptive"), recovery=SELECTIVE, reordering=64),
    Scenario("classes_meet_on_one_connection_after_another", star(4, at=queue(60)),
             (Collective(shift(4, 1, 40_000)), Collective(shift(4, 1, 40_000), traffic_class=1, waits=(0,)),
              Collective(shift(4, 1, 40_000), (3 * US, 0, 2 * US, 9 * US)),
              Collective(ring(4, 6, 20_000), traffic_class=1)),
             "lower_classes_waited"),
)
# fmt: on

CLASSED_DEADLOCK = Scenario(
    "classes_deadlock",
    loop(5, pfc=pauses(2, 1)),
    classed((0, [(0, 1, 0, 20_000, ())]), (1, shift(5, 2, 400_000))),
    control="none",
)
