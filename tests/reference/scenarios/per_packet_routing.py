"""Scenarios in which switches choose per packet, and such with several queue pairs per connection."""

from collections.abc import Iterable
from dataclasses import replace

from netsim.topology.fat_tree import FatTree
from netsim.topology.network import Network
from tests.reference.scenarios.networks import (
    DEEP,
    US,
    Cable,
    all_to_all,
    cabled,
    in_servers,
    incast,
    leaves,
    numbered,
    queue,
    rails,
    ring,
    shift,
)
from tests.reference.scenarios.pfc import pauses
from tests.reference.scenarios.scenario import Collective, Scenario, one, scenarios
from tests.reference.switch.per_packet_routing import PerPacket

SPRAY, TURNS, ADAPTIVE = PerPacket("spray"), PerPacket("spray", in_turn=True), PerPacket("adaptive")
REPS = PerPacket("reps", entropies=64)
FLOWLET = PerPacket("flowlet", gap_ps=3 * US, slots=16)
CROSSED = shift(8, 4, 90_000) + shift(8, 5, 30_000, channel=1)
BEHIND_NVLINK = ring(8, 4, 9_000, channel=2) + shift(8, 2, 60_000) + shift(8, 3, 60_000, channel=1)

NO_LOSS = "data_dropped acks_dropped"


