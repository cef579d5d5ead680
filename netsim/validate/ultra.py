"""What htsim gives for Ultra Ethernet, EQDS and DCTCP: one flow, incasts, permutations, rings of dependent steps.

spcl/HTSIM htsim_uec, csg-htsim htsim_eqds, and uet-htsim's validate_outputs: 100 Gb/s, 1 us per link, packets of 4150
bytes, trimming, queues of 43 packets that mark from 9 to 35. Times to the last ACK. The matrices are drawn by seed.
"""

from collections.abc import Iterator
from typing import Any

from netsim.result import Result
from netsim.simulation import simulate
from netsim.traces import Turn
from netsim.validate.bench import (
    ULTRA,
    ULTRA_ALONE_US,
    ULTRA_QUEUE,
    Pair,
    efficiency,
    fat_tree,
    first_ack_us,
    incast,
    last_ack_ps,
    last_ack_us,
    matrix,
    permutation,
    ultra,
)
from netsim.validate.nouns import Figure, at_least, between, exactly, near

SMALL = fat_tree(4, **ULTRA_QUEUE)
PULLED = fat_tree(4, **ULTRA_QUEUE | {"buffer": "145250B"})  # EQDS's queues
SPRAYED: dict[str, Any] = {"routing": "spray"}
RECEIVER = {"control": "ndp"}
UEC_BY_FLOW: dict[str, Any] = {"transport": {"preset": "uec"}, "routing": "ecmp"}
HALF_MORE = 54  # packets: 1.5 times what 12 us hold at 100 Gb/s, the largest window of htsim's NSCC


def one_flow(full: bool) -> Iterator[Figure]:
    """V1: 2 MB over six links, alone; and 10 packets, 100, and 2,000,000 bytes, whose last packet is short, exactly."""
    yield near("NSCC", 176.2, last_ack_us(ultra([(0, 8)], SMALL)), 0.002, " us")
    for name, size, published in (("10 packets", 10 * 4086, 17_010_720), ("100 packets", 100 * 4086, 46_890_720)):
        yield exactly(f"NSCC, {name}", published, last_ack_ps(ultra([(0, 8)], SMALL, size=size)), " ps")
    yield exactly("NSCC, 2,000,000 bytes", 176_199_520, last_ack_ps(ultra([(0, 8)], SMALL, size=2_000_000)), " ps")
    pulled = last_ack_us(ultra([(0, 8)], PULLED, RECEIVER, **SPRAYED))
    yield between("receiver-driven", 177.37, 177.8, pulled, " us", 0.02)
    yield at_least("floor under both", ULTRA_ALONE_US, min(pulled, last_ack_us(ultra([(0, 8)], SMALL))), " us")


def incast_15(full: bool) -> Iterator[Figure]:
    """V2: 15 hosts send 2 MB each to one."""
    repeat = {"recovery": "selective_repeat"}
    runs = {
        "NSCC": ultra(incast(15), SMALL),
        "DCTCP": ultra(incast(15), SMALL, {"control": "dctcp"} | repeat, **SPRAYED),
        "fixed window": ultra(incast(15), SMALL, {"control": "window", "window": HALF_MORE} | repeat, **SPRAYED),
        "receiver-driven": ultra(incast(15), PULLED, RECEIVER, **SPRAYED),
    }
    times = {name: last_ack_us(run) for name, run in runs.items()}
    trims = {name: run.summary["trims"] for name, run in runs.items()}
    yield near("NSCC", 2478.5, times["NSCC"], 0.05, " us")
    yield between("NSCC: trims (811)", 811 / 2, 811 * 2, trims["NSCC"])
    yield from _first_to_finish()
    yield near("DCTCP", 2490.8, times["DCTCP"], 0.05, " us")
    yield between("receiver-driven", 2464, 2470, times["receiver-driven"], " us", 0.03)
    yield between("receiver-driven: trims (762)", 762 / 2, 762 * 2, trims["receiver-driven"])
    yield near("fixed window, no control", 2858.6, times["fixed window"], 0.05, " us")
    yield between("fixed window: trims (80592)", 80592 / 2, 80592 * 2, trims["fixed window"])
    yield at_least("floor under all: 15 flows on one link", 15 * 490 * 0.332, min(times.values()), " us")


def _first_to_finish() -> Iterator[Figure]:
    """The published matrix, to host 15, with some seeds: who comes best out of the first round trips is first.

    So it is by chance there, too: uet-htsim's rules, played with 200 seeds, give 1,070 to 1,930 us, 1,490 in the mean,
    and what is published is one of these. One of ours must be as near, and some must lie on either side of it.
    """
    pairs, seeds = [(s, 15) for s in range(15)], range(1, 25)
    runs = [ultra(pairs, SMALL, size=2_000_000, seed=seed) for seed in seeds]
    first = sorted(first_ack_us(run) for run in runs)
    nearest = min(first, key=lambda each: abs(each - 1273.6))
    yield near(f"NSCC: first to finish, the nearest of {len(seeds)} seeds", 1273.6, nearest, 0.05, " us")
    yield between("NSCC: first to finish (published), among all seeds", first[0], first[-1], 1273.6, " us")
    farthest = max((last_ack_us(run) for run in runs), key=lambda each: abs(each - 2478.5))
    yield near("NSCC: last to finish, the farthest of these", 2478.5, farthest, 0.05, " us")


