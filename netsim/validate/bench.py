"""What the experiments share: htsim's fabrics, traces of flows that start together, and what is read off results."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from netsim.result import Result
from netsim.simulation import simulate
from netsim.traces import Operation, Trace, Turn

US = 10**6  # ps
PS_PER_BYTE = 80  # 100 Gb/s
FULL = 4160  # bytes of a full packet on the wire
Pair = tuple[int, int]

ULTRA = {"payload": "4086B", "header": "64B"}  # packets of 4150 bytes, as htsim's UEC and EQDS
ULTRA_FLOW = 490 * 4086  # bytes: 2 MB in full packets
ULTRA_ALONE_US = 176.34  # 490 packets over six links to the last ACK: 490 * 0.332 + 12 + 5 * 0.332
ULTRA_QUEUE = {"buffer": "178450B", "ecn": {"kmin": "37350B", "kmax": "145250B"}, "trim": True}
HTSIM_PFC = {"xoff": 15 * 4096, "xon": 12 * 4096}
LOSSLESS = {"buffer": "unlimited", "control_class": "shared"}


def fat_tree(k: int, **fields: Any) -> dict[str, Any]:
    """A full fat tree of k-port switches, 100 Gb/s and 1 us per link."""
    return {"kind": "fat_tree", "k": k, **fields}


def star(hosts: int, **fields: Any) -> dict[str, Any]:
    """So many hosts on one switch."""
    return {"kind": "leaf_spine", "leaves": 1, "spines": 1, "hosts_per_leaf": hosts, **fields}


def matrix(ranks: int, pairs: Iterable[Pair], size: int, turns: tuple[Turn, ...] = ()) -> Trace:
    """Each pair (source, target) gets a flow of `size` bytes."""
    flows = tuple((source, target, size) for source, target in pairs)
    operation = Operation("flows", None, tuple(range(ranks)), size * len(flows), flows=flows, turns=turns)
    return Trace("flows", ranks, {}, (operation,))


def incast(senders: int) -> list[Pair]:
    """Hosts 1 .. senders to host 0."""
    return [(s, 0) for s in range(1, senders + 1)]


def permutation(hosts: int, seed: int, *, apart: int = 1) -> list[Pair]:
    """Everybody sends to one and receives from one, by the seed; never inside a block of `apart` hosts."""
    rng = np.random.default_rng(seed)
    source = np.arange(hosts)
    target = rng.permutation(hosts)
    while np.any(wrong := source // apart == target // apart):
        some = np.flatnonzero(wrong | (rng.random(hosts) < 0.2))
        target[some] = target[rng.permutation(some)]
    return list(zip(source.tolist(), target.tolist(), strict=True))


def ultra(pairs: list[Pair], topology: Any, transport: Any = "uec", size: int = ULTRA_FLOW, **settings: Any) -> Result:
    """Flows of 2 MB as htsim's UEC experiments have them: its NICs have no jitter."""
    ranks = max(max(pair) for pair in pairs) + 1
    settings |= {"packet": ULTRA, "nic": {"jitter": 0}}
    return simulate(matrix(ranks, pairs, size), topology, transport=transport, **settings)


def last_ack_ps(result: Result) -> int:
    """When the last flow's last ACK was back."""
    return int(result.flows["acked_ps"].max())


def first_ack_us(result: Result) -> float:
    """When the last ACK was back of the flow that was through first."""
    return float(result.flows["acked_ps"].min()) / US


def last_ack_us(result: Result) -> float:
    """When the last flow's last ACK was back."""
    return float(result.flows["acked_ps"].max()) / US


def last_data_ps(result: Result) -> int:
    """When the last data packet arrived."""
    return int(result.flows["delivered_ps"].max())


def efficiency(result: Result) -> float:
    """The mean over flows of ideal / actual time, to the last ACK."""
    taken = (result.flows["acked_ps"] - result.flows["start_ps"]) / US
    return float((ULTRA_ALONE_US / taken).mean())
