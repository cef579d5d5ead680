"""ConnectX-5 at 100 Gb/s, four hosts on one switch: what was measured at the hosts, as far as today's parts go.

Published in openfabric-systems/simllm (docs/design/rnic-anomaly-table.md, examples/hacc_fabric_v1): 515 ns from NIC to
switch and from switch to NIC, reliable connections with go-back-N, a switch that drops at the tail at 5.2 MB, without
marks and pauses. Not here: the congestion notifications that such a NIC makes of missing packets by itself, so that
nothing slows the senders of the incast down, and their goodput is lower than measured.
"""

from collections.abc import Iterator
from typing import Any

from netsim.result import Result
from netsim.simulation import simulate
from netsim.validate.bench import US, Pair, incast, matrix, star
from netsim.validate.nouns import Figure, at_least, between, near

MIB = 1 << 20
LONG = 64 * MIB
MESSAGES = 12  # of 1 MiB, of each sender of the incast
LINE_GBPS = 100.0
HOSTS = 4
SWITCH = {"rate": "100Gb/s", "delay": "515ns", "buffer": "5200000B", "ecn": "off", "pfc": "off"}
# 64 bytes of headers, and 20 that Ethernet adds on the wire: preamble and the gap between frames (IEEE 802.3).
HEADER = 64 + 20
ACK = 4  # a NIC answers many packets with one ACK, netsim each one: of an ACK only its AETH counts


def connectx5(full: bool) -> Iterator[Figure]:
    """Latency, goodput of a ring and its dependence on the MTU, and two senders to one host."""
    write = _run([(0, 1)], 2)
    yield near("2 B write, answered", 2.08, float(write.flows["acked_ps"][0]) / US, 0.01, " us")
    ring = [(host, (host + 1) % HOSTS) for host in range(HOSTS)]
    large, small = (_goodput_gbps(_run(ring, LONG, payload)) for payload in (4096, 1024))
    yield near("ring of four: goodput of a port", 97.98, large, 0.01, " Gb/s")
    yield between("goodput that an MTU of 1024 costs against 4096", 4.6, 6.6, 100 * (1 - small / large), " %")
    yield from _two_to_one()


def _two_to_one() -> Iterator[Figure]:
    """Both senders get alike, the wire is full, and much of what it carries has arrived before."""
    run = _run(incast(2) * MESSAGES, MIB)
    first, last = (float(each(run.flows["delivered_ps"])) for each in (min, max))
    port = run.links[run.links["target"] == "host0"].iloc[0]
    yield between("2 to 1: how much sooner one ends than the other", 0, 2, 100 * (1 - first / last), " %")
    yield at_least("2 to 1: wire into the receiver", 0.99 * LINE_GBPS, _gbps(port["bytes"], last), " Gb/s")
    goodput = _gbps(run.flows["bytes"].sum(), last)
    yield between("2 to 1: goodput, well below that", 0, 0.9 * LINE_GBPS, goodput, " Gb/s")


def _run(pairs: list[Pair], size: int, payload: int = 4096) -> Result:
    """Line-rate senders with the jitter of hardware; a time-out as long as what can wait in queues takes."""
    transport = {"control": "dcqcn", "recovery": "go_back_n"}
    packet = {"payload": f"{payload}B", "header": f"{HEADER}B", "ack": f"{ACK}B"}
    trace = matrix(HOSTS, pairs, size)
    return simulate(trace, star(HOSTS, **SWITCH), transport=transport, packet=packet, nic={"jitter": 1})


def _goodput_gbps(run: Result) -> float:
    """The mean over flows."""
    taken = run.flows["delivered_ps"] - run.flows["start_ps"]
    return float((run.flows["bytes"] * 8000 / taken).mean())


def _gbps(size: Any, time_ps: float) -> float:
    return float(size) * 8000 / time_ps
