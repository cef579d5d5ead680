"""Fourteen small fabrics whose critical path is worked out on paper: each split with its arithmetic, and the reason.

Every packet is full: T = 4,160 B at 100 Gb/s = 332,800 ps. An answer is A = 64 B at 100 Gb/s = 5,120 ps. D is the delay
of each cable. Times count from the first packet's first bit. No figure here comes from a run.
"""

from typing import Any

import pytest

from netsim.config import build_scenario
from netsim.config.scenario import Scenario
from netsim.explain import KINDS, Explained, explain
from netsim.explain.reason import reason_of
from netsim.result.reason import ReasonKind
from netsim.topology import LeafSpine
from netsim.traces import Trace
from tests.explain.known import flows, leaf_spine, trace_of, uplinks
from tests.odd_links import OddLinks
from tests.traffic import compute

T, A = 332_800, 5_120
NS, US = 1_000, 1_000_000
PACKET = 4096  # payload
WIRE = 4160
PROPAGATION, SERIALISATION, QUEUEING, PAUSE, THROTTLING, RETRANSMISSION, DEPENDENCY, COMPUTE = KINDS


def slow_exit(**settings: Any) -> LeafSpine:
    """Two hosts on one switch: host0 by 100 Gb/s, host1 by 40 Gb/s, which takes 2.5 T for a packet."""
    slow = {"host1": {"rate_bps": 40 * 10**9}}
    return OddLinks(leaves=1, hosts_per_leaf=2, spines=1, rate="100Gb/s", odd=slow, **settings)


def one_leaf(delay_ns: int, hosts: int = 4) -> LeafSpine:
    return leaf_spine(1, hosts, 1, rate="100Gb/s", delay=f"{delay_ns}ns", buffer="unlimited")


def scenario_of(trace: Trace, topology: LeafSpine, control: str = "none", **settings: Any) -> Scenario:
    chosen = {"control": control, "recovery": "go_back_n", **settings.pop("transport", {})}
    packet = {"payload": "4096B", "header": "64B", "ack": "64B"}
    return build_scenario(trace, topology, transport=chosen, packet=packet, **{"routing": "single", **settings})


def split(trace: Trace, topology: LeafSpine, control: str = "none", **transport: Any) -> Explained:
    """The last collective of a trace, explained."""
    return explain(scenario_of(trace, topology, control, transport=transport))[-1]


def check(found: Explained, kind: ReasonKind, place: str | None, **parts_ps: float) -> None:
    """All parts but these are 0; the reason is this kind at this link."""
    assert found.parts_ps == dict.fromkeys(KINDS, 0) | {name: round(ps) for name, ps in parts_ps.items()}
    reason = reason_of(found)
    assert (reason.kind, reason.link) == (kind, place)


def test_one_packet_is_latency() -> None:
    """Host, leaf, host: it is sent twice and crosses two cables. 2 D = 2 us is more than 2 T = 0.67 us."""
    found = split(trace_of(2, flows((0, 1, PACKET))), one_leaf(1000))
    check(found, ReasonKind.LATENCY, None, propagation=2 * US, serialisation=2 * T)


def test_ten_packets_are_the_hosts_link() -> None:
    """The last is begun at 9 T, leaves its host at 10 T, and is sent once more: 11 T = 3.66 us; D = 100 ns."""
    found = split(trace_of(2, flows((0, 1, 10 * PACKET))), one_leaf(100))
    check(found, ReasonKind.HOST_LINK, "host0->leaf0", propagation=200 * NS, serialisation=11 * T)


def test_a_slower_spine_is_the_slower_link() -> None:
    """25 Gb/s between leaf and spine: 4 T a packet. The first is there at T + D, the tenth leaves at T + D + 40 T.

    Then spine to leaf 4 T and leaf to host T: T + 40 T + 4 T + T = 46 T, and four cables. One flow: nothing collides.
    """
    topology = leaf_spine(2, 1, 1, rate="100Gb/s", delay="100ns", buffer="unlimited", spine={"rate": "25Gb/s"})
    found = split(trace_of(2, flows((0, 1, 10 * PACKET))), topology)
    check(found, ReasonKind.SLOWER_LINK, "leaf0->spine0", propagation=400 * NS, serialisation=46 * T)


