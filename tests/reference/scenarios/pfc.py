"""Scenarios with priority flow control (PFC): what stops hosts, switches and ACKs, and what is lost in spite of it."""

from dataclasses import replace

from netsim.topology.fat_tree import FatTree
from netsim.topology.pfc import Pfc
from tests.reference.scenarios.networks import (
    PACKET,
    US,
    all_to_all,
    incast,
    leaves,
    line,
    loop,
    queue,
    rails,
    ring,
    shift,
    star,
)
from tests.reference.scenarios.scenario import Scenario, one, scenarios

LOST = "data_dropped acks_dropped retransmitted"


def pauses(xoff: int, xon: int, headroom: int | None = None) -> Pfc:
    """Flow control with thresholds in full packets."""
    return Pfc(xoff=xoff * PACKET, xon=xon * PACKET, headroom=None if headroom is None else headroom * PACKET)


CROSSING = [*incast(3, 90_000), (0, 1, 0, 80_000, ()), (0, 2, 0, 80_000, ())]  # ACKs meet data at every port
INTO_ONE_LEAF = [(s, 0, 0, 90_000, ()) for s in (1, 2, 4, 5, 6, 7)]
TO_ONE_RAIL = [(s, 4, c, 60_000, ()) for s in range(4) for c in range(2)]

