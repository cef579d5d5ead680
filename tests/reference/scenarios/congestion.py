"""Scenarios in which packets are lost or marked."""

from __future__ import annotations

from tests.reference.scenarios.networks import MICROSECOND as US
from tests.reference.scenarios.networks import incast, leaves, line, queue, shift, star
from tests.reference.scenarios.scenario import Collective, Scenario, one

CROSSING = [
    (2, 1, 0, 90_000, ()),
    (3, 1, 0, 90_000, ()),
    (1, 2, 0, 80_000, ()),
    (1, 3, 0, 80_000, ()),
]  # ACKs meet data

LOSSES = [
    Scenario("incast_drops", lambda: star(9, at=queue(20)), one(incast(8, 80_000)), ("data_dropped", "naks", "ties")),
    Scenario(
        "tail_losses_time_out",
        lambda: star(7, at=queue(2)),
        one(incast(6, 4096)),
        ("data_dropped", "timeouts", "retransmitted"),
        timeout_ps=40 * US,
    ),
    Scenario(
        "no_control_into_a_shallow_buffer",
        lambda: leaves(2, 3, 1, at=queue(6)),
        one(shift(6, 3, 90_000)),
        ("data_dropped", "naks", "retransmitted"),
        control="none",
    ),
    Scenario(
        "needless_time_outs",
        lambda: line(1, gigabits=(100,), delay_ns=20_000),
        one([(0, 1, 0, 100_000, ())]),
        ("timeouts", "retransmitted"),
        timeout_ps=30 * US,
        window=8,
    ),
    Scenario(
        "everything_on_the_tick",
        lambda: star(5, at=queue(3)),
        (
            Collective(incast(4, 3936 * 6), (0, 0, 0, 1 * US, 2 * US)),
            Collective(shift(5, 2, 3936 * 2), (3 * US, 16 * US, 17 * US, 18 * US, 32 * US)),
        ),
        ("timeouts", "data_dropped", "ties"),
        payload=3936,  # 4000 bytes on the wire take 320 ns at 100 Gb/s, and the timer ticks every us
        timeout_ps=16 * US,
    ),
    Scenario(
        "two_channels_lose",
        lambda: star(4, at=queue(5), delays_ns=(1000, 400)),
        one(incast(3, 60_000, channels=3)),
        ("data_dropped", "retransmitted"),
        window=4,
    ),
    Scenario(
        "shared_queue_loses_acks",
        lambda: star(4, at=queue(5), control_class="shared"),
        one(CROSSING),
        ("acks_dropped", "data_dropped", "retransmitted"),
        timeout_ps=64 * US,
    ),
    Scenario(
        "strict_queue_keeps_acks",
        lambda: star(4, at=queue(5)),
        one(CROSSING),
        ("data_dropped", "retransmitted"),
        timeout_ps=64 * US,
    ),
    Scenario(
        "acks_fill_their_own_class",
        lambda: star(4, at=queue(1)),
        one([(0, target, 0, 40_000, ()) for target in (1, 2, 3)]),
        ("acks_dropped",),
        payload=512,
        header=16,
        ack=900,
        timeout_ps=32 * US,
    ),
]

MARKS = [
    Scenario(
        "dctcp_step", lambda: star(5, at=queue(400, 10, 10)), one(incast(4, 400_000)), ("marks",), control="dctcp"
    ),
    Scenario(
        "dctcp_ramp",
        lambda: star(5, at=queue(60, 4, 40, 0.4)),
        one(incast(4, 400_000)),
        ("marks",),
        control="dctcp",
        window=20,
        seed=7,
    ),
    Scenario(
        "dctcp_ramp_and_drops",
        lambda: leaves(2, 4, 1, at=queue(12, 2, 9, 0.7)),
        one(shift(8, 4, 120_000) + shift(8, 5, 60_000)),
        ("marks", "data_dropped", "retransmitted"),
        control="dctcp",
        window=16,
        seed=99,
    ),
    Scenario(
        "dctcp_shared_queue",
        lambda: star(4, at=queue(30, 3, 20, 0.5), control_class="shared"),
        one(CROSSING * 2),
        ("marks",),
        control="dctcp",
        seed=(1 << 63) - 5,
    ),
    Scenario(
        "dctcp_times_out",
        lambda: star(9, at=queue(3, 1, 1)),
        one(incast(8, 40_000)),
        ("marks", "timeouts", "data_dropped"),
        control="dctcp",
        window=2,
        timeout_ps=20 * US,
    ),
    Scenario(
        "dctcp_channels_take_turns",
        lambda: star(3, at=queue(200, 1, 4, 0.8)),
        one([(1, 0, c, 200_000, ()) for c in range(5)] + [(2, 0, 0, 60_000, ())]),
        ("marks", "skipped_turns"),
        control="dctcp",
        window=12,
    ),
    Scenario("window_ignores_marks", lambda: star(4, at=queue(150, 5, 25, 0.9)), one(incast(3, 200_000)), ("marks",)),
]
