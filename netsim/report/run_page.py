"""`netsim report`: one run as one page that needs nothing else: its fabric, queues, collectives, ranks and tables."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from netsim.config.preset_defaults import filled_in
from netsim.report.assets import assets
from netsim.report.bottleneck import slowdown_of
from netsim.report.page import document
from netsim.report.run_charts import bandwidths_of, kinds_of, queue_lengths_of, slowdowns_of
from netsim.report.run_fabric import fabric_of
from netsim.report.run_series import parts_of, series_of
from netsim.report.text import microseconds, percent, plain, times
from netsim.result import Result
from netsim.units import format_size

MOST_ROWS = 2000  # of a table on the page; the Parquet tables hold the rest
SCRIPTS = ("fabric.js", "heat.js", "collectives.js", "ranks.js", "tables.js", "main.js")


def run_page(result: Result) -> str:
    """The page as one text of HTML; names are text in it, never markup."""
    title = f"{result.scenario.trace.name} on {result.scenario.topology.title}"
    return document(f"{title} - netsim", assets("report.html"), "run", page_data(result), SCRIPTS)


def page_data(result: Result) -> dict[str, Any]:
    """Everything the page shows, as JSON: times in ps (ns where a name says so), sizes in bytes."""
    scenario, network = result.scenario, result.scenario.topology.build()
    return {
        "title": f"{scenario.trace.name} on {scenario.topology.title}",
        "scenario": str(scenario).removeprefix(f"{scenario.trace.name} on {scenario.topology.title}, "),
        "preset": filled_in(scenario.transport, scenario.routing, scenario.topology, scenario.nic) or "",
        "version": str(result.provenance.get("netsim", "")),
        "end_ps": int(result.summary["completion_time_ps"]),
        "facts": facts_of(result),
        "verdict": result.reason.text,
        "fabric": fabric_of(result, network),
        "series": series_of(result),
        "kinds": kinds_of(result),
        "bandwidths": bandwidths_of(result),
        "slowdowns": slowdowns_of(result),
        "queue_lengths": queue_lengths_of(result),
        "parts": parts_of(result),
        "collectives": _rows(result.collectives, "time_ps"),
        "flows": _rows(result.flows.where(result.flows >= 0), "slowdown"),
    }


def facts_of(result: Result) -> list[list[str]]:
    """The headline numbers, each with what it is."""
    summary, links = result.summary, result.links
    longest = links.iloc[int(links["max_queue_bytes"].argmax())] if len(links) else None
    busiest = links.iloc[int(links["busy_fraction"].argmax())] if len(links) else None
    slowdown = slowdown_of(result)
    facts = [
        ["finished at", f"{microseconds(summary['completion_time_ps'])} \u00b5s", "simulated time"],
        ["slowdown", times(slowdown) if not math.isnan(slowdown) else "-", "time over time on an idle network"],
        ["collectives", f"{len(result.collectives):,}", f"{format_size(int(summary['bytes']))} in all"],
        ["packets", f"{summary['packets_delivered']:,}", "delivered"],
    ]
    if busiest is not None and longest is not None:
        facts.append(["busiest link", percent(busiest["busy_fraction"]), _named(busiest)])
        facts.append(["longest queue", f"{longest['max_queue_bytes'] / 1024:,.1f} KiB", _named(longest)])
    facts += [
        ["marked", f"{summary['ecn_marks']:,}", "packets, by ECN"],
        ["dropped", f"{summary['drops'] + summary['lost']:,}", "packets, in queues and on wires"],
        ["retransmitted", f"{summary['retransmitted_packets']:,}", "packets"],
        ["pauses", f"{summary['pauses']:,}", "PFC frames that stop a sender"],
    ]
    if summary["trims"]:
        facts.append(["trimmed", f"{summary['trims']:,}", "packets cut to their headers"])
    return facts


def _named(link: pd.Series[Any]) -> str:
    return f"{link['source']} \u2192 {link['target']}"


def _rows(table: pd.DataFrame, worst: str) -> dict[str, Any]:
    """The worst rows of a table as columns, in the table's order; and how many there are in all."""
    kept = table.nlargest(MOST_ROWS, worst, keep="first").sort_index() if len(table) > MOST_ROWS else table
    columns = {name: [_cell(each) for each in kept[name].tolist()] for name in kept.columns}
    return {"of": len(table), "worst": worst, "columns": columns}


def _cell(value: Any) -> Any:
    if isinstance(value, float):
        cell = plain(value)
        return None if cell is None else round(cell, 4)
    return value
