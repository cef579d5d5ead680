"""Small scenarios as data, from which both the twin and the core are built; each says what it is there to exercise."""

from __future__ import annotations

from dataclasses import replace

from netsim.topology.fat_tree import FatTree
from tests.reference.scenarios.congestion import LOSSES, MARKS
from tests.reference.scenarios.networks import (
    GIGABIT,
    NANOSECOND,
    all_to_all,
    leaves,
    line,
    queue,
    rails,
    ring,
    shift,
    star,
)
from tests.reference.scenarios.networks import MICROSECOND as US
from tests.reference.scenarios.scenario import Collective, Scenario, one

SIMPLE = [
    Scenario("one_packet", lambda: star(2), one([(0, 1, 0, 4096, ())])),
    Scenario("one_byte", lambda: star(2), one([(0, 1, 0, 1, ())])),
    Scenario("two_switches_slow_middle", lambda: line(2, gigabits=(100, 40, 100)), one([(0, 1, 0, 81920, ())])),
    Scenario("no_control", lambda: line(3, gigabits=(100,)), one([(0, 1, 0, 200_000, ())]), control="none"),
    Scenario("stop_and_wait", lambda: line(1, gigabits=(100,)), one([(0, 1, 0, 50_000, ())]), window=1),
    Scenario(
        "odd_bytes_at_600g",
        lambda: star(3, gigabits=600),
        one([(0, 1, 0, 10_001, ()), (2, 1, 0, 77_777, ()), (1, 0, 0, 4097, ())]),
        ("queued",),
        header=58,
        ack=61,
    ),
    Scenario(
        "many_messages",
        lambda: star(3),
        one([(0, 1, c, 3000 + 1001 * i, ()) for i in range(6) for c in range(3)] + [(0, 2, 0, 30_000, ())]),
        window=3,
    ),
    Scenario(
        "uneven_delays",
        lambda: star(4, delays_ns=(700, 1300, 50, 0)),
        one(shift(4, 1, 60_000) + shift(4, 3, 60_000)),
        ("queued",),
    ),
    Scenario("both_ways", lambda: star(2), one([(0, 1, 0, 90_000, ()), (1, 0, 0, 90_000, ())]), ("ties",)),
    Scenario("permutation", lambda: leaves(4, 2, 2), one(shift(8, 4, 60_000)), control="none"),
    Scenario(
        "fat_tree", lambda: FatTree(k=4).build(), one(shift(16, 8, 50_000) + shift(16, 5, 9_999)), ("queued", "ties")
    ),
    Scenario(
        "two_tier_fat_tree_at_400g",
        lambda: FatTree(k=4, tiers=2, rate=400 * GIGABIT, buffer=20_000, delay=500 * NANOSECOND).build(),
        one(shift(8, 3, 150_000)),
        ("data_dropped", "retransmitted"),
        control="none",
    ),
]

