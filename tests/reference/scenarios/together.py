"""Scenarios in which mechanisms meet: controls that measure, selective repeat, trimming, pulls, per-packet routing."""

from tests.reference.scenarios.networks import US, incast, leaves, queue, rails, shift, star
from tests.reference.scenarios.per_packet_routing import (
    ADAPTIVE,
    BEHIND_NVLINK,
    CROSSED,
    FLOWLET,
    REPS,
    SPRAY,
    TURNS,
    pods,
)
from tests.reference.scenarios.pfc import INTO_ONE_LEAF, pauses
from tests.reference.scenarios.recovery import SELECTIVE, losing, trimming
from tests.reference.scenarios.scenario import Scenario, one, scenarios

CROWDED = one(INTO_ONE_LEAF + CROSSED)
LOST = "data_dropped retransmitted"

# fmt: off
TOGETHER = scenarios(
    # what go-back-N takes for losses is none
    Scenario("spray_in_any_order", leaves(2, 4, 4), one(CROSSED), "rerouted sacks", f"{LOST} overtaken",
             per_packet=SPRAY, reordering=256),
    # the tolerance of one route is too small for four
    Scenario("spray_taken_for_lost", leaves(2, 4, 4, delays_ns=(500, 4000)), one(CROSSED), "rerouted overtaken copies",
             "data_dropped", per_packet=SPRAY),
    Scenario("spray_on_wires_that_lose", losing(leaves(2, 4, 3, at=queue(30)), 0.02), one(CROSSED),
             "rerouted data_dropped acks_dropped overtaken timeouts", per_packet=TURNS, reordering=12,
             timeout_ps=60 * US),
    Scenario("spray_and_trim", trimming(leaves(2, 4, 3, at=queue(5))), CROWDED, "rerouted trims nacked",
             "data_dropped", per_packet=SPRAY, reordering=256),
    Scenario("ndp_sprays", trimming(leaves(2, 4, 4, at=queue(8))), CROWDED, "rerouted trims pulls credits",
             control="ndp", window=12, per_packet=SPRAY, reordering=256),
    Scenario("ndp_behind_nvlink", losing(trimming(pods(4, 2, spines=3)), 0.01),
             one(BEHIND_NVLINK), "rerouted transit pulls data_dropped", control="ndp", window=3, per_packet=ADAPTIVE,
             reordering=64),
    Scenario("ndp_recycles_entropies", losing(trimming(leaves(2, 4, 3, at=queue(6, 1, 4, 0.8))), 0.01),
             CROWDED, "rerouted reused trims pulls data_dropped", control="ndp", window=10, per_packet=REPS,
             reordering=64),
    Scenario("reps_on_wires_that_lose", losing(leaves(2, 4, 3, at=queue(20, 2, 9, 0.7)), 0.02), one(CROSSED),
             "rerouted reused data_dropped acks_dropped", per_packet=REPS, control="dctcp", reordering=64),
    Scenario("nscc_trims_and_sprays", trimming(leaves(2, 4, 3, at=queue(12, 2, 9))), CROWDED,
             "nscc_nack nscc_adapted nscc_early_marked rerouted", control="nscc", window="bdp",
             chosen={"qa_gate": 0, "qa_threshold": 2}, per_packet=SPRAY, reordering=256),
    Scenario("nscc_loses_what_is_overtaken", star(9, at=queue(10, 2, 7)), one(incast(8, 160_000)),
             "nscc_loss overtaken timeouts", control="nscc", window="bdp", timeout_ps=60 * US),
    Scenario("nscc_with_reps_and_trimming", trimming(leaves(2, 4, 3, at=queue(8, 1, 6))), CROWDED,
             "nscc_nack reused rerouted", control="nscc", window="bdp", per_packet=REPS, reordering=256),
    Scenario("swift_cuts_for_headers", trimming(star(9, at=queue(6))), one(incast(8, 160_000)), "swift_nack trims",
             control="swift", window=20, chosen={"base_target": 30 * US}),
    Scenario("swift_cuts_for_losses", losing(leaves(2, 4, 2, at=queue(40)), 0.02), one(CROSSED),
             "swift_loss overtaken timeouts", control="swift", window=20, timeout_ps=60 * US,
             chosen={"base_target": 30 * US}),
    Scenario("hpcc_with_headers_that_tell_less", trimming(leaves(2, 4, 1, at=queue(5))),
             one(INTO_ONE_LEAF + shift(8, 3, 90_000, channel=1)), "hpcc_queued trims nacked", control="hpcc",
             window="bdp"),
    # what links say of themselves is compared with what the same ones said before
    Scenario("hpcc_over_changing_links", losing(leaves(2, 4, 3, at=queue(30)), 0.01), one(CROSSED),
             "rerouted hpcc_queued data_dropped", control="hpcc", window="bdp", per_packet=FLOWLET, reordering=64),
    Scenario("timely_passes_through_and_trims", trimming(rails(3, 2, at=queue(4))),
             one([(s, 4, c, 200_000, ()) for s in range(4) for c in range(2)]), "trims transit paced",
             control="timely", window=20, chosen={"t_low": 1 * US, "t_high": 1_500_000, "delta": 200 * 10**6}),
    Scenario("pfc_without_headroom_trims", trimming(leaves(2, 4, 3, at=queue(100), pfc=pauses(3, 1, headroom=1))),
             CROWDED, "pauses trims rerouted", control="none", per_packet=ADAPTIVE, reordering=64),
    recovery=SELECTIVE,
)
TOGETHER |= scenarios(
    Scenario("go_back_n_recycles_on_wires_that_lose", losing(leaves(2, 4, 3, at=queue(20, 2, 9, 0.7)), 0.02),
             one(CROSSED), "rerouted reused data_dropped naks", per_packet=REPS, timeout_ps=60 * US),
)
# fmt: on
