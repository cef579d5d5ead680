"""The page of 1,024 GPUs in a browser: all panels drawn; the switch, the slider, sorting work; nothing asked for."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import netsim
from netsim.report.run_page import run_page
from netsim.result import Result
from tests.inputs import saved
from tests.report.browser import CHROMIUM, DRIVER, browser, logged, look, picture, requests_of

pytest.importorskip("selenium", reason="the browser tests need selenium")
pytestmark = [
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="no Chromium with its chromedriver is installed"),
    pytest.mark.filterwarnings("default"),  # selenium's own
]
LARGEST = 8_000_000  # bytes: what issue and budget allow a page of 1,024 GPUs
EVIL = "</script><script>window.hurt=1</script><img src=x onerror=window.hurt=1>"


@pytest.fixture(scope="module")
def run_1024(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """All 1,024 GPUs in one small tree, eight in a ring per server, and an incast that queues and marks."""
    servers = {f"tp{s}": list(range(8 * s, 8 * s + 8)) for s in range(128)}
    lines: list[dict[str, Any]] = [{"netsim": 1, "ranks": 1024, "groups": servers}]
    lines += [{"op": "all_reduce", "group": name, "bytes": 65536} for name in servers]
    lines += [{"op": "compute", "ranks": [97], "duration": "12us"}]
    lines += [{"op": "all_reduce", "group": "world", "bytes": size, "algorithm": "tree"} for size in (16384, 65536)]
    lines += [{"op": "flows", "flows": [[rank, 5, 60000] for rank in range(16, 400, 16)]}]
    trace = netsim.load_trace(saved(tmp_path_factory.mktemp("trace") / "job.jsonl", map(json.dumps, lines)))
    fabric = {"base": "rail_optimized_1024", "ecn": {"kmin": "166400B", "kmax": "665600B"}}
    return netsim.simulate(type(trace)(**{**vars(trace), "name": EVIL}), fabric)


@pytest.fixture(scope="module")
def page(run_1024: Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(tmp_path_factory.mktemp("page") / "report.html", run_page(run_1024))


@pytest.fixture(scope="module")
def opened(page: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with browser(tmp_path_factory.mktemp("profile")) as driver:
        driver.get(page.as_uri())
        look(driver, 1440, "light")
        yield driver


def many(driver: Any, selector: str) -> int:
    return int(driver.execute_script("return document.querySelectorAll(arguments[0]).length", selector))


def value(driver: Any, script: str) -> Any:
    return driver.execute_script(f"return {script}")


def cells(driver: Any, table: str, column: int) -> list[str]:
    script = """const rows = [...document.querySelectorAll(`#${arguments[0]} tbody tr`)];
    return rows.map((row) => row.cells[arguments[1]].textContent)"""
    found: list[str] = driver.execute_script(script, table, column)
    return found


def colours_of_canvas(driver: Any, canvas: str) -> int:
    script = """const c = document.getElementById(arguments[0]);
    const d = new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer);
    return new Set(d).size"""
    return int(driver.execute_script(script, canvas))


def test_opens_without_a_complaint_or_a_request(opened: Any, page: Path) -> None:
    assert value(opened, "document.documentElement.dataset.ready") == "yes"
    assert logged(opened) == []
    assert requests_of(opened) == [page.as_uri()]
    assert page.stat().st_size < LARGEST


def test_names_do_no_harm(opened: Any) -> None:
    assert value(opened, "window.hurt") is None
    assert many(opened, "img") == 0
    assert value(opened, "document.getElementById('title').textContent").startswith(EVIL)


def test_every_panel_is_drawn(opened: Any) -> None:
    assert many(opened, "#facts div") >= 10
    assert 100 < many(opened, "#fabric-drawing .bundle") < 1000
    assert many(opened, "#fabric-drawing .node") == 32 + 32 + 8 + 32
    assert many(opened, "#fabric-detail tbody tr") == 8
    assert colours_of_canvas(opened, "heat-canvas") > 10
    assert many(opened, "#bars rect") >= 6
    assert many(opened, "#bandwidth path") == 1
    assert colours_of_canvas(opened, "ranks-canvas") > 10
    assert many(opened, "#slowdowns path") >= 2
    assert many(opened, "#queue-lengths path") >= 1
    assert all(many(opened, f"#table-{name} tbody tr") for name in ("links", "collectives", "flows"))


def test_the_switch_recolours_by_another_figure(opened: Any, run_1024: Result) -> None:
    links = run_1024.links
    wanted = {
        "queue": links["max_queue_bytes"].max(), "marks": links["ecn_marks"].max(),
        "drops": 0, "paused": links["paused_ps"].max(), "busy": round(links["busy_fraction"].max(), 5),
    }  # fmt: skip
    for name, most in wanted.items():
        opened.find_element("css selector", f"input[name=metric][value={name}]").click()
        hottest = float(value(opened, "document.getElementById('fabric-drawing').dataset.hottest"))
        assert hottest == pytest.approx(most) if name != "marks" else hottest >= most > 0


def test_the_slider_shows_a_moment_and_obeys_the_keyboard(opened: Any, run_1024: Result) -> None:
    from selenium.webdriver.common.keys import Keys

    opened.find_element("css selector", "input[name=metric][value=queue]").click()
    slider, queues = opened.find_element("id", "slot"), run_1024.queues
    slot_ps = value(opened, "JSON.parse(document.getElementById('run').textContent).series.slot_ps")
    for slot in range(1, int(slider.get_attribute("max")) + 1):
        slider.send_keys(Keys.ARROW_RIGHT)
        now = queues[queues["time_ps"] // slot_ps == slot - 1]["bytes"]
        assert value(opened, "document.getElementById('slot').value") == str(slot)
        assert float(value(opened, "document.getElementById('fabric-drawing').dataset.hottest") or 0) == (
            now.max() if len(now) else 0
        )
    scales = set()
    for name in ("marks", "queue"):
        opened.find_element("css selector", f"input[name=metric][value={name}]").click()
        for _ in range(3):
            slider.send_keys(Keys.ARROW_LEFT)
            scales.add(value(opened, "document.getElementById('fabric-scale').textContent"))
    assert len(scales) == 2, "the same scale at every moment"
    slider.send_keys(Keys.HOME)
    assert value(opened, "document.getElementById('slot-says').textContent") == "whole run"


def test_a_group_opens_and_closes(opened: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    before = many(opened, ".node")
    opened.find_element("css selector", ".node[aria-label^='gpu0 to gpu31']").send_keys(Keys.ENTER)
    assert many(opened, ".node") == before + 31
    opened.execute_script(
        "document.querySelector('#fabric-drawing .hit:last-child').dispatchEvent(new MouseEvent('click'))"
    )
    assert many(opened, ".bundle.chosen") == 1
    opened.find_element("id", "together").click()
    assert many(opened, ".node") == before


def test_tables_sort_and_filter(opened: Any, run_1024: Result) -> None:
    longest = "#table-links th:nth-child(7) button"
    assert value(opened, "document.querySelector('#table-links th:nth-child(7)').ariaSort") == "descending"
    worst = run_1024.links.nlargest(1, "max_queue_bytes").iloc[0]
    assert [cells(opened, "table-links", column)[0] for column in (0, 1)] == [worst["source"], worst["target"]]
    opened.find_element("css selector", longest).click()
    assert value(opened, "document.querySelector('#table-links th:nth-child(7)').ariaSort") == "ascending"
    assert cells(opened, "table-links", 6)[0] == "0 B"
    opened.find_element("css selector", "#table-links th:nth-child(1) button").click()
    assert cells(opened, "table-links", 0)[:2] == ["gpu0", "gpu0"]
    opened.find_element("css selector", "#table-links input").send_keys("spine127")
    found = list(zip(cells(opened, "table-links", 0), cells(opened, "table-links", 1), strict=True))
    assert len(found) == 16
    assert all("spine127" in ends for ends in found)


def test_the_rank_chart_zooms(opened: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    says = "document.getElementById('ranks-says').textContent"
    whole = value(opened, says)
    opened.find_element("id", "ranks-canvas").send_keys("+")
    assert value(opened, says) != whole
    box = opened.find_element("id", "rank-to")
    box.clear()
    box.send_keys("15" + Keys.TAB)
    assert value(opened, says).endswith("ranks 0 to 15")
    opened.find_element("id", "everything").click()
    assert value(opened, says) == whole


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 900])
def test_fits_and_follows_the_theme(opened: Any, width: int, theme: str, tmp_path: Path) -> None:
    look(opened, width, theme)
    assert value(opened, "document.documentElement.scrollWidth") <= width
    light = lightness(opened)
    assert (light > 384) == (theme == "light")
    assert overlaps(opened) == []
    picture(opened, tmp_path / "page.png")
    assert (tmp_path / "page.png").stat().st_size > 50_000
    opened.find_element("id", "theme").click()
    other = lightness(opened)
    assert (other > 384) != (light > 384)
    opened.execute_script("delete document.documentElement.dataset.theme")


def lightness(driver: Any) -> int:
    """Red, green and blue of the page's background together."""
    colour = value(driver, "getComputedStyle(document.body).backgroundColor")
    return sum(map(int, re.findall(r"\d+", colour)))


def overlaps(driver: Any) -> list[str]:
    """Pairs of texts of one drawing that lie over each other."""
    script = """const found = [];
    for (const svg of document.querySelectorAll('svg')) {
      const texts = [...svg.querySelectorAll('text')].map((text) => [text.textContent, text.getBoundingClientRect()]);
      texts.filter(([, box]) => box.width).forEach(([one, a], place, kept) => {
        for (const [two, b] of kept.slice(place + 1)) {
          const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
          const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
          if (wide > 1 && high > 3) found.push(`${one} / ${two}`);
        }
      });
    }
    return found"""
    found: list[str] = driver.execute_script(script)
    return found


def test_it_never_complained(opened: Any, page: Path) -> None:
    assert logged(opened) == []
    assert set(requests_of(opened)) <= {page.as_uri()}
