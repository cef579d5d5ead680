"""The charts of a page as its scripts get them."""

import json
import re
from typing import Any


def charts(text: str) -> list[dict[str, Any]]:
    (found,) = re.findall(r'<script type="application/json" id="charts">(.*?)</script>', text, re.DOTALL)
    listed: list[dict[str, Any]] = json.loads(found)
    return listed


def drawn_names(text: str) -> list[str]:
    """The names of all curves and bars: the page's script draws them as text."""
    return [each["name"] for chart in charts(text) if chart["shape"] != "cells" for each in chart["data"]]
