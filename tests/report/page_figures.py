"""The figures of a page as plotly.js gets them, and every text that it would draw from them as markup."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from netsim.report import page


def figures(text: str) -> list[page.Figure]:
    (found,) = re.findall(r"<script>const figures = (.*);\n", text)
    listed: list[page.Figure] = json.loads(found)
    return listed


def texts(part: Any) -> Iterator[str]:
    """All texts of a figure or a part of one, at any depth."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict | list):
        for each in part.values() if isinstance(part, dict) else part:
            yield from texts(each)


def drawn_as_markup(text: str, tag: str) -> list[str]:
    """What the figures of a page would draw with this tag in force."""
    return [each for each in texts(figures(text)) if tag in each]
