"""Charts and pictures: which figure at which place, means over seeds, and SVG that is well formed."""

import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from netsim.report.picture import Chart, svg
from netsim.study import sweep_page
from netsim.study.chart import axes_of, chart_of
from netsim.study.folder import table_of
from netsim.study.metrics import FIGURES
from netsim.study.plan import Plan
from netsim.study.sweep_page import picture, study_page
from netsim.study.sweep_text import sweep_text
from tests.report.page_charts import drawn_names
from tests.study.test_plan import BASE
from tests.study.test_plan import plan as plan_of

GRID = '[grid]\nrouting.kind = ["ecmp", "single"]\ntransport.window = [16, 32, 64]\nseed = [1, 2]\n'


def plan(folder: Path, text: str = GRID) -> Plan:
    return plan_of(folder, f'{BASE}[transport]\ncontrol = "window"\n{text}')


def table(given: Plan, failed: int = -1) -> pd.DataFrame:
    """Finished points whose time in us is 100 times the window's place plus the seed."""
    records: dict[str, dict[str, Any]] = {}
    for point in given.points:
        time_us = point.settings.get("transport.window", 1) + point.scenario.seed
        figures = dict.fromkeys(FIGURES, 1) | {"completion_time_ps": time_us * 10**6}
        figures |= {"busiest_link": "a->b", "limited_by": "chance"}
        records[point.digest] = {"digest": point.digest, "status": "done", "error": "", "figures": figures}
        if point.number == failed:
            records[point.digest] |= {"status": "failed", "error": "it <broke>", "figures": {}}
    frame: pd.DataFrame = table_of(given, records).to_pandas()
    return frame


def test_the_setting_with_most_values_goes_along_x(tmp_path: Path) -> None:
    given = plan(tmp_path)
    assert axes_of(given) == ("transport.window", ["routing.kind"])
    chart = chart_of(given, table(given))
    assert (chart.x, chart.numbers) == (["16", "32", "64"], [16, 32, 64])
    assert (list(chart.lines), chart.repeats) == (["ecmp", "single"], 2)
    assert chart.lines["ecmp"][0] == pytest.approx((17.5, 17.5 - 12.7062 * 0.5, 17.5 + 12.7062 * 0.5), rel=1e-4)


def test_the_study_may_choose(tmp_path: Path) -> None:
    picture = '[picture]\nx = "routing.kind"\nlines = "transport.window"\ny = "slowdown"\ntitle = "T"\n'
    given = plan(tmp_path, GRID + picture)
    chart = chart_of(given, table(given))
    assert (chart.x, chart.numbers) == (["ecmp", "single"], None)
    assert list(chart.lines) == ["window 16", "window 32", "window 64"]
    assert (chart.title, chart.y_title) == ("T", "slowdown (time / ideal)")


def test_a_failed_point_is_left_out_of_the_mean(tmp_path: Path) -> None:
    given = plan(tmp_path)
    first = chart_of(given, table(given, failed=0)).lines["ecmp"][0]
    assert first == (18, 18, 18), "one run has no range"
    text = sweep_text(given, table(given, failed=0))
    assert text.endswith("point 0 failed: it <broke>")
    assert "&lt;broke&gt;" in study_page(given, table(given, failed=0))


@pytest.mark.parametrize("x", ["routing.kind", "transport.window"])
def test_names_of_a_study_are_drawn_as_text(tmp_path: Path, x: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = plan(tmp_path, f'{GRID}[picture]\nx = "{x}"\n')
    chart = chart_of(given, table(given))
    evil = replace(
        chart,
        x=[f"<b>{each}" for each in chart.x],
        lines={f"<b>{name}": line for name, line in chart.lines.items()},
        x_title="<b>x",
        y_title="<b>y",
    )
    monkeypatch.setattr(sweep_page, "chart_of", lambda *_: evil)
    text = study_page(given, table(given))
    assert drawn_names(text) == list(evil.lines)
    assert "<b>" not in text


def test_words_and_numbers_are_drawn(tmp_path: Path) -> None:
    for choice, shape in (("transport.window", "polyline"), ("routing.kind", "rect")):
        given = plan(tmp_path, f'{GRID}[picture]\nx = "{choice}"\n')
        root = ET.fromstring(picture(given, table(given)))
        tags = [each.tag.rpartition("}")[2] for each in root.iter()]
        assert tags.count(shape) >= 2
        assert "mean and 95 % interval of 2 seeds" in [each.text for each in root.iter()]


def test_a_bar_is_as_high_as_its_value() -> None:
    root = ET.fromstring(svg(Chart("<t>", "x", "y", ["a", "b"], {"one": [(50, 50, 50), (100, 90, 110)]})))
    first, second = [float(each.get("height", 0)) for each in root.iter() if each.get("fill") == "#0072b2"]
    assert second == pytest.approx(2 * first, abs=0.2)
    assert "<t>" in [each.text for each in root.iter()]


def test_nothing_finished_is_drawn_as_nothing(tmp_path: Path) -> None:
    given = plan(tmp_path)
    empty = table(given).head(0)
    ET.fromstring(picture(given, empty))
    assert sweep_text(given, empty) == ""