# fmt: off
LOSSLESS = scenarios(
    Scenario("pfc_strict", star(4, at=queue(40), pfc=pauses(4, 2)), one(CROSSING),
             "pauses paused_ps hosts_stopped queued resumed_at_once", f"{LOST} acks_stopped", control="none"),
    Scenario("pfc_shared", star(4, pfc=pauses(4, 2), control_class="shared"), one(CROSSING),
             "pauses hosts_stopped acks_stopped", LOST, control="none"),
    Scenario("pfc_stops_two_tiers_of_switches_and_the_hosts", leaves(2, 4, 1, pfc=pauses(3, 1)), one(INTO_ONE_LEAF),
             "hosts_stopped switches_stopped", LOST, control="none"),
    Scenario("pfc_stops_two_tiers_shared", leaves(2, 4, 1, pfc=pauses(3, 1), control_class="shared"),
             one([*INTO_ONE_LEAF, *shift(8, 4, 50_000, channel=1)]), "hosts_stopped switches_stopped acks_stopped",
             LOST),
    Scenario("pfc_fat_tree", FatTree(k=4, pfc=pauses(3, 2)).build(),
             one(incast(15, 40_000) + shift(16, 5, 30_000, channel=1)),
             "hosts_stopped switches_stopped ties signal_ties", LOST, control="none"),
    # the last is innocent
    Scenario("pfc_head_of_line", leaves(2, 3, 1, pfc=pauses(3, 1)),
             one([(1, 0, 0, 200_000, ()), (3, 0, 0, 200_000, ()), (4, 2, 0, 100_000, ())]),
             "switches_stopped hosts_stopped", LOST, control="none"),
    # more than xoff is never held
    Scenario("pfc_without_headroom_drops", star(5, pfc=pauses(4, 2, headroom=0)), one(incast(4, 90_000)),
             "data_dropped naks retransmitted", "pauses", control="none"),
    Scenario("pfc_shared_without_headroom_drops_acks", star(4, pfc=pauses(3, 1, headroom=1), control_class="shared"),
             one(CROSSING), "data_dropped acks_dropped acks_stopped timeouts", control="none", timeout_ps=30 * US),
    # what two delays and two packets in transmission bring: 9 packets at most
    Scenario("pfc_headroom_to_the_byte", star(5, pfc=pauses(2, 2, headroom=8)), one(incast(4, 120_000)), "pauses", LOST,
             control="none"),
    Scenario("pfc_headroom_one_packet_short", star(5, pfc=pauses(2, 2, headroom=7)), one(incast(4, 120_000)),
             "pauses data_dropped", control="none"),
    Scenario("pfc_xon_is_xoff", star(3, delays_ns=(100,), pfc=pauses(1, 1)), one(incast(2, 120_000, channels=2)),
             "pauses resumed_at_once", LOST, control="none"),
    Scenario("pfc_xon_zero", star(3, pfc=pauses(1, 0)), one([*incast(2, 120_000), (0, 1, 0, 90_000, ())]), "pauses",
             LOST),
    # 4000 bytes take 320 ns, a delay 960 ns
    Scenario("pfc_signals_meet_arrivals", star(5, delays_ns=(960,), pfc=Pfc(xoff=4000, xon=0)),
             one(incast(4, 3936 * 40) + [(0, s, 0, 3936 * 40, ()) for s in range(1, 5)]), "signal_ties ties pauses",
             LOST, control="none", payload=3936, ack=4000),
    Scenario("pfc_slow_middle", line(4, gigabits=(100, 100, 100, 40, 100), pfc=pauses(2, 1)),
             one([(0, 1, 0, 300_000, ())]), "switches_stopped hosts_stopped", LOST, control="none"),
    Scenario("pfc_stops_transit", rails(3, 2, pfc=Pfc(xoff=20_000, xon=8_000)), one(TO_ONE_RAIL),
             "transit hosts_stopped transit_stopped", LOST, control="none"),
    Scenario("pfc_stops_transit_shared", rails(3, 2, pfc=Pfc(xoff=20_000, xon=8_000), control_class="shared"),
             one([*TO_ONE_RAIL, (4, 0, 0, 90_000, ()), (4, 2, 0, 90_000, ())]), "transit transit_stopped acks_stopped",
             LOST, control="none"),
    Scenario("pfc_with_dctcp", leaves(2, 4, 1, at=queue(100, 2, 6, 0.8), pfc=pauses(4, 2)),
             one(INTO_ONE_LEAF + shift(8, 3, 40_000, channel=1)), "ecn_marks pauses switches_stopped", LOST,
             control="dctcp", window=30),
    Scenario("pfc_waits_longer_than_the_time_out", line(3, gigabits=(100, 100, 1, 100), pfc=pauses(3, 1)),
             one([(0, 1, 0, 90_000, ())]), "pauses timeouts retransmitted", "data_dropped", timeout_ps=16 * US),
    Scenario("pfc_by_the_length_of_queues",
             leaves(2, 4, 2, at=queue(40, 5, 20), pfc=Pfc(xoff="unlimited", xon="unlimited")),
             one([*INTO_ONE_LEAF, *incast(7, 200_000, channels=2), (0, 5, 0, 300_000, ()), (1, 5, 0, 300_000, ())]),
             "queues_too_long hosts_stopped switches_stopped ecn_marks", LOST, control="none"),
    Scenario("pfc_by_the_length_of_small_queues_and_by_accounts",
             star(6, at=queue(12), pfc=pauses(3, 2), control_class="shared"),
             one([*incast(5, 200_000), *shift(6, 2, 90_000, channel=1), *shift(6, 3, 90_000, channel=2)]),
             "queues_too_long hosts_stopped acks_stopped", LOST, control="none"),
    Scenario("pfc_without_headroom_drops_beyond_the_buffer",
             star(5, at=queue(10), pfc=Pfc(xoff="unlimited", xon="unlimited", headroom=0)), one(incast(4, 90_000)),
             "data_dropped naks retransmitted", control="none"),
    Scenario("pfc_never_stops_nvlink", rails(2, 4, scale_up_gigabits=450, pfc=pauses(1, 1)),
             one(all_to_all(8, 90_000) + incast(7, 60_000)), "transit queued hosts_stopped", LOST, control="none",
             payload=30_000, scale_up_payload=60_000),
    Scenario("pfc_ring", leaves(2, 3, 1, pfc=pauses(1, 0)), one(ring(6, 5, 20_000, pieces=3)), "", LOST),
)
# fmt: on

DEADLOCK = Scenario(
    "pfc_deadlock", loop(5, pfc=pauses(2, 1)), one(shift(5, 2, 400_000)), "switches_stopped", control="none"
)


def innocent_alone(scenario: Scenario) -> Scenario:
    """Give the same without the flows that cause the congestion: only the last row is left."""
    return replace(scenario, collectives=one(scenario.collectives[0].rows[-1:]), shows="")
