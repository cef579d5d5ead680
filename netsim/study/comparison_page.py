"""A comparison as one page: times with their ranges, every seed as a dot, speed-ups, cost against time, all figures."""

from __future__ import annotations

import math
from html import escape
from pathlib import Path
from typing import Any

from netsim.report.page import PageTable, Part, Plot, Section, page
from netsim.report.profile_plots import JOB_COLOURS
from netsim.report.text import PS_PER_US, microseconds
from netsim.study.comparison import Comparison, verdict
from netsim.study.comparison_text import comparison_rows, matrix_rows, seeds_text
from netsim.writing import write_text

DOT = {"size": 6, "opacity": 0.55, "color": "#8b8f99"}


def write_comparison(comparison: Comparison, path: Path) -> None:
    """Write the page, whole or not at all."""
    write_text(path, comparison_page(comparison))


def comparison_page(comparison: Comparison) -> str:
    """The page as one text of HTML that needs nothing else."""
    facts = [
        (name, f"{microseconds(comparison.time(design).middle)} us") for design, name in enumerate(comparison.names)
    ]
    matrix = PageTable(["speed-up of row over column", *comparison.names], matrix_rows(comparison))
    speedups: list[Part] = [matrix, "Ranges are 95 % intervals of the ratio; the same seeds run on every design."]
    metrics: list[Part] = [PageTable(["", *comparison.names], comparison_rows(comparison))]
    sections = [
        Section("Verdict", verdict(comparison).splitlines()),
        Section("Times", [_times(comparison), *_costs(comparison)]),
        Section("Speed-ups", speedups),
        Section("Figures", metrics),
    ]
    title = f"{comparison.trace} on {len(comparison.names)} designs, {seeds_text(comparison)}"
    return page(title, facts, sections)


def _times(comparison: Comparison) -> Plot:
    names = [escape(name) for name in comparison.names]
    times = [comparison.time(design) for design in range(len(names))]
    half = [0.0 if math.isnan(time.high) else (time.high - time.middle) / PS_PER_US for time in times]
    bars = {
        "type": "bar",
        "name": "mean",
        "x": names,
        "y": [time.middle / PS_PER_US for time in times],
        "error_y": {"type": "data", "array": half, "visible": len(comparison.seeds) > 1},
        "marker": {"color": [JOB_COLOURS[design % len(JOB_COLOURS)] for design in range(len(names))]},
        "hovertemplate": "%{x}: %{y:,.2f} us<extra></extra>",
    }
    dots = {
        "type": "scatter",
        "mode": "markers",
        "name": "one seed",
        "x": [name for design, name in enumerate(names) for _ in comparison.seeds],
        "y": [time / PS_PER_US for design in range(len(names)) for time in comparison.times_ps(design)],
        "text": [f"seed {seed}" for _ in names for seed in comparison.seeds],
        "marker": DOT,
        "hovertemplate": "%{x}, %{text}: %{y:,.2f} us<extra></extra>",
    }
    says = "Mean time to finish, with its 95 % interval; a dot is one seed."
    return Plot({"data": [bars, dots], "layout": _layout("time to finish", "", "us")}, says, half=True)


def _costs(comparison: Comparison) -> list[Part]:
    """Time against cost, where designs differ in cost: lower left is better."""
    has_price = comparison.costs[0].total is not None
    amounts = [float(cost.total or 0) if has_price else float(cost.ports) for cost in comparison.costs]
    if len(set(amounts)) < 2:
        return []
    what = f"price {comparison.costs[0].currency}".strip() if has_price else "switch ports in use"
    dots = {
        "type": "scatter",
        "mode": "markers+text",
        "x": amounts,
        "y": [comparison.time(design).middle / PS_PER_US for design in range(len(amounts))],
        "text": [escape(name) for name in comparison.names],
        "textposition": "top center",
        "cliponaxis": False,
        "marker": {"size": 12, "color": [JOB_COLOURS[each % len(JOB_COLOURS)] for each in range(len(amounts))]},
        "hovertemplate": "%{text}: %{x:,} for %{y:,.2f} us<extra></extra>",
    }
    layout = _layout("time against cost", escape(what), "us")
    low, high = min(amounts), max(amounts)
    layout["xaxis"]["range"] = [low - 0.3 * (high - low), high + 0.3 * (high - low)]
    return [Plot({"data": [dots], "layout": layout}, "Further left is cheaper, further down is faster.", half=True)]


def _layout(title: str, x: str, y: str) -> dict[str, Any]:
    return {
        "title": {"text": title, "x": 0, "font": {"size": 14}},
        "height": 380,
        "margin": {"l": 70, "r": 20, "t": 40, "b": 80},
        "showlegend": False,
        "xaxis": {"automargin": True, "title": {"text": x}},
        "yaxis": {"automargin": True, "rangemode": "tozero", "title": {"text": y}},
    }
