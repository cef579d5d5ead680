"""The charts of a page in a browser, on a phone too: drawn, names as text, a stretch of a curve seen closer."""

from collections.abc import Iterator
from typing import Any

import pytest

from netsim.report.profile_page import profile_page
from netsim.traces import OPERATIONS
from tests.report.browser import browser, logged, look, requests_of
from tests.report.test_profile_report import timed
from tests.report.test_run_page_in_browser import EVIL, colours_of_canvas, many, overlaps, value
from tests.report.test_run_page_in_browser import pytestmark as pytestmark


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    path = tmp_path_factory.mktemp("page") / "profile.html"
    path.write_text(profile_page([timed(EVIL), timed("<b>other")]), "utf-8")
    with browser(tmp_path_factory.mktemp("profile")) as driver:
        driver.get(path.as_uri())
        look(driver, 1200, "light")
        yield driver
        assert requests_of(driver) == [path.as_uri()]
        assert logged(driver) == []


def test_every_chart_is_drawn_and_names_are_text(opened: Any) -> None:
    assert value(opened, "document.documentElement.dataset.ready") == "yes"
    assert many(opened, "#plot0 rect") == 2 * 3, "a bar for each operation and job"
    assert many(opened, "#plot4 path") == 4, "requests and bytes of each job"
    opened.execute_script("document.querySelector('canvas').id = 'matrix'")
    assert colours_of_canvas(opened, "matrix") >= 3
    assert value(opened, "document.querySelector('#plot0 .keys').textContent") == f"{EVIL}<b>other"
    assert value(opened, "window.hurt") is None
    assert (many(opened, "img"), many(opened, "b")) == (0, 0)


@pytest.mark.parametrize("width", [1200, 390])
def test_fits(opened: Any, width: int) -> None:
    look(opened, width, "dark")
    assert value(opened, "document.documentElement.scrollWidth") <= width
    assert overlaps(opened) == []


def test_a_drag_shows_a_stretch_and_a_double_click_all(opened: Any) -> None:
    marks = "[...document.querySelectorAll('#plot7 text[text-anchor=middle]')].map((text) => text.textContent).join()"
    whole = value(opened, marks)
    opened.execute_script("""const svg = document.querySelector('#plot7 svg'), box = svg.getBoundingClientRect();
    for (const [kind, share] of [['pointerdown', 0.4], ['pointerup', 0.6]])
      svg.dispatchEvent(new PointerEvent(kind, { clientX: box.left + share * box.width, clientY: box.top + 50 }))""")
    assert value(opened, marks) != whole
    opened.execute_script("document.querySelector('#plot7 svg').dispatchEvent(new MouseEvent('dblclick'))")
    assert value(opened, marks) == whole


def test_operations_are_told_apart() -> None:
    """Six colours, each full and pale: what shade() of charts.js can show."""
    assert len(set(OPERATIONS) - {"compute"}) <= 12