def permutation_16(full: bool) -> Iterator[Figure]:
    """V4: 16 hosts, all flows between pods, for some matrices."""
    for seed in (1, 2, 3):
        pairs = permutation(16, seed, apart=4)
        yield between(f"sprayed, matrix {seed}", 194, 213, last_ack_us(ultra(pairs, SMALL, seed=seed)), " us", 0.07)
    pairs = permutation(16, 1, apart=4)
    pulled = last_ack_us(ultra(pairs, PULLED, RECEIVER, **SPRAYED))
    yield between("receiver-driven, sprayed", 194, 213, pulled, " us", 0.07)
    yield at_least("floor", ULTRA_ALONE_US, pulled, " us")


def permutation_1024(full: bool) -> Iterator[Figure]:
    """V5: 1,024 hosts."""
    fabric, pairs = fat_tree(16, **ULTRA_QUEUE), permutation(1024, seed=1)
    sprayed, single = ultra(pairs, fabric), ultra(pairs, fabric, **UEC_BY_FLOW)
    yield between("sprayed: last flow", 194, 213, last_ack_us(sprayed), " us", 0.07)
    yield between("single path: times slower", 4, 6, last_ack_us(single) / last_ack_us(sprayed))
    yield near("sprayed: mean efficiency", 0.88, efficiency(sprayed), 0.05)
    yield near("single path: mean efficiency", 0.50, efficiency(single), 0.05)


def four_to_one(full: bool) -> Iterator[Figure]:
    """V7: 32 hosts on four leaves with two cables up each; the fullest leaf sends all its flows up, as published."""
    fabric = {"kind": "leaf_spine", "leaves": 4, "spines": 2, "hosts_per_leaf": 8, **ULTRA_QUEUE}
    for seed in (1, 2, 3):
        run = ultra(_up_from_leaves(seed), fabric, seed=seed)
        yield near(f"NSCC, matrix {seed}: last flow", 732.6, last_ack_us(run), 0.10, " us")
        yield at_least("floor: 8 flows over 2 cables", 8 * 490 * 0.332 / 2, last_ack_us(run), " us")


def _up_from_leaves(seed: int) -> list[Pair]:
    """A permutation of 32 hosts in which so many flows leave each leaf, and come to it, as in htsim's matrix."""
    wanted = (7, 8, 6, 6)
    for draw in range(100_000):
        pairs = permutation(32, 100_000 * seed + draw)
        if all(sum(s // 8 == leaf != t // 8 for s, t in pairs) == count for leaf, count in enumerate(wanted)):
            return pairs
    raise AssertionError("no such permutation in so many draws")


def dependent_ring(full: bool) -> Iterator[Figure]:
    """V8: an all-reduce in a ring, each step after the one received, ranks placed at random (gen_allreduce.py)."""
    steps = 31
    cases = [(4, 1, 16, 1_000_000, 3240, 7894)]
    if full:
        cases += [(8, 1, 128, 500_000, 15339, 33690), (8, 8, 16, 500_000, 1864, 4349)]
    for k, rings, ranks, size, sprayed, single in cases:
        steps = 2 * ranks - 1
        trace = _rings(rings, ranks, steps, size)
        runs = [_ring(k, trace, seed) for seed in (13, 14, 15)]
        ratios = [slow / fast for fast, slow in runs]
        name = f"{rings} x {ranks} ranks: ECMP over spray ({single / sprayed:.1f})"
        yield between(name, 2.0, 2.8, sum(ratios) / len(ratios))
        yield at_least(f"{ranks} ranks: floor", steps * (size * 8e-5 + 2), min(fast for fast, _ in runs), " us")


def _rings(rings: int, ranks: int, steps: int, size: int) -> Any:
    """Step s of a rank waits for what step s - 1 brought it; each is a connection with a hash of its own, as there."""
    pairs: list[Pair] = []
    turns: list[Turn] = []
    for ring in range(rings):
        first = len(pairs)
        for step in range(steps):
            for rank in range(ranks):
                pairs.append((ring * ranks + rank, ring * ranks + (rank + 1) % ranks))
                after = (first + (step - 1) * ranks + (rank - 1) % ranks,) if step else ()
                turns.append(Turn(after=after, channel=step))
    return matrix(rings * ranks, pairs, size, tuple(turns))


def _ring(k: int, trace: Any, seed: int) -> tuple[float, float]:
    """Microseconds when sprayed, and with a path per flow."""

    def run(**settings: Any) -> Result:
        common: dict[str, Any] = {"packet": ULTRA, "placement": "random", "seed": seed}
        return simulate(trace, fat_tree(k, **ULTRA_QUEUE), **common, **settings)

    return last_ack_us(run(transport="uec")), last_ack_us(run(**UEC_BY_FLOW))
