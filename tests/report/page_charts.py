"""What a page holds: the data that its scripts get, and nothing that asks for more."""

import json
import re
from typing import Any


def data_in(text: str, name: str) -> Any:
    (found,) = re.findall(rf'<script type="application/json" id="{name}">(.*?)</script>', text, re.DOTALL)
    return json.loads(found)


def charts(text: str) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = data_in(text, "charts")
    return listed


def drawn_names(text: str) -> list[str]:
    """The names of all curves and bars: the page's script draws them as text."""
    return [each["name"] for chart in charts(text) if chart["shape"] != "cells" for each in chart["data"]]


def assert_needs_nothing(text: str) -> None:
    """It asks nothing of the net, and may not."""
    assert "default-src 'none'" in text
    assert re.findall(r"https?://(?!www\.w3\.org/2000/svg)", text) == []
    assert not re.search(r"<(link|img|script|iframe)[^>]*\b(src|href)=\"(?!data:,)", text)
