"""Runs drawn at random over topology, routing, recovery, control and sizes of packets, and laws that every run keeps.

`case(n)` is always the same one. A law says what breaks it; a run that keeps all of them gives empty lists.
"""

import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import netsim
from netsim.errors import NetsimError
from netsim.report.over_time import samples_of
from netsim.result import Result
from netsim.result.tables import TABLES
from netsim.traces import Operation, Trace
from netsim.transport import CONTROLS
from netsim.units import parse_rate, parse_time

US, LONGEST = 10**6, 200 * 10**9  # ps
ROOTED = ("broadcast", "reduce", "gather", "scatter")
ALL = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all")
TREES = ("all_reduce", "broadcast", "reduce")
COMMON = {"rate", "delay", "control_class", "ecn", "loss", "buffer", "pfc", "trim"}  # of all kinds of topology
IN_ORDER: list[dict[str, Any]] = [
    {"kind": "single"},
    {"kind": "ecmp"},
    {"kind": "ecmp", "queue_pairs": 3},
    {"kind": "ecmp", "queue_pairs": 4, "spread": "split"},
]
PER_PACKET: list[dict[str, Any]] = [
    {"kind": "spray"},
    {"kind": "spray", "order": "round_robin"},
    {"kind": "flowlet"},
    {"kind": "adaptive"},
    {"kind": "reps"},
]


@dataclass(frozen=True)
class Case:
    """What `netsim.simulate` takes."""

    number: int
    trace: Trace
    topology: dict[str, Any]
    settings: dict[str, Any]

    @property
    def _limit_ps(self) -> int:
        return LONGEST + max(operation.start_ps for operation in self.trace.operations)

    def run(self) -> Result | None:
        """The result, or None where the case is one that netsim refuses or gives up."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return netsim.simulate(self.trace, self.topology, time_limit=self._limit_ps, **self.settings)
            except NetsimError:
                return None


def case(number: int) -> Case:
    """One to three operations on a small fabric, everything drawn."""
    draw = random.Random(f"case {number}")
    topology, hosts = _topology(draw)
    recovery = draw.choice(["go_back_n", "selective_repeat"])
    routings = IN_ORDER if recovery == "go_back_n" else IN_ORDER + PER_PACKET + PER_PACKET
    if recovery == "selective_repeat" and topology["control_class"] == "strict":
        topology["trim"] = draw.random() < 0.3
    elif draw.random() < 0.3:
        topology["pfc"] = "on"
    control = draw.choice([name for name in CONTROLS if name != "ndp" or topology.get("trim")])
    payload = draw.choice([512, 1024, 4096, 4096, 16384, 65536])
    packet = {"payload": payload, "scale_up_payload": draw.choice([4096, 16384, 65536])}
    packet |= draw.choice([{}, {}, {"header": 30, "ack": 84}, {"header": 0, "ack": 200}])
    topology["buffer"] = draw.choice(["unlimited", 8 * (payload + 64), 100 * (payload + 64)])
    settings = {
        "transport": {"control": control, "recovery": recovery},
        "routing": draw.choice(routings),
        "packet": packet,
        "placement": {"kind": draw.choice(["packed", "random"])},
        "seed": number,
    }
    return Case(number, _trace(draw, hosts), topology, settings)


def _topology(draw: random.Random) -> tuple[dict[str, Any], int]:
    """A fabric of up to 16 hosts, half of them with links of unlike rates and delays."""
    rates, delays = ["40Gb/s", "100Gb/s", "400Gb/s", "600Gb/s"], ["100ns", "500ns", "1us", "5us"]
    common = {
        "rate": draw.choice(rates),
        "delay": draw.choice(delays),
        "control_class": draw.choice(["strict", "strict", "shared"]),
        "ecn": draw.choice(["off", {"kmin": "40KB", "kmax": "160KB", "pmax": 0.2}]),
        "loss": draw.choice([0.0, 0.0, 0.0, 0.002]),
    }
    other = draw.choice([{}, {"rate": draw.choice(rates), "delay": draw.choice(delays)}])
    kind = draw.choice(["leaf_spine", "leaf_spine", "fat_tree", "rail_optimized"])
    if kind == "fat_tree":
        return {"kind": kind, "k": 4, **common}, 16
    if kind == "rail_optimized":
        gpus = draw.choice([2, 4])
        return {"kind": kind, "servers": 2, "gpus_per_server": gpus, **common}, 2 * gpus
    shape = {"leaves": draw.choice([1, 2, 3]), "spines": draw.choice([1, 2, 4]), "hosts_per_leaf": draw.choice([3, 5])}
    return {"kind": kind, **shape, **common, "spine": other}, shape["leaves"] * shape["hosts_per_leaf"]


def _trace(draw: random.Random, hosts: int) -> Trace:
    """Operations one after the other, or beside each other on streams of their own, some beginning late."""
    operations = tuple(_operation(draw, hosts, number) for number in range(draw.choice([1, 1, 2, 3])))
    return Trace("drawn", hosts, {}, operations)


def _operation(draw: random.Random, hosts: int, number: int) -> Operation:
    size = draw.choice([1, 5000, 36_864, 200_000, 1 << 20])
    op = draw.choice([*ALL, *ALL, *ROOTED, "flows", "flows", "send"])
    when = {"stream": draw.choice(["", f"s{number}"]), "start_ps": draw.choice([0, 0, draw.randint(0, 30 * US)])}
    everyone = tuple(range(hosts))
    if op == "send":
        source, target = draw.sample(everyone, 2)
        return Operation(op, None, (source, target), size, src=source, dst=target, **when)
    if op == "flows":
        pairs = [draw.sample(everyone, 2) for _ in range(draw.randint(1, 12))]
        flows = tuple((source, target, draw.choice([size, draw.randint(1, 300_000)])) for source, target in pairs)
        return Operation(op, None, everyone, sum(flow[2] for flow in flows), flows=flows, **when)
    root = {"root": draw.choice(everyone)} if op in ROOTED else {}
    algorithm = {"algorithm": "tree"} if op in TREES and draw.random() < 0.4 else {}
    return Operation(op, "world", everyone, size, **root, **algorithm, **when)


def incast(number: int) -> Case:
    """Two to six hosts send equal long flows to one on their switch, all else drawn as ever; their NICs have jitter.

    Where flows of a few milliseconds can show it, as nobody waits for time-outs in between: wires lose nothing, and a
    port holds a hundred packets and a round trip. DCTCP has marks. Every ninth has HPCC, with a bound of its own.
    """
    one, draw = case(number), random.Random(f"incast {number}")
    hosts = draw.randint(3, 7)
    star = {"kind": "leaf_spine", "leaves": 1, "spines": 1, "hosts_per_leaf": hosts}
    topology = star | {name: value for name, value in one.topology.items() if name in COMMON} | {"loss": 0.0}
    if topology["buffer"] != "unlimited":
        round_trip = parse_rate(topology["rate"]) * 4 * parse_time(topology["delay"]) // (8 * 10**12)
        topology["buffer"] = max(100 * (one.settings["packet"]["payload"] + 64), round_trip)
    control = draw.choice([name for name in CONTROLS if name != "hpcc" and (name != "ndp" or topology.get("trim"))])
    if number % 9 == 8:
        control = "hpcc"
    if control == "dctcp":
        topology["ecn"] = {"kmin": "40KB", "kmax": "160KB", "pmax": 0.2}
    size = max(8000 * one.settings["packet"]["payload"], parse_rate(topology["rate"]) // 8000)  # of a millisecond
    flows = tuple((source, 0, size) for source in range(1, hosts))
    operation = Operation("flows", None, tuple(range(hosts)), size * len(flows), flows=flows)
    settings = one.settings | {"nic": {"jitter": 1}, "transport": one.settings["transport"] | {"control": control}}
    return Case(number, Trace("incast", hosts, {}, (operation,)), topology, settings)


def jain(result: Result) -> float:
    """Jain's index of the rates of flows that began together."""
    rates = 1 / (result.flows["delivered_ps"] - result.flows["start_ps"]).to_numpy()
    return float(rates.sum() ** 2 / (len(rates) * (rates**2).sum()))


