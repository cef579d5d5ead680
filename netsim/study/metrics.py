"""What a study keeps of one run: its figures, and the types of their columns.

Light: whoever reads answers of other processes does not load all that a run needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

SUMMED = ("completion_time_ps", "collectives", "bytes", "packets_delivered", "packet_hops")
COUNTED = ("drops", "lost", "trims", "ecn_marks", "pauses", "retransmitted_packets")
FIGURES = {  # of one run, by their type in a table
    **dict.fromkeys((*SUMMED, *COUNTED), "int64"),
    **dict.fromkeys(("slowdown", "flow_slowdown_p50", "flow_slowdown_p99", "flow_slowdown_max"), "float64"),
    "max_queue_bytes": "int64",
    "busiest_link": "string",
    "busiest_fraction": "float64",
    "limited_by": "string",
}
DRAWN = tuple(name for name, kind in FIGURES.items() if kind != "string")  # what a picture can show


@dataclass(frozen=True, slots=True)
class Measured:
    """One run: its summary, its figures by name, and a row per kind of operation (median time and bus bandwidth)."""

    summary: dict[str, Any]
    metrics: dict[str, Any]
    operations: pd.DataFrame
    limited_by: str
    wall_seconds: float

    @property
    def time_ps(self) -> int:
        """When the last rank was through."""
        return int(self.summary["completion_time_ps"])
