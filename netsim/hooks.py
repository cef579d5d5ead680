"""Functions that a lower package calls and a higher one has; `netsim/__init__.py`, loaded before either, sets them.

So `result.reason` and `result.summary_text()` answer for every result, run or loaded, and yet `result/` imports neither
`explain/` nor `report/`, which are about results.
"""

from collections.abc import Callable
from typing import Any

reason_of_run: Callable[[Any], Any]
summary_text: Callable[[Any], str]