def uneven(spines: Iterable[int], gigabits: int = 100) -> Network:
    """Two hosts on each of two leaves, and spines of different rates (Gb/s) and delays: 700 ns, 900 ns, ..."""
    rates = list(spines)
    hosts, tops = numbered("host", 4), numbered("leaf", 2)
    cables = [(host, tops[i // 2], gigabits, 800, DEEP) for i, host in enumerate(hosts)]
    cables += [
        (leaf, f"spine{i}", rate, 700 + 200 * i, queue(40, 5, 20)) for i, rate in enumerate(rates) for leaf in tops
    ]
    return cabled("uneven", hosts, tops + numbered("spine", len(rates)), cables)


def pods(servers: int, gpus: int, spines: int) -> Network:
    """Servers of GPUs in two pods; in each pod a rail switch for each place in a server, and spines that join all."""
    hosts, cables = in_servers(servers, gpus), list[Cable]()
    below, tops = [f"rail{p}.{r}" for p in range(2) for r in range(gpus)], numbered("spine", spines)
    for gpu, (s, r) in hosts.items():
        cables += [(gpu, f"nvswitch{s}", 3600, 300, DEEP), (gpu, f"rail{s % 2}.{r}", 400, 500, DEEP)]
    cables += [(switch, top, 400, 500, DEEP) for switch in below for top in tops]
    switches = [*numbered("nvswitch", servers), *below, *tops]
    return cabled("pods", hosts, switches, cables)


# fmt: off
PER_PACKET = scenarios(
    Scenario("spray", leaves(2, 4, 4), one(CROSSED), "rerouted naks retransmitted", per_packet=SPRAY),
    Scenario("spray_in_turn", leaves(2, 4, 4), one(CROSSED), "rerouted naks", per_packet=TURNS),
    Scenario("spray_and_complain_of_all", FatTree(k=4).build(), one(shift(16, 8, 60_000) + shift(16, 3, 99_999)),
             "rerouted naks overtaken_naks", per_packet=SPRAY, control="none", nak_per_packet=True),
    Scenario("spray_up_and_down_two_tiers", FatTree(k=4).build(), one(shift(16, 8, 60_000) + shift(16, 3, 9_999)),
             "rerouted naks ties", per_packet=SPRAY, control="none", seed=9),
    Scenario("spray_loses_and_marks", leaves(2, 4, 3, at=queue(9, 2, 7, 0.6)), one(incast(7, 60_000) + CROSSED),
             "rerouted ecn_marks data_dropped naks", per_packet=SPRAY, control="dctcp", window=12, seed=5),
    Scenario("spray_loses_acks", leaves(2, 3, 2, at=queue(5), control_class="shared"),
             one([*shift(6, 3, 50_000), *shift(6, 4, 50_000, channel=1), *incast(3, 40_000)]),
             "rerouted acks_dropped data_dropped", per_packet=SPRAY, timeout_ps=64 * US),
    Scenario("spray_with_pfc", leaves(2, 4, 2, at=queue(100), pfc=pauses(4, 2)), one(incast(7, 90_000) + CROSSED),
             "rerouted switches_stopped naks", NO_LOSS, per_packet=SPRAY, control="none"),
    *(Scenario(f"{how.mode}_behind_nvlink", pods(4, 2, spines=3), one(BEHIND_NVLINK), f"transit rerouted {shows}",
               per_packet=how) for how, shows in ((SPRAY, "naks"), (REPS, "reused"))),
    Scenario("adaptive", leaves(2, 4, 4, at=queue(60, 5, 20, 0.5)), one(CROSSED + incast(7, 20_000, channels=1)),
             "rerouted avoided_a_queue ecn_marks", per_packet=ADAPTIVE, control="dctcp"),
    Scenario("adaptive_over_uneven_links", leaves(3, 2, 3, delays_ns=(700, 1300)),
             one(shift(6, 2, 80_000) + shift(6, 3, 44_444, channel=1)), "rerouted avoided_a_queue", per_packet=ADAPTIVE,
             control="none"),
    Scenario("adaptive_with_pfc", leaves(2, 4, 2, at=queue(100, 2, 8, 0.5), pfc=pauses(3, 2), control_class="shared"),
             one(incast(7, 60_000) + CROSSED), "rerouted avoided_a_queue switches_stopped cnps", NO_LOSS,
             per_packet=ADAPTIVE, control="dcqcn", window="bdp", dcqcn={"cnp_interval": 5 * US}),
    Scenario("flowlets", leaves(2, 4, 4),
             one([(s, s + 4, 0, 8192, (s + 4 * (k - 1),) if k else ()) for k in range(8) for s in range(4)]),
             "rerouted new_flowlets", "naks", per_packet=FLOWLET),
    Scenario("flowlets_of_bursts", leaves(2, 4, 3, at=queue(12)),
             (Collective(CROSSED), Collective(shift(8, 4, 40_000), tuple(range(20 * US, 100 * US, 10 * US)))),
             "rerouted new_flowlets data_dropped", per_packet=replace(FLOWLET, slots=2), window=20),
    Scenario("reps", leaves(2, 4, 4, at=queue(40, 3, 12, 0.8)), one(CROSSED), "rerouted reused ecn_marks naks",
             per_packet=REPS, control="dctcp"),
    Scenario("reps_loses", leaves(2, 3, 2, at=queue(7, 2, 5, 0.5)), one(shift(6, 3, 90_000) + incast(5, 30_000)),
             "rerouted reused data_dropped timeouts", per_packet=REPS, timeout_ps=30 * US),
    Scenario("reps_with_pfc", leaves(2, 4, 3, at=queue(100, 1, 4, 0.9), pfc=pauses(4, 2), control_class="shared"),
             one(CROSSED + incast(7, 30_000)), "rerouted reused ecn_marks switches_stopped", NO_LOSS, per_packet=REPS,
             control="none"),
)

SEVERAL = scenarios(
    Scenario("queue_pairs_in_turn", leaves(2, 4, 4),
             (Collective(ring(8, 3, 30_000) + shift(8, 4, 50_000, channel=1)),
              Collective(shift(8, 4, 20_000), waits=(0,)), Collective(shift(8, 4, 20_000), waits=(1,))),
             "queued", queue_pairs=3),
    Scenario("queue_pairs_split", leaves(2, 4, 4, at=queue(20)), one(ring(8, 4, 70_001, pieces=2)), "queued",
             queue_pairs=4, split=True, window=6),
    Scenario("queue_pairs_lose", leaves(2, 3, 2, at=queue(6, 2, 5, 0.5)),
             one([*incast(5, 60_000), *shift(6, 3, 4097), *shift(6, 2, 1)]), "data_dropped ecn_marks retransmitted",
             queue_pairs=5, split=True, control="dctcp"),
    Scenario("queue_pairs_over_a_relay", rails(2, 3),
             (Collective(all_to_all(6, 50_000)), Collective(ring(6, 3, 20_000, channel=1))), "transit", queue_pairs=2,
             split=True),
)

UNEVEN = scenarios(
    *(Scenario(f"the_window_of_{control}_follows_all_ways", uneven((25, 100, 50, 100)),
               one([(0, 2, 0, 400_000, ()), (0, 3, 1, 90_000, ()), (2, 1, 0, 150_000, ())]), "rerouted queued",
               per_packet=SPRAY if control != "swift" else ADAPTIVE, control=control,
               recovery="go_back_n" if control == "hpcc" else "selective_repeat")
      for control in ("window", "dctcp", "swift", "hpcc", "nscc", "ndp")),
    window="bdp", places=1 << 20, reordering=256,
)
# fmt: on

ROUTED = PER_PACKET | SEVERAL | UNEVEN
