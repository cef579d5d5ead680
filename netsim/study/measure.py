"""What one run of a study leaves behind: the figures of its row, small enough to travel and to be kept by thousands."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import pandas as pd

from netsim.report.bottleneck import bottleneck_of, slowdown_of
from netsim.result import Result
from netsim.scenario import Scenario
from netsim.simulation import check, simulate

KIND = ["op", "ranks", "bytes"]
SUMMED = ("completion_time_ps", "collectives", "bytes", "packets_delivered", "packet_hops")
COUNTED = ("drops", "lost", "trims", "ecn_marks", "pauses", "retransmitted_packets")
FIGURES = {  # of one run, by their type in a table
    **dict.fromkeys((*SUMMED, *COUNTED), "int64"),
    **dict.fromkeys(("slowdown", "flow_slowdown_p50", "flow_slowdown_p99", "flow_slowdown_max"), "float64"),
    "max_queue_bytes": "int64",
    "busiest_link": "string",
    "busiest_fraction": "float64",
    "limited_by": "string",
}
DRAWN = tuple(name for name, kind in FIGURES.items() if kind != "string")  # what a picture can show


@dataclass(frozen=True, slots=True)
class Measured:
    """One run: its summary, its figures by name, and a row per kind of operation (median time and bus bandwidth)."""

    summary: dict[str, Any]
    figures: dict[str, Any]
    operations: pd.DataFrame
    limited_by: str
    wall_seconds: float

    @property
    def time_ps(self) -> int:
        """When the last rank was through."""
        return int(self.summary["completion_time_ps"])


def measured(scenario: Scenario, time_limit_ps: int | None = None) -> Measured:
    """Run a scenario and keep its figures. Raises InputError where it does not fit, RunError where it does not end."""
    began = time.perf_counter()
    check(scenario)
    result = simulate(scenario, time_limit=None if time_limit_ps is None else f"{time_limit_ps}ps")
    return measured_of(result, time.perf_counter() - began)


def measured_of(result: Result, wall_seconds: float) -> Measured:
    """Keep the figures of a result."""
    bottleneck = bottleneck_of(result)
    figures = {**figures_of(result), "limited_by": bottleneck.cause}
    return Measured(result.summary, figures, operations_of(result), bottleneck.text, wall_seconds)


def figures_of(result: Result) -> dict[str, Any]:
    """The numbers of one run as columns of a table; None where there is none. The same bytes for the same scenario."""
    summary, links, slowdown = result.summary, result.links, result.flows["slowdown"].dropna()
    busiest: dict[str, Any] = next(iter(summary["worst_links"]), {"link": "", "busy_fraction": 0.0})
    found: dict[str, Any] = {name: int(summary[name]) for name in (*SUMMED, *COUNTED)}
    found |= {
        "slowdown": _plain(slowdown_of(result)),
        "flow_slowdown_p50": _plain(float(slowdown.quantile(0.5))),
        "flow_slowdown_p99": _plain(float(slowdown.quantile(0.99))),
        "flow_slowdown_max": _plain(slowdown.max()),
        "max_queue_bytes": int(links["max_queue_bytes"].max()),
        "busiest_link": str(busiest["link"]),
        "busiest_fraction": float(busiest["busy_fraction"]),
    }
    return found


def operations_of(result: Result) -> pd.DataFrame:
    """A row per kind of operation: op, ranks, bytes, count, time_ps (all together), median_ps, busbw_gbs (median)."""
    alike = result.collectives.groupby(KIND, sort=False, as_index=False)
    return alike.agg(
        count=("time_ps", "size"),
        time_ps=("time_ps", "sum"),
        median_ps=("time_ps", "median"),
        busbw_gbs=("busbw_gbs", "median"),
    )


def _plain(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
