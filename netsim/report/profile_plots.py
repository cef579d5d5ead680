"""The figures of a profile, as plotly.js takes them; one or several jobs in each."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from netsim.profile import Profile
from netsim.report.page import Plot
from netsim.report.text import percent
from netsim.units import format_size

COLOUR_OF = {
    "all_reduce": "#3b82c4",
    "all_gather": "#e08a1e",
    "reduce_scatter": "#3a9d5d",
    "broadcast": "#b65fb0",
    "reduce": "#d1495b",
    "all_to_all": "#1fa3a3",
    "all_to_all_v": "#7a6ff0",
    "gather": "#a0722a",
    "scatter": "#8a9a2f",
    "barrier": "#8b8f99",
    "send": "#c2557a",
    "flows": "#5f8fd0",
}
JOB_COLOURS = ("#3b82c4", "#e08a1e", "#3a9d5d", "#b65fb0", "#d1495b", "#1fa3a3", "#7a6ff0", "#a0722a")
MOST_POINTS = 4_000  # of a line
MOST_MARKS = 10  # along an axis
MOST_CELLS = 256  # of a side of the traffic matrix; larger ones are shown in blocks


def operations(profiles: Sequence[Profile], names: Sequence[str]) -> list[Plot]:
    """How often each operation runs, and how many bytes it is of: one bar per operation and job."""
    plots = []
    for column, what in (("count", "requests"), ("bytes_total", "bytes")):
        bars = [
            _bar(profile.operations["op"], profile.operations[column], names[number], number, len(profiles))
            for number, profile in enumerate(profiles)
        ]
        layout = _layout(f"{what} by operation", len(bars), y=_bytes_axis() if column == "bytes_total" else {})
        says = f"{what.capitalize()} of each operation" + (" (full buffers)." if column == "bytes_total" else ".")
        plots.append(Plot({"data": bars, "layout": {**layout, "barmode": "group"}}, says, half=True))
    return plots


def _bar(x: pd.Series[Any], y: pd.Series[Any], name: str, number: int, jobs: int) -> dict[str, Any]:
    colour = [COLOUR_OF[op] for op in x] if jobs == 1 else JOB_COLOURS[number % len(JOB_COLOURS)]
    return {
        "type": "bar",
        "x": x.tolist(),
        "y": y.tolist(),
        "name": escape(name),
        "marker": {"color": colour},
        "hovertemplate": "%{x}: %{y:,}<extra></extra>",
        **({"width": 0.5} if jobs == 1 and len(x) < 4 else {}),
    }


def histogram(profile: Profile, name: str) -> Plot:
    """Requests by size in powers of two, stacked by operation."""
    table = profile.sizes
    edges = sorted(set(zip(table["from_bytes"].tolist(), table["to_bytes"].tolist(), strict=True)))
    if edges and edges[-1][0]:
        first = next(low for low, _ in edges if low)
        powers = range(first.bit_length() - 1, edges[-1][0].bit_length())
        edges = [edge for edge in edges if not edge[0]] + [(1 << power, 2 << power) for power in powers]
    labels = {low: format_size(low) for low, _ in edges}
    bars = [
        {
            "type": "bar",
            "x": [labels[low] for low in equal["from_bytes"]],
            "y": equal["count"].tolist(),
            "name": op,
            "marker": {"color": COLOUR_OF[str(op)]},
            "hovertemplate": f"{op}, %{{x}}: %{{y:,}}<extra></extra>",
        }
        for op, equal in table.groupby("op", sort=False)
    ]
    order = {"categoryorder": "array", "categoryarray": list(labels.values()), "tickangle": -35, "type": "category"}
    layout = _layout(f"request sizes of {name}", len(bars), x=order, y={"title": {"text": "requests"}})
    layout["barmode"] = "stack"
    says = "Requests by size of the full buffer: a bar counts those from its mark to below twice that."
    return Plot({"data": bars, "layout": layout}, says, half=True)


def distribution(profiles: Sequence[Profile], names: Sequence[str]) -> Plot:
    """What part of the requests, and of the bytes, is no larger than a size."""
    lines = []
    for number, (profile, name) in enumerate(zip(profiles, names, strict=True)):
        table = _thinned(profile.distribution[profile.distribution["bytes"] > 0])
        for column, dash, what in (("requests_up_to", "solid", "requests"), ("bytes_up_to", "dot", "bytes")):
            label = what if len(profiles) == 1 else f"{escape(name)}: {what}"
            lines.append(_step(table, column, label, number, dash))
    sizes = [size for line in lines for size in line["x"]]
    axis = {"type": "log", "title": {"text": "size of the full buffer"}, **_powers_of_two(sizes)}
    layout = _layout("distribution of sizes", len(lines), x=axis, y={"tickformat": ".0%", "range": [0, 1.02]})
    says = "The part of all requests, and of all bytes, in requests up to a size."
    return Plot({"data": lines, "layout": layout}, says, half=True)


def _powers_of_two(sizes: Sequence[float]) -> dict[str, Any]:
    """Marks on a logarithmic axis at powers of two, not more than there is room for."""
    if not sizes:
        return {}
    first, last = (int(size).bit_length() - 1 for size in (max(min(sizes), 1), max(sizes)))
    marks = [1 << power for power in range(first, last + 1, 1 + (last - first) // MOST_MARKS)]
    return {"tickvals": marks, "ticktext": [format_size(mark) for mark in marks], "tickangle": -35}


def _step(table: pd.DataFrame, column: str, label: str, number: int, dash: str) -> dict[str, Any]:
    size, part = table["bytes"].tolist(), table[column].tolist()
    if size:  # a step up from nothing at the smallest size, and on to the right of the largest
        size, part = [size[0] / 2, *size, size[-1] * 2], [0, *part, part[-1]]
    return {
        "type": "scatter",
        "mode": "lines",
        "x": size,
        "y": part,
        "name": label,
        "line": {"shape": "hv", "dash": dash, "width": 2, "color": JOB_COLOURS[number % len(JOB_COLOURS)]},
        "hovertemplate": "%{y:.1%} up to %{x:,} B<extra></extra>",
    }


def _thinned(table: pd.DataFrame) -> pd.DataFrame:
    if len(table) <= MOST_POINTS:
        return table
    return table.iloc[np.unique(np.linspace(0, len(table) - 1, MOST_POINTS).astype(int))]


def matrix(profile: Profile, name: str) -> Plot | None:
    """Who sends how much to whom, as a picture; ranks stand together in blocks where they are many."""
    table = profile.traffic.table
    if table.empty:
        return None
    block = -(-profile.trace.ranks // MOST_CELLS)
    cells = -(-profile.trace.ranks // block)
    sums = np.zeros((cells, cells))
    np.add.at(
        sums, (table["source"].to_numpy() // block, table["target"].to_numpy() // block), table["bytes"].to_numpy()
    )
    labels = [str(cell * block) for cell in range(cells)]
    to = {"title": {"text": "to rank"}, "type": "category", "constrain": "domain"}
    whence = {"title": {"text": "from rank"}, "type": "category", "autorange": "reversed", "scaleanchor": "x"}
    layout = {**_layout(f"traffic of {name}", 1, x=to, y=whence), "height": 560}
    blocks = f", ranks in blocks of {block}" if block > 1 else ""
    says = f"Bytes that the schedules of the operations move from rank to rank{blocks}; empty where none."
    if profile.leaving_share is not None:
        says += f" {percent(profile.leaving_share)} leave a server of {profile.fabric}."
    return Plot({"data": [_heat(labels, sums.tolist())], "layout": layout}, says)


def _heat(labels: list[str], sums: list[list[float]]) -> dict[str, Any]:
    """A map of bytes; where nothing moves it is empty."""
    return {
        "type": "heatmap",
        "x": labels,
        "y": labels,
        "z": [[value or None for value in row] for row in sums],
        "zmin": 0,
        "colorscale": [[0, "#cfe1f2"], [0.5, "#3b82c4"], [1, "#e0651e"]],
        "colorbar": {"title": {"text": "bytes"}, "exponentformat": "SI", "outlinewidth": 0},
        "hovertemplate": "%{y} to %{x}: %{z:,.0f} B<extra></extra>",
        "hoverongaps": False,
    }


def bursts(profiles: Sequence[Profile], names: Sequence[str]) -> Plot | None:
    """Bytes per millisecond over time, for the jobs that have times."""
    lines = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": profile.bursts.table["start_ms"].tolist(),
            "y": profile.bursts.table["bytes_per_ms"].tolist(),
            "name": escape(name),
            "fill": "tozeroy",
            "line": {"shape": "hv", "width": 1, "color": JOB_COLOURS[number % len(JOB_COLOURS)]},
            "hovertemplate": "at %{x:,} ms: %{y:,.0f} B/ms<extra></extra>",
        }
        for number, (profile, name) in enumerate(zip(profiles, names, strict=True))
        if profile.bursts is not None
    ]
    if not lines:
        return None
    time = {"title": {"text": "ms since the first start"}}
    layout = _layout("bytes per millisecond", len(lines), x=time, y=_bytes_axis())
    return Plot({"data": lines, "layout": layout}, "Each request spread evenly over the time it was recorded to take.")


def _bytes_axis() -> dict[str, Any]:
    return {"exponentformat": "SI", "title": {"text": "bytes"}}


def _layout(
    title: str, entries: int, *, x: dict[str, Any] | None = None, y: dict[str, Any] | None = None
) -> dict[str, Any]:
    """What all figures have in common; a legend of so many entries stands below, and makes the figure higher."""
    legend = 22 * entries if entries > 1 else 0
    return {
        "title": {"text": escape(title), "x": 0, "font": {"size": 14}},
        "height": 340 + legend,
        "margin": {"l": 70, "r": 20, "t": 40, "b": 70 + legend},
        "showlegend": entries > 1,
        "xaxis": {"automargin": True, **(x or {})},
        "yaxis": {"automargin": True, "rangemode": "tozero", **(y or {})},
        "legend": {"x": 0, "yref": "container", "y": 0, "yanchor": "bottom"},
    }
