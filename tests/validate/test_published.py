"""Published figures, met exactly: htsim's RoCE runs, uet-htsim's single flow, the drops of an incast.

The fabric is htsim's: a full-bisection fat tree at 100 Gb/s and 1 us per link, packets of 4096 + 64 bytes, ACKs of
64 bytes, senders at line rate, queues without a limit, and one FIFO for data and ACKs in the switches.
Runs of csg-htsim 841d9e7 and spcl/HTSIM 8a33f33.
"""

import pytest

import netsim
from netsim.validate.bench import LOSSLESS, PS_PER_BYTE, ULTRA, US, last_ack_ps, last_data_ps
from tests.core.scenario_runs import build_core
from tests.reference.scenarios.networks import incast, queue, star
from tests.reference.scenarios.scenario import Scenario, one
from tests.traffic import flows

MIB = 1 << 20
FABRIC = {hosts: {"base": f"fat_tree_k{k}_100g", **LOSSLESS} for hosts, k in ((16, 4), (128, 8))}
WIRE, ACK = 4160 * PS_PER_BYTE, 64 * PS_PER_BYTE  # ps


def test_one_flow_over_six_links() -> None:
    """490 packets of 4150 bytes to the last ACK: uet-htsim 176.2 us, the closed form, ACKs of no length, 176.34."""
    result = netsim.simulate(flows(16, [(0, 8)], 490 * 4086), FABRIC[16], transport="none", packet=ULTRA)
    packet = 4150 * PS_PER_BYTE
    assert last_ack_ps(result) == pytest.approx(176.34 * US, rel=1e-3)
    assert last_data_ps(result) == 490 * packet + 5 * packet + 6 * US
    assert last_ack_ps(result) == last_data_ps(result) + 6 * (ACK + US)


PUBLISHED = {  # last data packet in ps, data and control hops
    "ring16": (5_544_109_440, 1_835_008),
    "incast16": (81_791_260_800, 2_686_976),
    "ring128": (699_688_320, 1_376_256),
    "incast128": (86_562_281_600, 2_973_696),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_last_data_packet_and_hops_as_htsim_and_nothing_lost_or_left(name: str) -> None:
    """At full size: 1.4 to 3 million packet hops."""
    hosts, size = (16, 64 * MIB) if name.endswith("16") else (128, 8 * MIB)
    pairs = [(s, (s + 1) % hosts) for s in range(hosts)] if "ring" in name else [(s, 0) for s in range(1, hosts)]
    result = netsim.simulate(flows(hosts, pairs, size), FABRIC[hosts], transport="none")
    summary = result.summary
    assert (last_data_ps(result), summary["packet_hops"]) == PUBLISHED[name]
    assert result.links["packets"].sum() == summary["packet_hops"]
    assert summary["packets_dropped"] == summary["packets_in_flight"] == summary["retransmitted_packets"] == 0
    assert summary["packets_delivered"] == -(-int(result.flows["bytes"].sum()) // 4096)


@pytest.mark.parametrize("name", ["perm", "a2a"])
@pytest.mark.parametrize("hosts", [16, 128])
def test_packet_hops_do_not_depend_on_the_hash(name: str, hosts: int) -> None:
    """perm and a2a of htsim with a 16th and a 4th of their packets: hops per packet are those of the whole."""
    every = range(hosts)
    if name == "perm":
        pairs, packets = [(s, (s + hosts // 2) % hosts) for s in every], 1024 * 16 // hosts
        published = 3_145_728 // 16
    else:
        pairs, packets = [(s, (s + r) % hosts) for r in range(1, hosts) for s in every], {16: 256, 128: 4}[hosts]
        published = {16: 2_686_976, 128: 2_973_696}[hosts] // 4
    result = netsim.simulate(flows(hosts, pairs, 4096 * packets), FABRIC[hosts], transport="none", seed=5)
    assert result.summary["packet_hops"] == published


# From the formula, and from a simulation in slots that has nothing to do with netsim.
INCASTS = [(2, 100, 50, 51), (4, 100, 100, 201), (8, 64, 256, 193), (16, 64, 256, 705), (32, 64, 512, 1473)]
INCASTS += [(64, 32, 1024, 993), (127, 16, 1000, 1017), (3, 10, 40, 0)]
DELAY_NS = 500_000  # so long that nothing is retransmitted before the port has sent all it took


@pytest.mark.parametrize(("senders", "packets", "buffer", "drops"), INCASTS)
def test_incast_drops(senders: int, packets: int, buffer: int, drops: int) -> None:
    """N senders of W packets at port rate into a port with room for B: max(0, N W - (W - 1) - B) first copies are lost.

    A look at the port before the first NAK has come back to its sender, four links after the start.
    """
    assert drops == max(0, senders * packets - (packets - 1) - buffer)
    network = star(senders + 1, delays_ns=[DELAY_NS], at=queue(buffer), control_class="shared")
    rows = one(incast(senders, packets * 4096))
    run = build_core(Scenario("incast", network, rows, control="none", timeout_ps=10**13))
    run.env.run(until=4 * DELAY_NS * 1000)
    port = run.fabric.world.links[1]  # from the switch to host 0
    first_arrival = WIRE + DELAY_NS * 1000
    assert port["drops"] == drops
    assert port["in_flight"]["tail"] == senders * packets - drops
    assert port["free_at"] == first_arrival + (senders * packets - drops) * WIRE
    assert port["longest"] == min(buffer, senders * packets - (packets - 1)) * 4160
