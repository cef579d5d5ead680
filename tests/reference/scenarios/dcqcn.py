"""Scenarios with rates that congestion notifications set (DCQCN), some of them with flow control too."""

from tests.reference.scenarios.networks import US, incast, leaves, queue, shift, star
from tests.reference.scenarios.pfc import INTO_ONE_LEAF, LOST, pauses
from tests.reference.scenarios.scenario import Collective, Scenario, one, scenarios

BRISK = {"alpha_timer": 3 * US, "increase_timer": 4 * US, "cnp_interval": 20 * US}
BRISK |= {"byte_counter": 60_000, "ai": 10**9, "hai": 4 * 10**9}
# Cut again while it is below the line: only then it shows by how much the target moves.
SLOW_STEPS = BRISK | {"ai": 2 * 10**8, "hai": 10**9, "cnp_interval": 5 * US}
PACKETS_9 = 2_880_000  # ps in which a link at 100 Gb/s sends 9 packets of 4000 bytes
ONE_INSTANT = BRISK | {"alpha_timer": PACKETS_9, "increase_timer": PACKETS_9, "cnp_interval": PACKETS_9}

# fmt: off
PACED = scenarios(
    Scenario("dcqcn_incast_recovers", star(9, at=queue(400, 5, 60, 0.3)), one(incast(8, 500_000)),
             "sent_fast sent_additive raises_by_time raises_by_bytes"),
    Scenario("dcqcn_all_phases", star(4, at=queue(300, 3, 30, 0.5)),
             (Collective(incast(3, 200_000)), Collective([(1, 0, 1, 2_000_000, ())])),
             "sent_cut sent_fast sent_additive sent_hyper whole_again",
             dcqcn=SLOW_STEPS | {"increase_timer": 2 * US, "byte_counter": 20_000}),
    Scenario("dcqcn_keeps_its_target", star(5, at=queue(300, 3, 30, 0.5)), one(incast(4, 500_000)),
             "cuts_that_keep_the_target sent_additive raises_by_time raised_while_waiting",
             dcqcn=SLOW_STEPS | {"clamp_tgt_rate": False, "fast_recovery": 1, "increase_timer": 12 * US,
                                 "min_rate": 10**6}),
    Scenario("dcqcn_bytes_only", star(3, at=queue(300, 3, 30, 0.5)), one(incast(2, 700_000)),
             "cuts raises_by_bytes sent_additive sent_fast",
             dcqcn=SLOW_STEPS | {"alpha_timer": 10**12, "increase_timer": 10**12, "byte_counter": 9_000}),
    Scenario("dcqcn_time_only", star(3, at=queue(300, 3, 30, 0.5)), one(incast(2, 700_000)),
             "raises_by_time sent_additive sent_fast", "raises_by_bytes hyper_raises",
             dcqcn=SLOW_STEPS | {"byte_counter": 10**9}),
    Scenario("dcqcn_timers_at_one_instant", star(5, at=queue(300, 0, 0)),
             one(incast(4, 3936 * 60), 0, 0, 1 * US, 0, 2 * US), "cnp_ties sent_fast", dcqcn=ONE_INSTANT,
             payload=3936, ack=250),
    Scenario("dcqcn_down_to_the_least", star(7, at=queue(400, 0, 0)), one(incast(6, 60_000)), "cuts_to_the_least",
             dcqcn=BRISK | {"increase_timer": 40 * US, "cnp_interval": 1000, "ai": 40 * 10**9}),
    Scenario("dcqcn_several_rates_at_one_nic", star(6, at=queue(400, 3, 20, 0.6)),
             one([(1, t, c, 200_000, ()) for t in (0, 2, 4) for c in range(3)]
                 + [(s, t, 0, 300_000, ()) for s in (3, 5) for t in (0, 2)]),
             "cuts paced unpaced_together", dcqcn=BRISK | {"cnp_interval": 3 * US}),
    Scenario("dcqcn_in_a_window", star(4, at=queue(200, 1, 1)), one(incast(3, 3936 * 50)), "cuts paced sent_at_a_ring",
             window=9, dcqcn=ONE_INSTANT, payload=3936),
    Scenario("dcqcn_loses", star(7, at=queue(8, 1, 6, 0.5)), one(incast(6, 120_000)), "cuts data_dropped naks timeouts",
             timeout_ps=30 * US),
    Scenario("dcqcn_with_pfc", leaves(2, 4, 1, at=queue(100, 2, 8, 0.5), pfc=pauses(4, 2)),
             one(INTO_ONE_LEAF + shift(8, 3, 40_000, channel=1)), "cuts paced hosts_stopped switches_stopped", LOST),
    Scenario("dcqcn_with_pfc_shared", star(5, at=queue(100, 2, 8, 0.5), pfc=pauses(3, 2), control_class="shared"),
             one([*incast(4, 90_000), (0, 1, 0, 80_000, ()), (0, 2, 0, 80_000, ()), (1, 2, 0, 80_000, ())]),
             "cuts paced acks_stopped", LOST),
    control="dcqcn", window="bdp", dcqcn=BRISK,
)
PACED |= scenarios(
    Scenario("dcqcn_two_into_one", star(3, at=queue(200, 5, 40, 0.2)), one(incast(2, 400_000)), "cnps cuts paced",
             control="dcqcn", window="bdp"),
    Scenario("cnps_without_dcqcn", star(3, at=queue(99, 1, 1)), one(incast(2, 90_000)), "cnps", "cuts paced"),
)
# fmt: on
