"""Does `netsim run` give the reason that `netsim explain` finds, and does something wait where congestion is blamed?

    python benchmarks/reasons.py
    python benchmarks/reasons.py --cases 1000 --first 5000

Random congested cases (fabric, routing, recovery, control, packets, traffic), each by the command line: it is run and
saved, and explained; the reasons of both must be the same in kind and link, and in every word but where run only
estimates. What is blamed is held against the tables of links and flows: an incast has several senders, congestion a
link at which packets waited, a slower link a host that is faster. Prints what differs, and how often the estimate for
large runs agrees. Exit code 1 if any differs.
"""

import argparse
import contextlib
import io
import json
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from netsim.cli import main as netsim
from netsim.config import build_scenario
from netsim.config.scenario import Scenario
from netsim.errors import NetsimError
from netsim.report.bottleneck import estimate_of
from netsim.result import Result
from netsim.result.reason import Reason, ReasonKind
from netsim.simulation import check, simulate
from netsim.topology import TOPOLOGIES
from netsim.traces import Group, Operation, Trace
from netsim.transport import CONTROLS, RECOVERIES
from netsim.transport.registry import REGISTRY

PACKET = 4096
LONG = 8 * PACKET
WAITED = (
    ReasonKind.INCAST, ReasonKind.OVERSUBSCRIPTION, ReasonKind.ECMP_COLLISION, ReasonKind.PATH_COLLISION,
    ReasonKind.PASSING_CONGESTION, ReasonKind.PFC_SPREADING,
)  # fmt: skip


def main() -> None:
    """Try the cases; print what differs, and how often each kind came up."""
    parser = argparse.ArgumentParser(description="The reason of run and explain in random congested cases.")
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--first", type=int, default=0, help="number of the first case; a case is known by its number")
    choice = parser.parse_args()
    kinds, agree, wrong, number = Counter[str](), Counter[str](), 0, choice.first
    while kinds.total() < choice.cases:
        scenario, number = case(number), number + 1
        if scenario is None:
            continue
        first = simulate(scenario)
        if not is_congested(first):
            continue
        with tempfile.TemporaryDirectory() as folder:
            faults, result = tried(first, Path(folder))
        kinds[result.reason.kind] += 1
        estimate = estimate_of(result)
        agree["kind"] += estimate.kind == result.reason.kind
        agree["both"] += (estimate.kind, estimate.link) == (result.reason.kind, result.reason.link)
        wrong += bool(faults)
        for fault in faults:
            print(f"case {number - 1}: {fault}; {scenario}", flush=True)
    print(", ".join(f"{kind} {count}" for kind, count in kinds.most_common()))
    print(f"estimate: same kind in {agree['kind']}, and link in {agree['both']} of {choice.cases}")
    print(f"{wrong} of {choice.cases} cases differ")
    sys.exit(wrong > 0)


def case(number: int) -> Scenario | None:
    """The case of a number; None where what was drawn does not go together."""
    draw = random.Random(number)
    topology, hosts = fabric(draw)
    control = draw.choice(list(CONTROLS))
    recovery = "selective_repeat" if REGISTRY[control].receiver_credit else draw.choice(list(RECOVERIES))
    transport: dict[str, Any] = {"control": control, "recovery": recovery}
    if draw.random() < 0.3:
        transport["window"] = draw.choice([1, 4, 16, 64])
    topology["trim"] = REGISTRY[control].receiver_credit or (recovery == "selective_repeat" and draw.random() < 0.3)
    if not topology["trim"] and draw.random() < 0.5:
        topology["pfc"] = "on"
    routing = draw.choice(["ecmp", "single"] if recovery == "go_back_n" else ["ecmp", "spray", "adaptive", "reps"])
    try:
        blueprint = TOPOLOGIES[topology["kind"]].model_validate(topology)
        settings: dict[str, Any] = {"transport": transport, "routing": routing, "seed": draw.randrange(1000)}
        packet = {"payload": draw.choice([1024, PACKET, 8192])}
        scenario = build_scenario(traffic(draw, hosts), blueprint, packet=packet, **settings)
        check(scenario)
    except NetsimError:
        return None
    return scenario


def fabric(draw: random.Random) -> tuple[dict[str, Any], int]:
    """Fields of a topology, and how many ranks there are on it."""
    rate, delay = draw.choice(["100Gb/s", "400Gb/s"]), draw.choice(["100ns", "1us", "5us"])
    common: dict[str, Any] = {"rate": rate, "delay": delay, "buffer": draw.choice(["100kB", "400kB", "4MB"])}
    if draw.random() < 0.7:
        common["ecn"] = {"kmin": "50kB", "kmax": "100kB", "pmax": draw.choice([0.1, 1.0])}
    if draw.random() < 0.3:
        return {"kind": "fat_tree", "k": 4, **common}, 16
    leaves, hosts, spines = draw.randint(1, 3), draw.randint(2, 6), draw.randint(1, 4)
    spine = {"rate": draw.choice([rate, "50Gb/s", "200Gb/s"])}
    shape = {"leaves": leaves, "hosts_per_leaf": hosts, "spines": spines}
    return {"kind": "leaf_spine", **shape, "spine": spine, **common}, leaves * hosts


