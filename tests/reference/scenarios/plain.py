"""Small scenarios as data, from which both the twin and the core are built; each says what it is there to exercise."""

from dataclasses import replace

from netsim.topology.fat_tree import FatTree
from tests.reference.scenarios.networks import (
    GIGABIT,
    NANOSECOND,
    US,
    all_to_all,
    incast,
    leaves,
    line,
    queue,
    rails,
    ring,
    shift,
    star,
)
from tests.reference.scenarios.scenario import Collective, Scenario, one, scenarios

# ACKs meet data
CROSSING = [(2, 1, 0, 90_000, ()), (3, 1, 0, 90_000, ()), (1, 2, 0, 80_000, ()), (1, 3, 0, 80_000, ())]

# fmt: off
SIMPLE = scenarios(
    Scenario("one_packet", star(2), one([(0, 1, 0, 4096, ())])),
    Scenario("one_byte", star(2), one([(0, 1, 0, 1, ())])),
    Scenario("two_switches_slow_middle", line(2, gigabits=(100, 40, 100)), one([(0, 1, 0, 81920, ())])),
    Scenario("no_control", line(3, gigabits=(100,)), one([(0, 1, 0, 200_000, ())]), control="none"),
    Scenario("stop_and_wait", line(1, gigabits=(100,)), one([(0, 1, 0, 50_000, ())]), window=1),
    Scenario("odd_bytes_at_600g", star(3, gigabits=600),
             one([(0, 1, 0, 10_001, ()), (2, 1, 0, 77_777, ()), (1, 0, 0, 4097, ())]), "queued", header=58, ack=61),
    Scenario("many_messages", star(3),
             one([(0, 1, c, 3000 + 1001 * i, ()) for i in range(6) for c in range(3)] + [(0, 2, 0, 30_000, ())]),
             window=3),
    Scenario("uneven_delays", star(4, delays_ns=(700, 1300, 50, 0)), one(shift(4, 1, 60_000) + shift(4, 3, 60_000)),
             "queued"),
    Scenario("both_ways", star(2), one([(0, 1, 0, 90_000, ()), (1, 0, 0, 90_000, ())]), "ties"),
    Scenario("permutation", leaves(4, 2, 2), one(shift(8, 4, 60_000)), control="none"),
    Scenario("fat_tree", FatTree(k=4).build(), one(shift(16, 8, 50_000) + shift(16, 5, 9_999)), "queued ties"),
    Scenario("two_tier_fat_tree_at_400g",
             FatTree(k=4, tiers=2, rate=400 * GIGABIT, buffer=20_000, delay=500 * NANOSECOND).build(),
             one(shift(8, 3, 150_000)), "data_dropped retransmitted", control="none"),
)

SCHEDULES = scenarios(
    Scenario("ring", star(4), one(ring(4, 6, 20_000)), "ties"),
    Scenario("ring_in_pieces", leaves(2, 3, 1), one(ring(6, 5, 5_000, pieces=4)), "queued ties", window=4),
    Scenario("all_to_all", leaves(2, 4, 2), one(all_to_all(8, 12_345)), "queued ties"),
    Scenario("after_own_row_is_acked", star(3),
             one([(0, 1, 0, 9000, ()), (0, 2, 0, 9000, (0,)), (0, 1, 0, 9000, (1,)), (2, 0, 0, 5000, (1,)),
                  (0, 1, 1, 4000, (3, 2))])),
    Scenario("one_ack_frees_several_rows", star(4, at=queue(4), control_class="shared"),
             one([(0, 1, 0, 4096, ())] * 6 + [(0, 2 + k % 2, 0, 6000, (5 - k,)) for k in range(6)]
                 + [(1, 0, c, 60_000, ()) for c in range(3)] + [(2, 0, 0, 60_000, ()), (3, 0, 0, 60_000, ())]),
             "acks_dropped data_dropped acked_together", timeout_ps=50 * US),
    Scenario("rank_comes_late", star(3), one(ring(3, 4, 30_000), 0, 2 * US + 77, 40 * US), "early_rows"),
    Scenario("late_rank_releases_in_row_order", star(3),
             one([(1, 0, 0, 60_000, ()), (2, 0, 0, 5_000, ()), (0, 1, 0, 20_000, (0,)), (0, 2, 1, 20_000, ()),
                  (0, 2, 0, 20_000, (1,))], 50 * US, 0, 0), "early_rows"),
    Scenario("last_send_ends_after_last_receive", star(2), one([(0, 1, 0, 4096, ()), (1, 0, 0, 100, ())], 2 * US, 0)),
    Scenario("two_collectives_overlap", star(4),
             (Collective(ring(4, 4, 20_000), (0, 500 * NANOSECOND, 0, 3 * US)),
              Collective(shift(2, 1, 30_000), (1 * US, 0), members=(1, 2)),
              Collective([(0, 1, 7, 25_000, ()), (1, 0, 0, 4096, ())], (2 * US, 2 * US), members=(3, 0))),
             "queued", window=6, hosts=(2, 0, 3, 1)),
    Scenario("one_after_the_other", star(4),
             (Collective(shift(4, 1, 20_000)), Collective(shift(4, 2, 20_000, channel=1), waits=(0,)),
              Collective(ring(4, 3, 9_000), waits=(1, 0)), Collective(shift(4, 3, 20_000), waits=(0,))),
             "ties queued"),
)

