"""Collectives on an idle network take exactly what store and forward says, and move exactly the bytes they must.

Every pair of hosts is H links apart and no two senders share a link at the same time, but where the formula says so.
With p packets of s ps in a block, a delay of d per link and an ACK of a ps, one block alone needs

    step(p) = (p + H - 1) s + H d

from the start of its first packet to the arrival of its last. The ACK of that last packet and the first packet of the
next step share the receiver's link to the network, and control goes first: every step but the first begins with a wait
of a. Other ACKs find their links idle, as long as a block has left before the first packet of the next one can arrive:
(p - 1) s <= H d, which `Idle.step` asserts.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

import netsim
from tests.traffic import collective

PAYLOAD, HEADER, ACK = 4096, 64, 64
NS, US = 1000, 10**6


@dataclass(frozen=True)
class Idle:
    """n hosts around one switch (2 links between any two), or on a leaf each below one spine (4 links)."""

    links: int
    gigabits: int = 100
    delay_ns: int = 10_000

    def serialise(self, size: int) -> int:
        return -(-size * 8000 // self.gigabits)

    @property
    def packet(self) -> int:
        return self.serialise(PAYLOAD + HEADER)

    @property
    def ack(self) -> int:
        return self.serialise(ACK)

    def step(self, packets: int) -> int:
        """From the first bit of a block to the arrival of its last, on links that nobody else uses."""
        assert (packets - 1) * self.packet <= self.links * self.delay_ns * NS, "ACKs would meet data"
        return (packets + self.links - 1) * self.packet + self.links * self.delay_ns * NS

    def topology(self, hosts: int) -> dict[str, Any]:
        leaves, each = (1, hosts) if self.links == 2 else (hosts, 1)
        shape = {"leaves": leaves, "spines": 1, "hosts_per_leaf": each}
        units = {"rate": f"{self.gigabits}Gb/s", "delay": f"{self.delay_ns}ns", "buffer": "unlimited"}
        return {"kind": "leaf_spine", **shape, **units}

    def run(self, trace: netsim.Trace, **settings: Any) -> netsim.Result:
        return netsim.simulate(trace, self.topology(trace.ranks), transport="none", **settings)

    def time_ps(self, op: str, ranks: int, size: int, algorithm: str | None = None, **settings: Any) -> int:
        (row,) = self.run(collective(op, ranks, size, algorithm), **settings).collectives.itertuples()
        assert 1 <= row.slowdown <= 1.005  # nothing but the operation's own sending counts here
        return int(row.time_ps)


# At 600 Gb/s a packet takes 55,466.67 ps: the link is busy for the next whole picosecond.
NETWORKS = [Idle(2), Idle(4), Idle(2, gigabits=600, delay_ns=900), Idle(4, gigabits=400, delay_ns=500)]
each_network = pytest.mark.parametrize("net", NETWORKS, ids=str)


ONE_PER_RANK = 0


def rounds(ranks: int) -> range:
    """As many as it takes to double 1 until it is no less than the number of ranks."""
    return range((ranks - 1).bit_length())


def round_a_ring(ranks: int) -> list[int]:
    return [1] * (ranks - 1)


def over_tree(ranks: int) -> list[int]:
    """Of 2^m ranks: m levels up, m down, in both trees at once, each with half the buffer.

    All levels but the one at the root have two children: what these send shares the parent's link, up and down. A rank
    that has children in one tree is a leaf of the other, and the trees are mirror images, so at every level they use
    different links.
    """
    inner = [2] * (len(rounds(ranks)) - 1)
    return [*inner, 1, 1, *inner]


def all_it_has(ranks: int) -> list[int]:
    """Or as many blocks as are missing."""
    return [min(1 << step, ranks - (1 << step)) for step in rounds(ranks)]


def bits_of_the_way(ranks: int) -> list[int]:
    """Blocks go 1, 2, 4, ... places: in each round those whose way has this bit."""
    return [sum(way >> step & 1 for way in range(ranks)) for step in rounds(ranks)]


@pytest.mark.parametrize("packets", [1, 6])
@each_network
@pytest.mark.parametrize(
    ("op", "algorithm", "ranks", "blocks", "steps"),
    [
        ("all_reduce", "ring", [2, 4, 7, 8], ONE_PER_RANK, lambda n: 2 * round_a_ring(n)),
        ("reduce_scatter", "ring", [2, 4, 7, 8], ONE_PER_RANK, round_a_ring),
        ("all_gather", "ring", [2, 4, 7, 8], ONE_PER_RANK, round_a_ring),
        # In each round everybody sends one block to another rank, and nobody's link is used twice.
        ("all_to_all", "pairwise", [2, 5, 8], ONE_PER_RANK, round_a_ring),
        ("broadcast", "ring", [2, 5, 8], 1, round_a_ring),
        ("all_reduce", "tree", [2, 4, 8, 16], 2, over_tree),
        # Pairs exchange the buffer.
        ("all_reduce", "recursive_doubling", [2, 4, 8], 1, lambda n: [1] * len(rounds(n))),
        # Halves, quarters and so on of the buffer, down to one block; then up again.
        ("all_reduce", "halving_doubling", [2, 4, 8], ONE_PER_RANK, lambda n: 2 * [1 << step for step in rounds(n)]),
        ("all_gather", "bruck", [2, 3, 5, 7, 8], ONE_PER_RANK, all_it_has),
        ("all_to_all", "bruck", [2, 3, 5, 7, 8], ONE_PER_RANK, bits_of_the_way),
    ],
)
def test_steps_one_after_another(
    net: Idle, packets: int, op: str, algorithm: str, ranks: list[int], blocks: int, steps: Callable[[int], list[int]]
) -> None:
    """The buffer has so many blocks; `steps`: how many a rank sends, or a link carries, in one step after another."""
    for n in ranks:
        expected = sum(net.step(packets * each) for each in steps(n)) + (len(steps(n)) - 1) * net.ack
        assert net.time_ps(op, n, (blocks or n) * packets * PAYLOAD, algorithm) == expected, f"{n} ranks"


@each_network
@pytest.mark.parametrize("ranks", [3, 4, 8])
@pytest.mark.parametrize("pieces", [2, 7, 20])
def test_broadcast_in_a_pipeline(net: Idle, ranks: int, pieces: int) -> None:
    """Pieces of one packet: the first crosses the chain, then a piece arrives whenever a rank has passed one on.

    For each piece such a rank sends an ACK back and a packet on, both over its one link: s + a. There are fewer than
    s / a pieces, so that no two ACKs of later ones get ahead of a packet.
    """
    assert pieces * net.ack < net.packet
    expected = (ranks - 1) * net.step(1) + (ranks - 2) * net.ack + (pieces - 1) * (net.packet + net.ack)
    assert net.time_ps("broadcast", ranks, pieces * PAYLOAD, chunk=PAYLOAD) == expected


SIZE = 16 * 8 * 2 * 1000  # shared out evenly among 8 ranks and 2 channels in units of 16 bytes


@cache
def moved(op: str) -> netsim.Result:
    return Idle(2).run(collective(op, 8, SIZE), channels=2)


@pytest.mark.parametrize(("op", "share"), [("all_reduce", 2), ("reduce_scatter", 1), ("all_gather", 1)])
def test_a_ring_moves_the_least_bytes(op: str, share: int) -> None:
    """Every rank sends and receives 2 (n - 1) / n of the buffer in an all-reduce, half of that in the others."""
    flows = moved(op).flows
    for end in ("src", "dst"):
        assert flows.groupby(end)["bytes"].sum().to_dict() == dict.fromkeys(range(8), share * 7 * SIZE // 8)


@pytest.mark.parametrize("op", ["all_reduce", "reduce_scatter", "all_gather"])
def test_the_links_carry_what_the_flows_say(op: str) -> None:
    """A host's link carries its data, a header for each packet of it, and an ACK for each packet the host received."""
    result = moved(op)
    sent, received = (result.flows.groupby(end)[["bytes", "packets"]].sum() for end in ("src", "dst"))
    for host in range(8):
        out, back = result.link(f"host{host}", "leaf0"), result.link("leaf0", f"host{host}")
        data_out = sent.loc[host, "bytes"] + HEADER * sent.loc[host, "packets"]
        data_back = received.loc[host, "bytes"] + HEADER * received.loc[host, "packets"]
        assert out["bytes"] == data_out + ACK * received.loc[host, "packets"]
        assert back["bytes"] == data_back + ACK * sent.loc[host, "packets"]


def test_a_rail_optimized_ring_stays_on_the_rails() -> None:
    """Channel c enters and leaves every server on rail c, by NVLink to the GPU of rail c: the spine carries nothing."""
    ranks, channels, size = 32, 8, 16 * 32 * 8 * 64
    topology = {"base": "rail_optimized_128", "servers": 4, "buffer": "unlimited"}
    result = netsim.simulate(collective("all_reduce", ranks, size), topology, transport="none")
    flows = result.flows
    between = flows[flows["src"] // 8 != flows["dst"] // 8]
    assert len(between) == 4 * channels
    assert (between["dst"] % 8 == between["channel"]).all()
    assert result.links[result.links["kind"] == "spine"]["packets"].sum() == 0
    edge = 2 * (ranks - 1) * size // (ranks * channels)  # bytes over each edge of a channel's ring
    assert (between["bytes"] == edge).all()
    packets = between["packets"].iloc[0]
    rail_links = result.links[result.links["kind"] == "rail"]
    assert (rail_links["bytes"] == edge + (HEADER + ACK) * packets).all()  # each carries one channel's data and ACKs
