"""What chance does: hashed paths against the closed form, and wires that lose packets."""

from collections.abc import Iterator
from math import sqrt
from typing import Any

import numpy as np

from netsim.result import Result
from netsim.routing.collisions import expected_largest, expected_slowdown, slowdowns
from netsim.simulation import simulate
from netsim.traces import Operation, Trace
from netsim.transport.registry import REGISTRY
from netsim.validate.bench import FULL, PS_PER_BYTE, fat_tree, last_data_ps, matrix
from netsim.validate.nouns import Figure, near, said

DRAWS = 3000
SIMULATED = 100
LOSSES = (1e-5, 1e-3, 5e-2)
FABRICS = {
    "fat_tree in 3 tiers": fat_tree(4),
    "fat_tree in 2 tiers": fat_tree(8, tiers=2),
    "leaf_spine": {"kind": "leaf_spine", "leaves": 4, "spines": 2, "hosts_per_leaf": 4},
    "rail_optimized": {"kind": "rail_optimized", "servers": 2},
    "htsim": {
        "kind": "htsim",
        "nodes": 16,
        "podsize": 16,
        "tor": {"radix_down": 4, "radix_up": 4},
        "agg": {"radix_down": 4},
    },
}


def hashed_paths(full: bool) -> Iterator[Figure]:
    """8 flows on 8 paths: the fullest path holds 2.597 on average; more queue pairs even that out."""
    for pairs, published in {1: 2.60, 2: 2.10, 4: 1.76, 8: 1.53}.items():
        drawn = slowdowns(8, 8, pairs, draws=DRAWS, seed=1)
        name = f"{pairs} queue pair{'s' if pairs > 1 else ''}: a step is slower by ({published} published), hashed"
        yield near(f"{name} (4 standard errors)", expected_slowdown(8, 8, pairs), float(drawn.mean()), _error(drawn))
    packets, latency = 32, 4 * 10**6 + 3 * FULL * PS_PER_BYTE  # four links; on three of them a packet more
    fabric = {"kind": "leaf_spine", "leaves": 2, "spines": 8, "hosts_per_leaf": 8, "buffer": "unlimited", "ecn": "off"}
    flows = matrix(16, [(host, host + 8) for host in range(8)], packets * 4096)
    runs = [simulate(flows, fabric, transport="none", routing="ecmp", seed=seed) for seed in range(SIMULATED)]
    slower = np.array([(last_data_ps(run) - latency) / (packets * FULL * PS_PER_BYTE) for run in runs])
    name = f"8 flows on 8 paths, simulated with {SIMULATED} seeds: slower by (4 standard errors)"
    yield near(name, expected_largest(8, 8), float(slower.mean()), _error(slower))


def _error(drawn: Any) -> float:
    """Four standard errors of the mean, as a share of it."""
    return 4 * float(drawn.std() / sqrt(len(drawn)) / drawn.mean())


def losses(full: bool) -> Iterator[Figure]:
    """Whatever a wire loses, data or ACKs, a run ends and everything is delivered."""
    for name, fabric in FABRICS.items():
        for recovery in ("go_back_n", "selective_repeat"):
            yield _delivered(f"{name}, {recovery}", [_lossy(fabric, rate, "dcqcn", recovery) for rate in LOSSES])
    for control, kind in REGISTRY.items():
        recovery = "selective_repeat" if kind.receiver_credit else "go_back_n"
        fabrics = FABRICS.values() if full else [FABRICS["fat_tree in 3 tiers"]]
        runs = [_lossy(fabric, rate, control, recovery) for fabric in fabrics for rate in LOSSES]
        yield _delivered(f"{control}, {recovery}", runs)


def _lossy(fabric: dict[str, Any], loss: float, control: str, recovery: str) -> Result:
    transport = {"control": control, "recovery": recovery, "retries": 1 << 20}
    everybody = tuple(range(16))
    trace = Trace("all to all", 16, {}, (Operation("all_to_all", "world", everybody, 16 * 32768),))
    return simulate(trace, fabric | {"loss": loss}, transport=transport, seed=3)


def _delivered(name: str, runs: list[Result]) -> Figure:
    lost = [int(run.links["lost"].sum()) for run in runs]
    whole = all(
        (run.flows["acked_ps"] > 0).all() and run.summary["packets_in_flight"] == 0 and _adds_up(run.summary)
        for run in runs
    )
    got = f"{'all' if whole else 'not all'} delivered; lost {', '.join(map(str, lost))}"
    return said(f"{name} at 1e-5, 1e-3, 5e-2", "all delivered", got, whole and lost[-1] > 0)


def _adds_up(total: dict[str, Any]) -> bool:
    arrived = total["packets_delivered"] + total["packets_trimmed"]
    return bool(total["packets_injected"] == arrived + total["packets_dropped"])
