"""Scenarios with controls that measure round trips or links: TIMELY, Swift, HPCC, NSCC."""

from tests.reference.scenarios.networks import US, all_to_all, incast, leaves, line, queue, shift, star
from tests.reference.scenarios.pfc import INTO_ONE_LEAF, LOST, pauses
from tests.reference.scenarios.scenario import Collective, Scenario, one, scenarios

QUICK_DELTA = 200 * 10**6  # bit/s at 10 Gb/s
TWO_AND_LATER = (  # a third flow comes when the others have settled, and leaves before them
    Collective(incast(2, 1_500_000)),
    Collective([(3, 0, 0, 300_000, ())], (0, 0, 0, 60 * US)),
)

# fmt: off
TIMELY = scenarios(
    Scenario("timely_as_in_the_paper", star(4, at=queue(500)), TWO_AND_LATER,
             "timely_low timely_hyper timely_rising timely_falling paced", "timely_balanced",
             chosen={"patched": False, "delta": QUICK_DELTA}),
    Scenario("timely_patched", star(4, at=queue(500)), TWO_AND_LATER,
             "timely_low timely_hyper timely_balanced timely_at_least paced", "timely_rising",
             chosen={"delta": QUICK_DELTA, "beta_patched": 0.2}),
    Scenario("timely_above_the_upper_threshold", star(9, at=queue(700)), one(incast(8, 600_000)),
             "timely_high timely_at_least timely_falling",
             chosen={"t_low": 6 * US, "t_high": 9 * US, "least": 4, "hai_after": 1, "hai": 3, "alpha": 0.5}),
    Scenario("timely_loses_in_a_window", leaves(2, 4, 1, at=queue(12)),
             one([*INTO_ONE_LEAF, *shift(8, 3, 90_000, channel=1)]), "data_dropped retransmitted timeouts timely_low",
             window=9, timeout_ps=40 * US, chosen={"t_low": 8 * US, "delta": QUICK_DELTA}),
    control="timely", window="bdp",
)

SWIFT = scenarios(
    Scenario("swift_two_and_a_third", star(4, at=queue(500)), TWO_AND_LATER, "swift_late", LOST,
             chosen={"base_target": 8 * US, "fs_range": 10 * US}),
    Scenario("swift_below_one_packet", star(17, at=queue(900)), one(incast(16, 600_000)),
             "swift_late swift_below_one paced", LOST,
             chosen={"base_target": 5_200_000, "hop_scale": 0, "fs_range": 200_000, "ai": 0.3}),
    Scenario("swift_begins_anew_after_time_outs", star(9, at=queue(2)),
             one([*incast(8, 40_000), *shift(9, 3, 300_000, channel=1)]),
             "data_dropped timeouts swift_loss swift_timeout swift_reset", window=20, timeout_ps=20 * US,
             chosen={"retx_reset_threshold": 2, "min_cwnd": 0.25}),
    Scenario("swift_many_hops", leaves(3, 3, 2, at=queue(80), control_class="shared"), one(all_to_all(9, 90_000)),
             "swift_late queued", window=40,
             chosen={"base_target": 6 * US, "hop_scale": 900_000, "fs_max_cwnd": 30, "max_cwnd": 25, "beta": 0.4}),
    control="swift", window="bdp",
)

HPCC = scenarios(
    Scenario("hpcc_two_and_a_third", star(4, at=queue(500)), TWO_AND_LATER, "hpcc_queued paced",
             f"hpcc_by_stage {LOST}"),
    Scenario("hpcc_in_stages", leaves(2, 4, 1, at=queue(500)), one([*INTO_ONE_LEAF, *shift(8, 4, 200_000, channel=1)]),
             "hpcc_queued hpcc_by_stage hpcc_by_load", chosen={"max_stage": 3, "ai": 100 * 10**6, "eta": 0.9}),
    Scenario("hpcc_loses", star(9, at=queue(6), control_class="shared"),
             one(incast(8, 120_000) + [(0, s, 0, 90_000, ()) for s in range(1, 5)]),
             "data_dropped timeouts hpcc_queued hpcc_at_least", window=14, timeout_ps=40 * US, chosen={"least": 2}),
    # the ninth link of them says nothing
    Scenario("hpcc_nine_switches_and_a_slow_middle", line(10, gigabits=(100, 100, 40, 100, 600)),
             one([(0, 1, 0, 600_000, ()), (0, 1, 1, 300_000, ()), (1, 0, 0, 200_000, ())]), "hpcc_queued"),
    Scenario("hpcc_with_pfc", leaves(2, 4, 1, pfc=pauses(4, 2), control_class="shared"),
             one([*INTO_ONE_LEAF, *shift(8, 3, 90_000, channel=1)]), "hpcc_queued pauses", LOST),
    control="hpcc", window="bdp",
)

NSCC = scenarios(
    Scenario("nscc_two_and_a_third", star(4, at=queue(500, 4, 14)), TWO_AND_LATER,
             "nscc_early nscc_late_marked nscc_early_marked", LOST, chosen={"delay_alpha": 0.2}),
    Scenario("nscc_incast_adapts", star(17, at=queue(900, 4, 14)), one(incast(16, 250_000)),
             "nscc_adapted nscc_ignored nscc_late_marked", LOST, chosen={"qa_threshold": 2}),
    Scenario("nscc_narrows", leaves(2, 4, 1, at=queue(300, 3, 20)),
             one([*INTO_ONE_LEAF, *shift(8, 4, 300_000, channel=1)]), "nscc_cuts nscc_late nscc_early nscc_learned",
             chosen={"target_qdelay": 3 * US, "delay_alpha": 0.5, "max_md": 0.3}),
    Scenario("nscc_leaps", star(5, at=queue(100, 5, 50)),
             (Collective(incast(4, 60_000)), Collective([(1, 0, 0, 900_000, ())])), "nscc_leaps nscc_adapted",
             window=30, chosen={"qa_threshold": 1, "target_qdelay": 2 * US, "qa_gate": 1, "fi_scale": 0.125}),
    Scenario("nscc_loses", star(9, at=queue(6, 1, 4)), one(incast(8, 120_000)), "data_dropped timeouts nscc_loss",
             timeout_ps=40 * US),
    control="nscc", window="bdp",
)
# fmt: on

MEASURED = TIMELY | SWIFT | HPCC | NSCC
