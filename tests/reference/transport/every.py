"""The twin's controls by netsim's names: every file here is looked at, so that a new one need not be entered."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from tests.reference.state.records import Route
from tests.reference.transport.control import Control

if TYPE_CHECKING:
    from tests.reference.twin import Twin

for path in Path(__file__).parent.glob("*.py"):
    if not path.name.startswith("test_") and path.stem != "every":
        import_module(f"tests.reference.transport.{path.stem}")


def new_control(twin: Twin, route: Route) -> Control:
    """Make the congestion control of a connection."""
    return Control.by_name[twin.scenario.control].make(twin, route, twin.scenario.window)
