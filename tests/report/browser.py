"""A headless Chromium for tests of pages: what it logs, what it asks of the net, and pictures of what it shows."""

import base64
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
SWITCHES = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
)  # fmt: skip


@contextmanager
def browser(profile: Path) -> Iterator[Any]:
    """A Selenium driver of its own, with an empty profile in this folder; skips the test where none starts."""
    from selenium import webdriver
    from selenium.common.exceptions import WebDriverException

    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for switch in (*SWITCHES, f"--user-data-dir={profile}"):
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    try:
        driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=DRIVER))
    except WebDriverException as fault:
        pytest.skip(f"Chromium is installed and does not start here: {fault.msg}")
    try:
        driver.get("about:blank")  # the browser's own first page asks for much
        requests_of(driver)
        yield driver
    finally:
        driver.quit()


def requests_of(driver: Any) -> list[str]:
    """The addresses asked for since the last call, pages opened included."""
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    return [each["params"]["request"]["url"] for each in events if each["method"] == "Network.requestWillBeSent"]


def logged(driver: Any) -> list[str]:
    """What the page's console said since the last call."""
    return [entry["message"] for entry in driver.get_log("browser")]


def look(driver: Any, width: int, theme: str) -> None:
    """Make the window so wide, and the person one who prefers light or dark."""
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    features = [{"name": "prefers-color-scheme", "value": theme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(() => arguments[0]()))")


def picture(driver: Any, path: Path) -> None:
    """The whole page as it looks now, as PNG."""
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True})
    path.write_bytes(base64.b64decode(shot["data"]))