def test_three_to_one_is_an_incast() -> None:
    """Three packets come at T + D together; the last waits for two others, 2 T of 4 T + 2 D."""
    found = split(trace_of(4, flows((1, 0, PACKET), (2, 0, PACKET), (3, 0, PACKET))), one_leaf(100))
    check(found, ReasonKind.INCAST, "leaf0->host0", propagation=200 * NS, serialisation=2 * T, queueing=2 * T)


def test_two_receivers_share_their_senders_link() -> None:
    """Of 10 packets to each of two hosts, in turn, the last leaves at 20 T: 10 of another connection, 10 of its own."""
    found = split(trace_of(4, flows((0, 1, 10 * PACKET), (0, 2, 10 * PACKET))), one_leaf(100))
    parts = {"propagation": 200 * NS, "serialisation": 11 * T, "queueing": 10 * T}
    check(found, ReasonKind.HOST_LINK, "host0->leaf0", **parts)


def test_a_window_of_one_packet_is_a_window_limit() -> None:
    """A packet and its answer take R = 2 T + 2 A + 4 D, and then the next may go: four times for five packets.

    The slowest link needs T of R for what the window holds; a larger window would hide R - T. What is left is T each
    time; then the last packet's 2 T and 2 D.
    """
    found = split(trace_of(2, flows((0, 1, 5 * PACKET))), one_leaf(1000), "window", window=1)
    hidden = T + 2 * A + 4 * US
    parts = {"propagation": 2 * US, "serialisation": 2 * T + 4 * T, "throttling": 4 * hidden}
    check(found, ReasonKind.WINDOW_LIMIT, None, **parts)
    assert "with a full window (transport.window) and nothing in the way" in reason_of(found).text


def test_of_a_round_trip_what_the_window_holds_is_sending() -> None:
    """A window of three, D = 100 ns: R = 2 T + 2 A + 4 D = 1,075.84 ns, and 3 T = 998.4 ns: 77.44 ns a trip are lost.

    Nine packets: 1 to 3 are begun at 0, T, 2 T; 4 to 6 R later; 7 to 9 another R. The path of 9 goes back over 6 to 3,
    twice R, and 2 T to the first packet. The exit is idle for 77.44 ns a trip, and sends for 3 T.
    """
    found = split(trace_of(2, flows((0, 1, 9 * PACKET))), one_leaf(100), "window", window=3)
    lost = 2 * T + 2 * A + 400 * NS - 3 * T
    assert lost == 77_440
    parts = {"propagation": 200 * NS, "serialisation": 2 * 3 * T + 2 * T + 2 * T, "throttling": 2 * lost}
    check(found, ReasonKind.HOST_LINK, "host0->leaf0", **parts)


def test_a_window_that_fills_the_wire_costs_nothing() -> None:
    """A window of 20 packets over a spine of 25 Gb/s, 4 T each: R = 10 T + 10 A + 8 D < 80 T: the spine never rests.

    From the last of 100 packets back it is always the one before at the spine, to the first: T, 400 T, 4 T, T and 4 D.
    """
    topology = leaf_spine(2, 1, 1, rate="100Gb/s", delay="1us", buffer="unlimited", spine={"rate": "25Gb/s"})
    found = split(trace_of(2, flows((0, 1, 100 * PACKET))), topology, "window", window=20)
    check(found, ReasonKind.SLOWER_LINK, "leaf0->spine0", propagation=4 * US, serialisation=406 * T)


