"""A finished sweep in a few lines: means of every combination, what failed."""

from __future__ import annotations

import pandas as pd

from netsim.report.text import NOTHING, columns, counted, microseconds, number, times
from netsim.study.chart import REPEATED
from netsim.study.folder import DONE, FAILED
from netsim.study.plan import Plan
from netsim.study.statistics import mean_of

MOST_ROWS = 40
MOST_ERRORS = 5


def sweep_text(plan: Plan, table: pd.DataFrame) -> str:
    """A row per combination of settings, seeds averaged; below it the first errors."""
    keys = [key for key in plan.varied if key != REPEATED]
    header = [*keys, "runs", "time us", "+- us (95 %)", "slowdown", "marked", "dropped", "retransmitted"]
    done = table[table["status"] == DONE].assign(_all=0)
    equal = [group for _, group in done.groupby(["_all", *keys], sort=False, dropna=False)]
    rows = [[*(_shown(group[key].iloc[0]) for key in keys), *_figures(group)] for group in equal[:MOST_ROWS]]
    parts = [columns(header, rows, words=range(len(keys)))] if rows else []
    if len(equal) > MOST_ROWS:
        parts.append(f"({counted(len(equal) - MOST_ROWS, 'more combination')} in results.parquet)")
    return "\n".join([*parts, *_errors(table)])


def _figures(group: pd.DataFrame) -> list[str]:
    time = mean_of(group["completion_time_ps"].tolist())
    slowdown = float(group["slowdown"].mean())
    counts = (f"{group[name].mean():,.0f}" for name in ("ecn_marks", "drops", "retransmitted_packets"))
    half = microseconds(time.high - time.middle) if time.is_known else NOTHING
    return [f"{len(group):,}", microseconds(time.middle), half, times(slowdown), *counts]


def _errors(table: pd.DataFrame) -> list[str]:
    failed = table[table["status"] == FAILED]
    lines = [f"point {row['point']} failed: {row['error']}" for _, row in failed.head(MOST_ERRORS).iterrows()]
    more = len(failed) - len(lines)
    return [*lines, *([f"{counted(more, 'more point')} failed: see the column error"] if more > 0 else [])]


def _shown(value: object) -> str:
    if isinstance(value, float):
        return number(value, 4).rstrip("0").rstrip(".")
    return NOTHING if value is None else str(value)