SCHEDULES = [
    Scenario("ring", lambda: star(4), one(ring(4, 6, 20_000)), ("ties",)),
    Scenario("ring_in_pieces", lambda: leaves(2, 3, 1), one(ring(6, 5, 5_000, pieces=4)), ("queued", "ties"), window=4),
    Scenario("all_to_all", lambda: leaves(2, 4, 2), one(all_to_all(8, 12_345)), ("queued", "ties")),
    Scenario(
        "after_own_row_is_acked",
        lambda: star(3),
        one(
            [
                (0, 1, 0, 9000, ()),
                (0, 2, 0, 9000, (0,)),
                (0, 1, 0, 9000, (1,)),
                (2, 0, 0, 5000, (1,)),
                (0, 1, 1, 4000, (3, 2)),
            ]
        ),
    ),
    Scenario(
        "one_ack_frees_several_rows",
        lambda: star(4, at=queue(4), control_class="shared"),
        one(
            [(0, 1, 0, 4096, ())] * 6
            + [(0, 2 + k % 2, 0, 6000, (5 - k,)) for k in range(6)]
            + [(1, 0, c, 60_000, ()) for c in range(3)]
            + [(2, 0, 0, 60_000, ()), (3, 0, 0, 60_000, ())]
        ),
        ("acks_dropped", "data_dropped", "acked_together"),
        timeout_ps=50 * US,
    ),
    Scenario(
        "rank_comes_late",
        lambda: star(3),
        one(ring(3, 4, 30_000), 0, 2 * US + 77, 40 * US),
        ("early_rows",),
    ),
    Scenario(
        "late_rank_releases_in_row_order",
        lambda: star(3),
        one(
            [
                (1, 0, 0, 60_000, ()),
                (2, 0, 0, 5_000, ()),
                (0, 1, 0, 20_000, (0,)),
                (0, 2, 1, 20_000, ()),
                (0, 2, 0, 20_000, (1,)),
            ],
            50 * US,
            0,
            0,
        ),
        ("early_rows",),
    ),
    Scenario(
        "last_send_ends_after_last_receive",
        lambda: star(2),
        one([(0, 1, 0, 4096, ()), (1, 0, 0, 100, ())], 2 * US, 0),
    ),
    Scenario(
        "two_collectives_overlap",
        lambda: star(4),
        (
            Collective(ring(4, 4, 20_000), (0, 500 * NANOSECOND, 0, 3 * US)),
            Collective(shift(2, 1, 30_000), (1 * US, 0), members=(1, 2)),
            Collective([(0, 1, 7, 25_000, ()), (1, 0, 0, 4096, ())], (2 * US, 2 * US), members=(3, 0)),
        ),
        ("queued",),
        window=6,
        hosts=(2, 0, 3, 1),
    ),
    Scenario(
        "one_after_the_other",
        lambda: star(4),
        (
            Collective(shift(4, 1, 20_000)),
            Collective(shift(4, 2, 20_000, channel=1), waits=(0,)),
            Collective(ring(4, 3, 9_000), waits=(1, 0)),
            Collective(shift(4, 3, 20_000), waits=(0,)),
        ),
        ("ties", "queued"),
    ),
]

SERVERS = [
    Scenario("inside_a_server", lambda: rails(1, 4), one(ring(4, 3, 100_001)), ("ties",)),
    Scenario("rails_and_nvlink", lambda: rails(2, 2), one(ring(4, 6, 70_000, pieces=2)), ("transit",)),
    Scenario(
        "transit_against_own",
        lambda: rails(2, 4),
        one([(0, 5, 0, 60_000, ()), (1, 5, 0, 60_000, ()), (2, 5, 1, 60_000, ()), (1, 6, 0, 60_000, ())]),
        ("transit", "queued"),
        window=12,
    ),
    Scenario(
        "everybody_over_one_rail_with_losses",
        lambda: rails(3, 2, at=queue(6, 2, 5, 0.5)),
        one([(s, 4, 0, 60_000, ()) for s in range(4)] + shift(6, 2, 50_000)),
        ("transit", "marks", "data_dropped", "retransmitted"),
        control="dctcp",
        window=12,
    ),
    Scenario(
        "turns_are_skipped_beside_transit",
        lambda: rails(3, 2, at=queue(100, 1, 4, 0.9)),
        one([(1, 4, 0, 90_000, ()), (2, 4, 0, 90_000, ())] + [(0, 4, c, 200_000, ()) for c in range(5)]),
        ("transit", "marks", "skipped_turns"),
        control="dctcp",
        window=15,
        seed=3,
    ),
    Scenario(
        "slow_nvlink_queues_in_transit",
        lambda: rails(2, 3, scale_up_gigabits=800),
        one(all_to_all(6, 50_000)),
        ("transit", "queued"),
        window=9,
    ),
]

SCENARIOS = {s.name: s for s in SIMPLE + SCHEDULES + LOSSES + MARKS + SERVERS}
SCENARIOS["dctcp_ramp_other_seed"] = replace(SCENARIOS["dctcp_ramp"], name="dctcp_ramp_other_seed", seed=8)
