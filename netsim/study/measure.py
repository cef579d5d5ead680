"""What one run of a study leaves behind: the figures of its row, small enough to travel and to be kept by thousands."""

import time
from typing import Any

from netsim.config.limits import NO_LIMITS, Limits
from netsim.config.scenario import Scenario
from netsim.report.bottleneck import estimate_of, slowdown_of
from netsim.report.compare import operations_of
from netsim.report.text import plain
from netsim.result import Result
from netsim.simulation import check, simulate
from netsim.study.metrics import COUNTED, SUMMED, Measured


def measured(scenario: Scenario, limits: Limits = NO_LIMITS, *, explained: bool = False) -> Measured:
    """Run a scenario and keep its figures. Raises InputError where it does not fit, RunError where it does not end.

    explained: what limited it is found by explaining it, not estimated.
    """
    began = time.perf_counter()
    check(scenario)
    result = simulate(scenario, time_limit=limits.time_ps, wall_limit=limits.wall_ps)
    return measured_of(result, time.perf_counter() - began, explained=explained)


def measured_of(result: Result, wall_seconds: float, *, explained: bool = False) -> Measured:
    """Keep the figures of a result."""
    reason = result.reason if explained else estimate_of(result)
    metrics = {**figures_of(result), "limited_by": reason.kind}
    return Measured(result.summary, metrics, operations_of(result), reason.text, wall_seconds)


def figures_of(result: Result) -> dict[str, Any]:
    """The numbers of one run as columns of a table; None where there is none. The same bytes for the same scenario."""
    summary, links, slowdown = result.summary, result.links, result.flows["slowdown"].dropna()
    busiest: dict[str, Any] = next(iter(summary["worst_links"]), {"link": "", "busy_fraction": 0.0})
    found: dict[str, Any] = {name: int(summary[name]) for name in (*SUMMED, *COUNTED)}
    found |= {
        "slowdown": plain(slowdown_of(result)),
        "flow_slowdown_p50": plain(float(slowdown.quantile(0.5))),
        "flow_slowdown_p99": plain(float(slowdown.quantile(0.99))),
        "flow_slowdown_max": plain(slowdown.max()),
        "max_queue_bytes": int(links["max_queue_bytes"].max()),
        "busiest_link": str(busiest["link"]),
        "busiest_fraction": float(busiest["busy_fraction"]),
    }
    return found
