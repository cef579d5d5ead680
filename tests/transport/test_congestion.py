"""Congestion and loss show where they must, nowhere else; whatever is lost arrives in the end."""

from functools import cache
from statistics import fmean

import numpy as np
import pytest
from numpy.typing import NDArray

import netsim
from netsim.routing import Ecmp
from tests.traffic import collective, flows

FULL_PACKET = 4160  # bytes on the wire
SEEDS = [1, 2, 3]
TRANSPORTS = {
    "window": {"control": "window"},
    "large window": {"control": "window", "window": 150},
    "dctcp": {"control": "dctcp"},
    "dctcp, large first window": {"control": "dctcp", "window": 150},
}
PERMUTATION = [(s, (s + 64) % 128) for s in range(128)]
FABRIC = netsim.load_topology("fat_tree_k8_100g")  # 100 packets of buffer, marks from 20 on


@cache
def permuted(transport: str, seed: int) -> netsim.Result:
    """2 MB from every host to the host half the fabric away, over hashed paths."""
    return netsim.simulate("perm128", FABRIC, transport=TRANSPORTS[transport], seed=seed)


each_run = pytest.mark.parametrize(("transport", "seed"), [(each, seed) for each in TRANSPORTS for seed in SEEDS])


def flows_per_link(seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many flows were hashed onto each link; and how many of them had every link to themselves until then."""
    network = FABRIC.build()
    source, target = np.array(PERMUTATION).T
    routes = Ecmp().routes(network, source, target, np.zeros(128, np.int32), seed)
    on_link = np.bincount(routes.links, minlength=len(network.links))
    unhindered = np.zeros_like(on_link)
    for flow in range(len(routes)):
        for link in routes.of(flow):
            unhindered[link] += 1
            if on_link[link] > 1:
                break
    return on_link, unhindered


@each_run
def test_queues_are_where_hashing_put_several_flows(transport: str, seed: int) -> None:
    """A link with one flow is never congested; one where flows at full speed meet is.

    In between are links whose flows have been slowed down before they meet, or already came over one link.
    """
    links = permuted(transport, seed).links
    congested = (links["drops"] + links["ecn_marks"] > 0).to_numpy()
    on_link, unhindered = flows_per_link(seed)
    assert 0 < congested.sum() < (on_link > 0).sum()
    assert not np.any(congested & (on_link < 2))
    assert np.all(congested[unhindered > 1])


@each_run
def test_nothing_is_unaccounted_for(transport: str, seed: int) -> None:
    result = permuted(transport, seed)
    total = result.summary
    assert total["packets_injected"] == total["packets_delivered"] + total["packets_dropped"]
    assert total["packets_in_flight"] == total["acks_in_flight"] == 0
    assert total["acks_injected"] == total["packets_delivered"] == total["acks_delivered"] + total["acks_dropped"]
    assert total["packets_dropped"] == total["drops"] == result.links["drops"].sum() == result.flows["dropped"].sum()
    assert total["retransmitted_packets"] == result.flows["retransmitted"].sum() >= total["packets_dropped"]
    assert total["packets_injected"] == result.flows["packets"].sum()


@each_run
def test_all_data_arrives(transport: str, seed: int) -> None:
    """The last link of every flow carried each of its packets at least once, and the last ACK came back."""
    result = permuted(transport, seed)
    packets = -(-2_000_000 // 4096)
    assert (result.flows["bytes"] == 2_000_000).all()
    assert (result.flows["packets"] == packets + result.flows["retransmitted"]).all()
    assert (result.flows["acked_ps"] > result.flows["delivered_ps"]).all()
    for host in range(128):
        arrived = result.link(f"tor{host // 4}", f"host{host}")
        assert arrived["bytes"] >= 2_000_000 + 64 * packets


def test_large_windows_lose_packets() -> None:
    """So that the tests above are about losses too."""
    for transport in ("large window", "dctcp, large first window"):
        assert min(permuted(transport, seed).summary["drops"] for seed in SEEDS) > 1000


@pytest.mark.parametrize("transport", ["window", "dctcp"])
def test_slowdown_grows_with_oversubscription(transport: str) -> None:
    """A permutation between leaves, over three hashes; no run is faster than the links above the leaves allow."""
    size, pairs = 2_000_000, [(s, (s + 8) % 32) for s in range(32)]
    slowdowns = []
    for over in (1, 2, 4):
        fabric = f"leaf_spine_32_{over}to1"
        runs = [netsim.simulate(flows(32, pairs, size), fabric, transport=transport, seed=seed) for seed in SEEDS]
        assert min(run.collectives["time_ps"][0] for run in runs) > over * size * 80  # 80 ps a byte at 100 Gb/s
        slowdowns.append(fmean(run.collectives["slowdown"][0] for run in runs))
    assert slowdowns == sorted(slowdowns)
    assert slowdowns[0] < 0.95 * slowdowns[1] < 0.95**2 * slowdowns[2]


@pytest.mark.parametrize("transport", ["window", "dctcp"])
@pytest.mark.parametrize("size", [1 << 20, 1 << 24])
@pytest.mark.parametrize("seed", SEEDS)
def test_all_to_all_likes_rails(transport: str, size: int, seed: int) -> None:
    """32 GPUs with a 400 Gb/s NIC each: four servers on eight rails against four leaves, 2 to 1, with equal ports."""
    rails = netsim.load_topology({"base": "rail_optimized_16", "servers": 4})
    port = {"rate": "400Gb/s", "delay": "500ns", "buffer": rails.buffer, "ecn": rails.ecn.model_dump()}
    leaves = netsim.load_topology({"base": "leaf_spine_32_2to1", **port})
    times = [
        netsim.simulate(collective("all_to_all", 32, size), each, transport=transport, seed=seed).collectives["time_ps"]
        for each in (rails, leaves)
    ]
    assert times[0][0] <= times[1][0]


@cache
def incast(control: str) -> netsim.Result:
    """Four hosts send 32 MB to a fifth; windows of 100 packets at first, deep queues that mark from 20 packets on."""
    star = {"kind": "leaf_spine", "leaves": 1, "spines": 1, "hosts_per_leaf": 5, "buffer": "unlimited"}
    pairs = [(s, 4) for s in range(4)]
    return netsim.simulate(flows(5, pairs, 32_000_000), star, transport={"control": control, "window": 100})


def test_dctcp_keeps_queues_short() -> None:
    """A fixed window fills the queue for good; DCTCP drains it to about where marking begins, at no cost in time."""
    ports = {control: incast(control).link("leaf0", "host4") for control in ("window", "dctcp")}
    assert ports["window"]["mean_queue_bytes"] > 300 * FULL_PACKET
    assert ports["dctcp"]["mean_queue_bytes"] < 80 * FULL_PACKET
    assert ports["dctcp"]["ecn_marks"] > 0
    times = {control: incast(control).summary["completion_time_ps"] for control in ports}
    assert times["dctcp"] < 1.01 * times["window"]


TIMEOUT_PS = 100_000_000


def test_lost_tails_come_again_after_a_timeout() -> None:
    """No later packet tells the receiver of the loss of the only one, so its sender waits until its time is out.

    All wait equally long, so they collide again at a port with room for one packet: one gets through in each round.
    """
    star = {"kind": "leaf_spine", "leaves": 1, "spines": 1, "hosts_per_leaf": 6, "buffer": "4160B"}
    transport = {"control": "window", "timeout": "100us"}
    result = netsim.simulate(flows(6, [(s, 0) for s in range(1, 6)], 4096), star, transport=transport)
    arrivals = np.sort(result.flows["delivered_ps"])
    assert np.all(np.diff(arrivals) >= TIMEOUT_PS)
    assert np.all(np.diff(arrivals) <= TIMEOUT_PS + TIMEOUT_PS // 16)  # time-outs are looked for 16 times as often
    assert sorted(result.flows["retransmitted"]) == sorted(result.flows["dropped"]) == [0, 1, 2, 3, 4]


def test_a_gap_is_told_without_a_timeout() -> None:
    """Where later packets do arrive, a NAK comes back within a round trip."""
    star = {"kind": "leaf_spine", "leaves": 1, "spines": 1, "hosts_per_leaf": 3, "buffer": "41600B"}
    pairs = [(1, 0), (2, 0)]
    transport = {"control": "window", "window": 12, "timeout": "20ms"}
    result = netsim.simulate(flows(3, pairs, 4096 * 500), star, transport=transport)
    assert result.summary["drops"] > 0
    assert result.summary["completion_time_ps"] < 1_000_000_000