def traffic(draw: random.Random, ranks: int) -> Trace:
    """One to three operations, one after the other or at once, now and then after a rank that comes late."""
    everyone = tuple(range(ranks))
    operations = [Operation("compute", None, (0,), duration_ps=10**6 * draw.randint(5, 100))] * (draw.random() < 0.1)
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        size, shape = PACKET * draw.choice([1, 10, 60, 250]), draw.random()
        if shape < 0.6:
            matrix = flows(draw, ranks, size)
            ends = tuple(sorted({end for source, target, _ in matrix for end in (source, target)}))
            operations.append(Operation("flows", None, ends, sum(each[2] for each in matrix), flows=matrix))
        else:
            op = draw.choice(["all_to_all", "all_reduce", "all_gather", "reduce_scatter", "gather", "scatter"])
            operations.append(Operation(op, "world", everyone, bytes=size * ranks // 4))
    return Trace(f"case of {ranks}", ranks, {"world": Group("world", everyone)}, tuple(operations))


def flows(draw: random.Random, ranks: int, size: int) -> tuple[tuple[int, int, int], ...]:
    """An incast, a permutation, one flow, or any."""
    order, shape = draw.sample(range(ranks), ranks), draw.random()
    if shape < 0.4:
        return tuple((source, order[0], size) for source in order[1 : draw.randint(2, ranks)])
    if shape < 0.7:
        return tuple((source, target, size) for source, target in zip(order, order[1:] + order[:1], strict=True))
    if shape < 0.8:
        return ((order[0], order[1], size),)
    pairs = (draw.sample(range(ranks), 2) for _ in range(draw.randint(2, 2 * ranks)))
    return tuple((source, target, size * draw.randint(1, 4)) for source, target in pairs)


def is_congested(result: Result) -> bool:
    """Whether a queue marked, dropped, trimmed, paused or grew to several packets."""
    told = result.links[["drops", "ecn_marks", "trims", "pauses_sent"]].to_numpy().any()
    return bool(told or result.links["max_queue_bytes"].max() > LONG)


def tried(first: Result, folder: Path) -> tuple[list[str], Result]:
    """What is wrong with the reason of a run by the command line; and its result there."""
    first.save(folder / "first")
    ran = said("run", str(folder / "first" / "run.json"), "--out", str(folder / "saved"), "--json")
    explained = said("explain", str(folder / "saved"), "--json")["job"]
    result = Result.load(folder / "saved")
    found, same = ran["reason"], ["kind", "link"] if ran["reason"]["estimated"] else list(ran["reason"])
    is_same = all(found[name] == explained["reason"][name] for name in same)
    faults = [] if is_same else [f"run says {found}, explain {explained['reason']}"]
    return faults + unfounded(result.reason, result), result


def said(*arguments: str) -> dict[str, Any]:
    """What a command prints as JSON."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        code = netsim(list(arguments))
    if code:
        sys.exit(f"netsim {' '.join(arguments)} failed: {err.getvalue()}")
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


def unfounded(reason: Reason, result: Result) -> list[str]:
    """What a reason says that the tables of the result do not bear out."""
    links, flows = result.links, result.flows
    at = links[links["source"] + "->" + links["target"] == reason.link]
    faults = []
    where = links if reason.kind == ReasonKind.INCAST else at  # what meets on its way to one receiver waits there
    if reason.kind in WAITED and not where["mean_queue_bytes"].max() > 0:
        faults.append(f"{reason.kind} at {reason.link}, where nothing waited")
    if reason.kind == ReasonKind.INCAST and flows.groupby("dst")["src"].nunique().max() < 2:
        faults.append("an incast, and nobody hears two")
    if reason.kind in WAITED and len(flows) < 2:
        faults.append(f"{reason.kind} of one flow")
    hosts = links[links["source"].str.contains("host")]
    if reason.kind == ReasonKind.SLOWER_LINK and at["rate_bps"].iloc[0] >= hosts["rate_bps"].max():
        faults.append(f"{reason.link} is not slower")
    if reason.kind == ReasonKind.LOSS_RECOVERY and not at[["drops", "lost", "trims"]].to_numpy().sum():
        faults.append(f"{reason.link} lost nothing")
    return faults


if __name__ == "__main__":
    main()