@pytest.mark.parametrize(
    ("spines", "control", "kind", "link"),
    [
        (4, "none", ReasonKind.HOST_LINK, "host0->leaf0"),  # 400 Gb/s into four times 100
        (4, "window", ReasonKind.WINDOW_LIMIT, None),  # a window for one spine of the four
        (3, "none", ReasonKind.SLOWER_LINK, "leaf0->spine0"),
        (1, "window", ReasonKind.SLOWER_LINK, "leaf0->spine0"),  # which is enough for one
    ],
)
def test_spread_over_several_links_they_carry_as_much_as_all(
    spines: int, control: str, kind: ReasonKind, link: str | None
) -> None:
    """1,000 packets. 16 of them take 5.3 us at 100 Gb/s, a packet and its answer 4.9 us when idle."""
    topology = leaf_spine(2, 1, spines, rate="400Gb/s", delay="500ns", buffer="unlimited", spine={"rate": "100Gb/s"})
    spray = {"routing": {"kind": "spray", "order": "round_robin"}}
    transport = {"recovery": "selective_repeat", "window": 16 if control == "window" else "bdp"}
    transport["selective_repeat"] = {"reordering": 1 << 30}
    scenario = scenario_of(trace_of(2, flows((0, 1, 1000 * PACKET))), topology, control, transport=transport, **spray)
    reason = reason_of(explain(scenario)[0])
    assert (reason.kind, reason.link) == (kind, link)


def paused(xon: str) -> Explained:
    """PFC before an exit of 2.5 T a packet: four packets, xoff 8,000 B (two packets are more)."""
    topology = slow_exit(delay="100ns", buffer="1MB", pfc={"xoff": "8000B", "xon": xon, "headroom": "100000B"})
    return split(trace_of(2, flows((0, 1, 4 * PACKET))), topology)


def test_a_pause_that_starves_the_exit() -> None:
    """RESUME only when nothing is left. 1 is at the switch at T + D and leaves until 3.5 T + D; 2 comes at 2 T + D.

    PAUSE is at the host at 2 T + 2 D, while 3 is sent (2 T to 3 T). 2 leaves until 6 T + D, 3 until 8.5 T + D: RESUME,
    at the host at 8.5 T + 2 D: 4, ready at 3 T, was paused for 5.5 T + 2 D. It takes T, D, 2.5 T and D more.
    """
    parts = {"propagation": 200 * NS, "serialisation": 3 * T + T + 2.5 * T, "pause": 5.5 * T + 200 * NS}
    check(paused("1B"), ReasonKind.SLOWER_LINK, "leaf0->host1", **parts)


def test_a_pause_that_costs_nothing() -> None:
    """RESUME at one packet, 2 T + 2 D earlier: 4 comes at 7 T + 3 D, before 3 has left at 8.5 T + D.

    The exit never stood still: T, four times 2.5 T and 2 D, as without any pause.
    """
    parts = {"propagation": 200 * NS, "serialisation": 11 * T}
    check(paused("4160B"), ReasonKind.SLOWER_LINK, "leaf0->host1", **parts)


def test_who_came_first_counts_where_flows_are_unequal() -> None:
    """20 packets of host 1 and 10 of host 2 to host 0: in turn until 20 T, then 10 of host 1, which its queue holds.

    The last of them stood behind nobody else's; but all of host 2's ten went before some of host 1's.
    """
    found = split(trace_of(4, flows((1, 0, 20 * PACKET), (2, 0, 10 * PACKET))), one_leaf(100))
    parts = {"propagation": 200 * NS, "serialisation": 21 * T, "queueing": 10 * T}
    check(found, ReasonKind.INCAST, "leaf0->host0", **parts)


def test_a_pace_without_congestion_is_a_rate_limit() -> None:
    """TIMELY whose T_high is below any round trip, and which may fall to a quarter of the line: 25 Gb/s, 4 T a packet.

    The first answer comes at R = 2 T + 2 A + 4 D = 4.68 us = 14.05 T, when packets 0 to 14 are begun; it is what the
    next is held against. A round later, at 14 T + R = 28.05 T, packets 0 to 28 are begun and the next is ready at 29 T.
    From it on they are 4 T apart: number 35 is begun at 29 T + 6 * 4 T = 53 T and arrives 2 T + 2 D later. Its way
    back: six times T and 3 T for the pace, and 29 T at line rate.
    """
    timely = {"t_low": "1ns", "t_high": "2ns", "beta": 1.0, "least": 4}
    found = split(trace_of(2, flows((0, 1, 36 * PACKET))), one_leaf(1000), "timely", timely=timely)
    parts = {"propagation": 2 * US, "serialisation": 2 * T + 6 * T + 29 * T, "throttling": 18 * T}
    check(found, ReasonKind.RATE_LIMIT, None, **parts)
    assert "the sender's pace (timely)" in reason_of(found).text


