"""What the picture of a study shows: one figure along one setting, lines for others, means over the rest."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from netsim.report.picture import Chart
from netsim.study.folder import DONE, label
from netsim.study.plan import Plan
from netsim.study.statistics import mean_of

SCALE = {"completion_time_ps": (1e-6, "time to finish, us"), "max_queue_bytes": (1 / 1024, "longest queue, KiB")}
TITLES = {
    "slowdown": "slowdown (time / ideal)",
    "flow_slowdown_p50": "median slowdown of flows",
    "flow_slowdown_p99": "99th percentile of the slowdown of flows",
    "flow_slowdown_max": "worst slowdown of flows",
    "ecn_marks": "packets marked",
    "trims": "packets trimmed",
    "pauses": "pauses sent",
    "lost": "packets lost on wires",
    "drops": "packets dropped",
    "retransmitted_packets": "packets retransmitted",
    "busiest_fraction": "how busy the busiest link is",
}
FILES = (".toml", ".jsonl", ".jsonl.gz", ".topo", ".cm")  # shown by their stem
REPEATED = "seed"  # what is averaged over, where nobody asks for it


def chart_of(plan: Plan, table: pd.DataFrame, y: str = "") -> Chart:
    """Lay a study's finished points out as its [picture] asks, or as seems best; `y` names another figure."""
    done = table[table["status"] == DONE]
    figure = y or plan.picture.y
    x, by = axes_of(plan)
    values = _distinct(plan, x)
    factor, y_title = SCALE.get(figure, (1.0, TITLES.get(figure, figure.replace("_", " "))))
    names = [_name(plan, point.settings, by) for point in plan.points]
    name_of = dict(zip((point.number for point in plan.points), names, strict=True))
    groups: dict[tuple[str, str], list[float]] = {}
    for number, place, value in zip(done["point"], _texts(plan, done, x), done[figure], strict=True):
        if not pd.isna(value):
            groups.setdefault((name_of[int(number)], place), []).append(float(value) * factor)
    lines = {
        name: [mean_of(groups[name, place]).mark if (name, place) in groups else None for place in values]
        for name in dict.fromkeys(names)
    }
    repeats = max(map(len, groups.values()), default=0)
    return Chart(
        plan.picture.title or plan.name, x, y_title, list(values), lines, _numbers(list(values.values())), repeats
    )


def axes_of(plan: Plan) -> tuple[str, list[str]]:
    """The setting along x and those that make lines: the study's own choice, or the one with the most values."""
    chosen = plan.picture.lines
    lines = [chosen] if isinstance(chosen, str) else list(chosen)
    free = [key for key in plan.varied if key != REPEATED and key not in lines] or plan.varied
    x = plan.picture.x or max(free, key=lambda key: len(_distinct(plan, key)), default="")
    return x, lines or [key for key in plan.varied if key not in (x, REPEATED)]


def _distinct(plan: Plan, key: str) -> dict[str, object]:
    """The values of a setting by the text they are shown as, in the order of the study."""
    if not key:
        return {"": None}
    given = [point.settings.get(key) for point in plan.points]
    return {_shown(value): value for value in given}


def _texts(plan: Plan, done: pd.DataFrame, key: str) -> list[str]:
    by_number = {point.number: _shown(point.settings.get(key)) if key else "" for point in plan.points}
    return [by_number[int(number)] for number in done["point"]]


def _name(plan: Plan, settings: dict[str, object], by: Sequence[str]) -> str:
    """What a line is called: the values of its settings, numbers with the last part of their key."""
    words = []
    for key in by:
        value = settings.get(key)
        text = _shown(value)
        words.append(text if isinstance(value, str) or value is None else f"{key.rpartition('.')[2]} {text}")
    return ", ".join(words)


def _shown(value: object) -> str:
    if isinstance(value, dict):  # a topology as a table: what is changed of its base
        return " ".join(
            f"{key} {label(each)}" if key not in ("base", "kind") else str(each) for key, each in value.items()
        )
    if isinstance(value, str) and value.endswith(FILES):
        return Path(value).stem
    return "as the study" if value is None else label(value)


def _numbers(values: Iterable[object]) -> list[float] | None:
    """The values as numbers; None where one of them is none."""
    found = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    return [float(value) for value in found] if len(found) == len(list(values)) else None
