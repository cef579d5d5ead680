"""The pages' own style and scripts, from the files in `page_assets`."""

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def assets(*names: str) -> str:
    """The texts of files of `page_assets`, one after the other."""
    folder = files("netsim.report").joinpath("page_assets")
    return "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)


def script_json(value: Any) -> str:
    """A value as JSON that can stand in a script element: no text in it can end the element or begin a comment."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