def nothing_beats_its_ideal(result: Result) -> list[str]:
    tables = (("operation", result.collectives), ("flow", result.flows))
    return [
        f"{name} {row}: slowdown {table['slowdown'][row]}"
        for name, table in tables
        for row in np.flatnonzero(table["slowdown"] < 1)
    ]


def no_link_is_busy_for_longer_than_the_run(result: Result) -> list[str]:
    """As a whole, nor between two looks at its queue."""
    busy, over_time = result.links["busy_fraction"], samples_of(result)["utilisation"]
    breaches = [f"link {row}: busy {busy[row]}" for row in np.flatnonzero(~busy.between(0, 1))]
    return breaches + [f"sample {row}: {over_time[row]}" for row in np.flatnonzero(over_time > 1)]


def least_index(result: Result) -> float:
    """Jain's index that an incast reaches: 0.9; under HPCC 0.6 where a flow has few packets of an idle round trip.

    W_AI, 1/2500 of the BDP, takes 2500/n round trips to even n flows out; what each hears of the link in one of them
    differs by whole packets. Algorithm 1 alone in plain Python does the same, five flows of 80 MB at 100 Gb/s: with 3
    packets of each in a round trip 0.82 to 0.84 (netsim 0.82 to 0.86), with 10 0.91 to 0.98 (0.90 to 0.97), with 24
    0.99 and more (0.99 and more).
    """
    topology, packet = result.scenario.topology, result.scenario.packet
    if result.scenario.transport.control != "hpcc":
        return 0.9
    full_ps = 8 * 10**12 * (packet.payload + packet.header) / topology.rate
    return 0.9 if (4 * topology.delay / full_ps + 2) / len(result.flows) >= 16 else 0.6


def equal_flows_share(result: Result) -> list[str]:
    found, least = jain(result), least_index(result)
    return [] if found >= least else [f"Jain's index {found:.3f}, not {least}"]


LAWS: list[Callable[[Result], list[str]]] = [nothing_beats_its_ideal, no_link_is_busy_for_longer_than_the_run]


def later(trace: Trace, by_ps: int) -> Trace:
    """The same with everything that much later."""
    return replace(trace, operations=tuple(replace(each, start_ps=each.start_ps + by_ps) for each in trace.operations))


NOT_KEPT = ("id", "busy_fraction", "mean_queue_bytes")  # shares of a run that lasts longer
MOVED = {name: {"start_ps", "end_ps", "delivered_ps", "acked_ps"} for name in TABLES} | {"queues": {"time_ps"}}


def unlike(first: Result, second: Result, by_ps: int) -> list[str]:
    """Columns in which a run that began so much later differs otherwise than by its times, or by other than that."""
    found = []
    for name in TABLES:
        before, after = getattr(first, name), getattr(second, name)
        for column in (each for each in before if each not in NOT_KEPT):
            expected = before[column] + by_ps if column in MOVED[name] else before[column]
            found += [] if expected.equals(after[column]) else [f"{name}.{column}"]
    return found


def differs_when_shifted(one: Case, by_ps: int) -> list[str]:
    first, second = one.run(), replace(one, trace=later(one.trace, by_ps)).run()
    if first is None or second is None:
        return [] if first is second else ["only one of the two runs ended"]
    return unlike(first, second, by_ps)