def test_a_packet_that_found_no_room_is_loss_recovery() -> None:
    """An exit of 2.5 T a packet with room for two, four packets: 3 comes at 3 T + D, when 1 (until 3.5 T + D) and 2 are
    there, and is dropped. 4 is accepted at 4 T + D and leaves after 2, from 6 T + D to 8.5 T + D.

    The receiver misses 3 at 8.5 T + 2 D; its NAK takes 2.5 A + A and 2 D: at the sender at S = 8.5 T + 4 D + 3.5 A,
    which sends 3 and 4 again. 4 stands behind 3 at the exit, which is busy for 5 T from S + T + D, and arrives at
    S + 6 T + 2 D. Before S, 3 was begun at 2 T: from then to S it is retransmission, and before that 2 T for 1 and 2.
    """
    found = split(trace_of(2, flows((0, 1, 4 * PACKET))), slow_exit(delay="100ns", buffer=f"{2 * WIRE}B"))
    again = 8.5 * T + 400 * NS + 3.5 * A - 2 * T
    parts = {"propagation": 200 * NS, "serialisation": 2 * T + T + 5 * T, "retransmission": again}
    check(found, ReasonKind.LOSS_RECOVERY, "leaf0->host1", **parts)
    assert "after slower link" in reason_of(found).text


def test_a_late_rank_is_a_straggler() -> None:
    """Rank 1 computes for 50 us and then sends ten packets; rank 0, which sends as many, was there at once."""
    found = split(trace_of(2, compute(1, 50 * US), flows((0, 1, 10 * PACKET), (1, 0, 10 * PACKET))), one_leaf(100))
    check(found, ReasonKind.STRAGGLER, None, propagation=200 * NS, serialisation=11 * T, compute=50 * US)
    assert reason_of(found).rank == 1


@pytest.mark.parametrize(("more", "kind"), [(0, ReasonKind.PASSING_CONGESTION), (1, ReasonKind.ECMP_COLLISION)])
def test_where_a_collision_begins(more: int, kind: ReasonKind) -> None:
    """400 packets of host 0 and 100 of host 1 over one spine, 300 of host 2 over the other: 500 / 400 is just 1.25.

    One packet more is a collision. No oversubscription: spread evenly, 400 packets are what host 0 sends alone.
    """
    topology = leaf_spine(2, 4, 2, rate="100Gb/s", delay="100ns", buffer="unlimited")
    sizes = ((0, 4, 400 * PACKET), (1, 5, (100 + more) * PACKET), (2, 6, 300 * PACKET))
    for seed in range(100):
        scenario = scenario_of(trace_of(8, flows(*sizes)), topology, routing="ecmp", seed=seed)
        first, second, third = uplinks(scenario, [0, 1, 2], [4, 5, 6])
        if first == second != third:
            break
    worst = explain(scenario)[0].attributions[0]
    assert (worst.kind, worst.link) == (kind, first)


def test_an_incast_that_meets_on_its_way_is_the_receivers() -> None:
    """Eight hosts of two leaves send to host 0 over one spine, 200 packets each, and host 1 beside it 100 more.

    They meet at the spine, at 100 Gb/s; but the receiver's link takes 1,700 packets and the spine's 1,600: other paths
    would change nothing.
    """
    topology = leaf_spine(3, 4, 1, rate="100Gb/s", delay="100ns", buffer="unlimited", spine={"rate": "100Gb/s"})
    far = [(host, 0, 200 * PACKET) for host in range(4, 12)]
    found = split(trace_of(12, flows(*far, (1, 0, 100 * PACKET))), topology)
    reason = reason_of(found)
    assert (reason.kind, reason.link) == (ReasonKind.INCAST, "leaf0->host0")
    assert {attribution.kind for attribution in found.attributions if attribution.ps > 0.01 * found.lost_ps} == {
        ReasonKind.INCAST
    }
