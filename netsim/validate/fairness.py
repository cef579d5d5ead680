"""Controls against each other: equal shares, a link that is taken over, different results; NDP's own experiment."""

from collections.abc import Iterator
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netsim.result import Result
from netsim.simulation import simulate
from netsim.simulation.job import Rank
from netsim.transport import CONTROLS
from netsim.validate.bench import FULL, US, fat_tree, incast, matrix, star
from netsim.validate.nouns import Figure, at_least, between, near, said

PIECE = 128 << 10  # bytes
LATE_US = 300
STEP_ECN = {"kmin": 40 * FULL, "kmax": 160 * FULL, "pmax": 0.2}
PFC = {"xoff": 512 * 1024, "xon": 480 * 1024}
QUICK = {  # the papers' steps are for flows of seconds
    "dcqcn": {"ai": "2Gb/s", "hai": "4Gb/s", "increase_timer": "10us", "alpha_timer": "10us"},
    "timely": {"delta": "200Mb/s", "beta_patched": 0.1},
}
SHARING = [name for name in CONTROLS if name != "none"]
LINE_GBPS = 100 * 4096 / FULL


@cache
def one_and_a_later_one(control: str) -> tuple[Result, dict[int, NDArray[np.float64]]]:
    """Host 4 sends 24 MB to host 0 piece by piece; host 8 sends 8 MB later. When each piece has arrived, in us."""
    pieces = {4: 192, 8: 64}

    def job(rank: Rank) -> Any:
        if rank.number == 8:
            yield rank.compute(f"{LATE_US}us")
        if rank.number in pieces:
            yield rank.env.all_of([rank.send(0, PIECE) for _ in range(pieces[rank.number])])
        if rank.number == 0:
            yield rank.env.all_of([rank.recv(source, PIECE) for source, count in pieces.items() for _ in range(count)])

    fabric = fat_tree(4, ecn=STEP_ECN, pfc=PFC, buffer="unlimited")
    result = simulate(job, fabric, ranks=9, transport={"control": control, **QUICK})
    flows = result.flows
    return result, {host: np.sort(flows[flows["src"] == host]["delivered_ps"].to_numpy()) / US for host in pieces}


def gigabits(arrived: NDArray[np.float64], since: float, until: float, piece: int = PIECE) -> float:
    """The rate at which pieces arrived between two times in us."""
    return float(((arrived > since) & (arrived <= until)).sum() * piece * 8 / (until - since) / 1000)


def two_flows(full: bool) -> Iterator[Figure]:
    """Who has the link gives half of it to who comes later; who leaves lets the other take it."""
    for control in SHARING:
        _, arrived = one_and_a_later_one(control)
        end = float(arrived[8][-1])
        half = (LATE_US + end) / 2
        first, later = (gigabits(arrived[host], half, end) for host in (4, 8))
        piece = PIECE * 8 / 1000 / (end - half)  # what one piece more or less comes to
        apart = max(0.0, abs(first - later) - piece) / max(first, later)
        yield between(f"{control}: {first:.1f} and {later:.1f} Gb/s, apart", 0, 0.10, apart)
        yield at_least(f"{control}: both together", 0.85 * 96.9, first + later, " Gb/s")  # with what HPCC leaves free
        alone = gigabits(arrived[4], end + 150, float(arrived[4][-1]))
        yield at_least(f"{control}: the other alone again", 0.85 * LINE_GBPS, alone, " Gb/s")


def controls_differ(full: bool) -> Iterator[Figure]:
    """The complaint about a peer: DCQCN, HPCC and TIMELY gave the same file byte for byte."""
    trace, fabric = matrix(9, incast(8), 1 << 20), fat_tree(4, ecn=STEP_ECN)
    chosen = {control: {"control": control, "retries": 1000, **QUICK} for control in CONTROLS}
    runs = {control: simulate(trace, fabric, transport=each).flows for control, each in chosen.items()}
    peers = ("dcqcn", "hpcc", "timely")
    pairs = [*combinations(peers, 2), *((control, "none") for control in SHARING)]  # two others may act alike
    same = [f"{a} = {b}" for a, b in pairs if runs[a].equals(runs[b])]
    got = ", ".join(same) or f"{len(pairs)} pairs differ"
    yield said(f"{', '.join(peers)}; each control and none", "no flow tables alike", got, not same)


def in_and_out(full: bool) -> Iterator[Figure]:
    """V10: A sends to B, C, D, E and F to E, by NDP at 10 Gb/s: E's link is shared by who can use it.

    In pieces of 9 MB, 43 windows: as in a long flow nearly all is pulled.
    """
    a, b, c, d, e, f = range(6)
    piece, packet = 1000 * 8936, {"payload": "8936B", "header": "64B"}
    pairs = [(a, t) for t in (b, c, d, e)] + [(f, e)]
    counts = [12, 12, 12, 12, 36]

    def job(rank: Rank) -> Any:
        steps = []
        for (source, target), count in zip(pairs, counts, strict=True):
            if rank.number == source:
                steps += [rank.send(target, piece) for _ in range(count)]
            if rank.number == target:
                steps += [rank.recv(source, piece) for _ in range(count)]
        yield rank.env.all_of(steps)

    fabric = star(6, rate="10Gb/s", buffer=8 * 9000, trim=True, ecn="off")
    transport = {"control": "ndp", "window": 23}
    flows = simulate(job, fabric, ranks=6, transport=transport, packet=packet).flows
    published = [2.51, 2.51, 2.50, 2.377, 7.552]
    arrived = [np.sort(_of(flows, pair)["delivered_ps"].to_numpy()) / US for pair in pairs]
    until = min(float(each[-1]) for each in arrived)
    for pair, rate, each in zip(pairs, published, arrived, strict=True):
        name = f"{'ABCDEF'[pair[0]]} to {'ABCDEF'[pair[1]]}"
        whole = each[(each > until / 4) & (each <= until)]
        yield near(name, rate, gigabits(each, float(whole[0]), float(whole[-1]), piece), 0.03, " Gb/s")


def _of(flows: Any, pair: tuple[int, int]) -> Any:
    return flows[(flows["src"] == pair[0]) & (flows["dst"] == pair[1])]
