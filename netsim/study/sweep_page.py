"""A study drawn: its picture as SVG, and a page with a plot per figure and the table of all points."""

from typing import Any

import pandas as pd

from netsim.report.page import PageTable, Part, Plot, Section, page
from netsim.report.picture import Chart, svg
from netsim.report.text import counted
from netsim.study.chart import chart_of
from netsim.study.folder import FAILED
from netsim.study.metrics import DRAWN
from netsim.study.plan import Plan

DULL = (
    "collectives",
    "bytes",
    "packets_delivered",
    "packet_hops",
    "busiest_fraction",
    "flow_slowdown_p50",
)  # not drawn unasked
MOST_ROWS = 500  # of points on the page; the Parquet table has all


def picture(plan: Plan, table: pd.DataFrame) -> str:
    """The study's picture as the text of an SVG file."""
    return svg(chart_of(plan, table))


def study_page(plan: Plan, table: pd.DataFrame) -> str:
    """The page as one text of HTML that needs nothing else."""
    failed = int((table["status"] == FAILED).sum())
    facts = [("points", f"{len(plan.points):,}"), ("finished", f"{len(table):,}"), ("failed", f"{failed:,}")]
    others = [name for name in DRAWN if name not in (*DULL, plan.picture.y) and table[name].nunique(dropna=True) > 1]
    plots: list[Part] = [_plot(chart_of(plan, table, name)) for name in (plan.picture.y, *others)]
    sections = [Section("Figures", plots), Section("Points", _points(plan, table))]
    return page(plan.picture.title or plan.name, facts, sections)


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
    """The same figure on a page: bars over words, lines over numbers."""
    says = f"Means of {chart.repeats} seeds with their 95 % intervals." if chart.repeats > 1 else "One run each."
    how = {"words": chart.x, "xName": chart.x_title, "yName": chart.y_title, "xFormat": "figures", "yFormat": "figures"}
    lines = [_line(chart, name) for name in chart.lines]
    if chart.numbers is None:
        return Plot("bars", chart.y_title, lines, how, says)
    return Plot("curves", chart.y_title, [each for each in lines if each["x"]], how, says)


def _line(chart: Chart, name: str) -> dict[str, Any]:
    """A line of the points that are known, in order; in bars each stays in its place."""
    marks, xs = list(chart.lines[name]), list(chart.numbers or [])
    if chart.numbers is not None:
        known = sorted((x, mark) for x, mark in zip(chart.numbers, marks, strict=True) if mark)
        xs, marks = [x for x, _ in known], [mark for _, mark in known]
    middle, low, high = ([mark and mark[place] for mark in marks] for place in range(3))
    return {"name": name, "x": xs, "y": middle, "low": low, "high": high}