LOSSES = scenarios(
    Scenario("incast_drops", star(9, at=queue(20)), one(incast(8, 80_000)), "data_dropped naks ties"),
    Scenario("tail_losses_time_out", star(7, at=queue(2)), one(incast(6, 4096)), "data_dropped timeouts retransmitted",
             timeout_ps=40 * US),
    Scenario("no_control_into_a_shallow_buffer", leaves(2, 3, 1, at=queue(6)), one(shift(6, 3, 90_000)),
             "data_dropped naks retransmitted", control="none"),
    Scenario("needless_time_outs", line(1, gigabits=(100,), delay_ns=20_000), one([(0, 1, 0, 100_000, ())]),
             "timeouts retransmitted", timeout_ps=30 * US, window=8),
    # 4000 bytes on the wire take 320 ns at 100 Gb/s, and the timer ticks every us
    Scenario("everything_on_the_tick", star(5, at=queue(3)),
             (Collective(incast(4, 3936 * 6), (0, 0, 0, 1 * US, 2 * US)),
              Collective(shift(5, 2, 3936 * 2), (3 * US, 16 * US, 17 * US, 18 * US, 32 * US))),
             "timeouts data_dropped ties", payload=3936, timeout_ps=16 * US),
    Scenario("two_channels_lose", star(4, at=queue(5), delays_ns=(1000, 400)), one(incast(3, 60_000, channels=3)),
             "data_dropped retransmitted", window=4),
    Scenario("shared_queue_loses_acks", star(4, at=queue(5), control_class="shared"), one(CROSSING),
             "acks_dropped data_dropped retransmitted", timeout_ps=64 * US),
    Scenario("strict_queue_keeps_acks", star(4, at=queue(5)), one(CROSSING), "data_dropped retransmitted",
             "acks_dropped", timeout_ps=64 * US),
    Scenario("acks_fill_their_own_class", star(4, at=queue(1)),
             one([(0, target, 0, 40_000, ()) for target in (1, 2, 3)]), "acks_dropped", payload=512, header=16, ack=900,
             timeout_ps=32 * US),
)

MARKS = scenarios(
    Scenario("dctcp_step", star(5, at=queue(400, 10, 10)), one(incast(4, 400_000)), "ecn_marks", control="dctcp"),
    Scenario("dctcp_ramp", star(5, at=queue(60, 4, 40, 0.4)), one(incast(4, 400_000)), "ecn_marks", control="dctcp",
             window=20, seed=7),
    Scenario("dctcp_ramp_and_drops", leaves(2, 4, 1, at=queue(12, 2, 9, 0.7)),
             one(shift(8, 4, 120_000) + shift(8, 5, 60_000)), "ecn_marks data_dropped retransmitted", control="dctcp",
             window=16, seed=99),
    Scenario("dctcp_shared_queue", star(4, at=queue(30, 3, 20, 0.5), control_class="shared"), one(CROSSING * 2),
             "ecn_marks", control="dctcp", seed=(1 << 63) - 5),
    Scenario("dctcp_times_out", star(9, at=queue(3, 1, 1)), one(incast(8, 40_000)), "ecn_marks timeouts data_dropped",
             control="dctcp", window=2, timeout_ps=20 * US),
    Scenario("dctcp_channels_take_turns", star(3, at=queue(200, 1, 4, 0.8)),
             one([(1, 0, c, 200_000, ()) for c in range(5)] + [(2, 0, 0, 60_000, ())]), "ecn_marks skipped_turns",
             control="dctcp", window=12),
    Scenario("window_ignores_marks", star(4, at=queue(150, 5, 25, 0.9)), one(incast(3, 200_000)), "ecn_marks"),
)

SERVERS = scenarios(
    Scenario("inside_a_server", rails(1, 4), one(ring(4, 3, 100_001)), "ties"),
    Scenario("rails_and_nvlink", rails(2, 2), one(ring(4, 6, 70_000, pieces=2)), "transit"),
    Scenario("transit_against_own", rails(2, 4),
             one([(0, 5, 0, 60_000, ()), (1, 5, 0, 60_000, ()), (2, 5, 1, 60_000, ()), (1, 6, 0, 60_000, ())]),
             "transit queued", window=12),
    Scenario("everybody_over_one_rail_with_losses", rails(3, 2, at=queue(6, 2, 5, 0.5)),
             one([(s, 4, 0, 60_000, ()) for s in range(4)] + shift(6, 2, 50_000)),
             "transit ecn_marks data_dropped retransmitted", control="dctcp", window=12),
    Scenario("turns_are_skipped_beside_transit", rails(3, 2, at=queue(100, 1, 4, 0.9)),
             one([(1, 4, 0, 90_000, ()), (2, 4, 0, 90_000, ())] + [(0, 4, c, 200_000, ()) for c in range(5)]),
             "transit ecn_marks skipped_turns", control="dctcp", window=15, seed=3),
    Scenario("slow_nvlink_queues_in_transit", rails(2, 3, scale_up_gigabits=800), one(all_to_all(6, 50_000)),
             "transit queued", window=9),
)
# fmt: on

SCENARIOS = SIMPLE | SCHEDULES | LOSSES | MARKS | SERVERS
SCENARIOS["dctcp_ramp_other_seed"] = replace(SCENARIOS["dctcp_ramp"], name="dctcp_ramp_other_seed", seed=8)
