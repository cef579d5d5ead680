"""Outcomes made by hand: what a run would have measured, for tests of everything that reads results."""

from typing import Any

import numpy as np

from netsim.config import build_scenario
from netsim.config.scenario import Scenario
from netsim.result import Result
from netsim.result.tables import RawResult
from netsim.traces import Group, Operation, Trace

US = 1_000_000  # ps
SAMPLE = {"time_ps": US, "link": 3, "bytes": 4160, "sent_bytes": 2000, "ecn_marks": 5, "drops": 1, "paused_ps": 0}
Flow = tuple[int, int, int, int, int]  # source, target, bytes, start, delivered (ps)


def trace_of(ranks: int = 16) -> Trace:
    everyone = tuple(range(ranks))
    operations = (Operation("all_reduce", "world", everyone, bytes=1 << 20, dtype="bf16"),)
    return Trace("by_hand", ranks, {"world": Group("world", everyone)}, operations)


def scenario_of(topology: str = "fat_tree_k4_100g", **settings: Any) -> Scenario:
    return build_scenario(trace_of(), topology, **settings)


def outcome_of(
    scenario: Scenario, flows: list[Flow], collectives: list[dict[str, Any]] | None = None, **totals: Any
) -> RawResult:
    """An outcome with these flows; without `collectives` they are one operation, as long as the longest of them."""
    end = max((flow[4] for flow in flows), default=0)
    whole = {"op": "flows", "bytes": sum(flow[2] for flow in flows), "end_ps": end, "ideal_ps": end}
    rows = [whole] if collectives is None else collectives
    last = max((row["end_ps"] for row in rows), default=0)
    counts = {"packets_delivered": 1000, "packet_hops": 6000, "retransmitted_packets": 0, "simulate_seconds": 0.5}
    counts |= {"queue_interval_ps": US}
    return RawResult(
        collectives=_collectives(rows),
        parts=_parts(rows),
        flows=_flows(scenario, flows),
        links=_links(scenario),
        queues={name: np.array([value]) for name, value in SAMPLE.items()},
        totals={"completion_time_ps": last, "compile_seconds": 1.5, **counts, **totals},
    )


def result_of(*arguments: Any, **named: Any) -> Result:
    return Result.of(outcome_of(*arguments, **named), arguments[0])


def _collectives(rows: list[dict[str, Any]]) -> dict[str, Any]:
    usual = {"algorithm": "direct", "group": "world", "stream": "default", "ranks": 16, "start_ps": 0, "ideal_ps": 0}
    usual |= {"recorded_ps": -1}
    full = [usual | {"id": number, "last_start_ps": row.get("start_ps", 0)} | row for number, row in enumerate(rows)]
    return {name: [row[name] for row in full] for name in (*usual, "id", "last_start_ps", "op", "bytes", "end_ps")}


def _parts(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Rank r begins r ns late in each collective, and all end together."""
    parts = [
        (number, rank, row.get("start_ps", 0) + 1000 * rank, row["end_ps"])
        for number, row in enumerate(rows)
        for rank in range(16)
    ]
    return dict(
        zip(("collective", "rank", "start_ps", "end_ps"), np.array(parts, np.int64).reshape(-1, 4).T, strict=True)
    )


def _flows(scenario: Scenario, flows: list[Flow]) -> dict[str, Any]:
    src, dst, size, start, delivered = np.array(flows, np.int64).reshape(-1, 5).T
    zero = np.zeros(len(flows), np.int64)
    return {
        "collective": zero, "src": src, "dst": dst, "channel": zero, "bytes": size, "start_ps": start,
        "delivered_ps": delivered, "acked_ps": delivered + US, "ideal_ps": zero + 10 * US,
        "packets": -(-size // scenario.packet.payload), "retransmitted": zero, "marked": zero, "dropped": zero,
    }  # fmt: skip


def _links(scenario: Scenario) -> dict[str, Any]:
    """Link number l is busy for l us, and had a queue of l bytes; link 3 marked, dropped and paused its sender."""
    network = scenario.topology.build()
    number = np.arange(len(network.links))
    third = (number == 3).astype(np.int64)
    zero = np.zeros(len(number), np.int64)
    return {
        "id": number,
        "source": [network.node_name(link.source) for link in network.links],
        "target": [network.node_name(link.target) for link in network.links],
        "kind": network.kinds, "rate_bps": network.rate_bps, "bytes": number * 1000, "packets": number,
        "busy_fraction": number / 110, "drops": 2 * third, "lost": zero, "trims": zero,
        "ecn_marks": 7 * third, "pauses_sent": 3 * third,
        "paused_ps": zero, "max_queue_bytes": number, "mean_queue_bytes": number / 2,
    }  # fmt: skip
