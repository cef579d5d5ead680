"""How a text shows of which format it is: by how it begins, and by what stands in the part of it that is looked at."""

import re
from collections.abc import Callable

OBJECT, LIST = r"[\ufeff \t\r\n]*\{", r"[\ufeff \t\r\n]*\["  # JSON


def recogniser(start: str, mark: str = "") -> Callable[[str], bool]:
    """Make a function that tells whether a text begins as `start` does and holds `mark` (regular expressions)."""
    begins, holds = re.compile(start), re.compile(mark)

    def recognises(text: str) -> bool:
        return begins.match(text.lstrip("\ufeff")) is not None and holds.search(text) is not None

    return recognises
