"""A study drawn: its picture as SVG, and a page with a plot per figure and the table of all points."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from netsim.report.page import PageTable, Part, Plot, Section, page
from netsim.report.picture import Mark, Plotted, svg
from netsim.report.profile_plots import JOB_COLOURS
from netsim.report.text import counted
from netsim.study.chart import Chart, chart_of
from netsim.study.folder import FAILED
from netsim.study.metrics import DRAWN
from netsim.study.plan import Plan
from netsim.study.statistics import Interval
from netsim.writing import write_text

DULL = (
    "collectives",
    "bytes",
    "packets_delivered",
    "packet_hops",
    "busiest_fraction",
    "flow_slowdown_p50",
)  # not drawn unasked
MOST_ROWS = 500  # of points on the page; the Parquet table has all


def write_picture(plan: Plan, table: pd.DataFrame, path: Path) -> None:
    """Write the study's picture as SVG."""
    write_text(path, picture(plan, table))


def picture(plan: Plan, table: pd.DataFrame) -> str:
    """The study's picture as the text of an SVG file."""
    chart = chart_of(plan, table)
    lines = {name: [_mark(each) for each in intervals] for name, intervals in chart.lines.items()}
    note = f"mean and 95 % interval of {chart.repeats} seeds" if chart.repeats > 1 else ""
    return svg(Plotted(chart.title, chart.x_title, chart.y_title, chart.x, lines, chart.numbers, note))


def write_study_page(plan: Plan, table: pd.DataFrame, path: Path) -> None:
    """Write the page, whole or not at all."""
    write_text(path, study_page(plan, table))


def study_page(plan: Plan, table: pd.DataFrame) -> str:
    """The page as one text of HTML that needs nothing else."""
    failed = int((table["status"] == FAILED).sum())
    facts = [("points", f"{len(plan.points):,}"), ("finished", f"{len(table):,}"), ("failed", f"{failed:,}")]
    shown = [
        plan.picture.y,
        *(name for name in DRAWN if name not in (*DULL, plan.picture.y) and _says_something(table[name])),
    ]
    plots: list[Part] = [_plot(chart_of(plan, table, name)) for name in shown]
    sections = [Section("Figures", plots), Section("Points", _points(plan, table))]
    return page(plan.picture.title or plan.name, facts, sections)


def _says_something(figure: pd.Series[Any]) -> bool:
    return figure.nunique(dropna=True) > 1


def _points(plan: Plan, table: pd.DataFrame) -> list[Part]:
    names = ["point", *plan.varied, "status", "error", *(name for name in DRAWN if name not in DULL)]
    rows = [[_cell(value) for value in row] for row in table[names].head(MOST_ROWS).itertuples(index=False)]
    words = [place for place, name in enumerate(names) if name in ("status", "error")]
    more = len(table) - len(rows)
    return [
        PageTable(names, rows, words),
        *([f"{counted(more, 'more point')}: see results.parquet."] if more > 0 else []),
    ]


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None or pd.isna(value):
        return "-"
    return f"{value:,.4g}" if isinstance(value, float) and not value.is_integer() else f"{int(value):,}"


def _plot(chart: Chart) -> Plot:
    traces = [_trace(chart, name, number) for number, name in enumerate(chart.lines)]
    legend = 22 * len(traces) if len(traces) > 1 else 0
    kind = {"type": "category"} if chart.numbers is None else {}
    layout = {
        "title": {"text": escape(chart.y_title), "x": 0, "font": {"size": 14}},
        "height": 340 + legend,
        "margin": {"l": 70, "r": 20, "t": 40, "b": 80 + legend},
        "showlegend": len(traces) > 1,
        "barmode": "group",
        "xaxis": {"automargin": True, "title": {"text": escape(chart.x_title)}, **kind},
        "yaxis": {"automargin": True, "rangemode": "tozero"},
        "legend": {"x": 0, "yref": "container", "y": 0, "yanchor": "bottom"},
    }
    says = f"Means of {chart.repeats} seeds with their 95 % intervals." if chart.repeats > 1 else "One run each."
    return Plot({"data": traces, "layout": layout}, says, half=True)


def _trace(chart: Chart, name: str, number: int) -> dict[str, Any]:
    marks = [_mark(each) for each in chart.lines[name]]
    x: list[Any] = [escape(each) for each in chart.x] if chart.numbers is None else list(chart.numbers)
    shape = {"type": "bar"} if chart.numbers is None else {"type": "scatter", "mode": "lines+markers"}
    return {
        **shape,
        "x": x,
        "y": [None if mark is None else mark[0] for mark in marks],
        "name": escape(name),
        "error_y": {
            "type": "data",
            "array": [0.0 if mark is None else mark[2] - mark[0] for mark in marks],
            "visible": chart.repeats > 1,
        },
        "marker": {"color": JOB_COLOURS[number % len(JOB_COLOURS)]},
        "hovertemplate": "%{x}: %{y:,.4~g}<extra>%{fullData.name}</extra>",
    }


def _mark(interval: Interval | None) -> Mark:
    if interval is None:
        return None
    middle = interval.middle
    return (middle, interval.low, interval.high) if interval.is_known else (middle, middle, middle)
