"""The charts of a profile, as `page_assets/charts.js` draws them; one or several jobs in each."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from netsim.profile import Profile
from netsim.report.page import Plot
from netsim.report.text import percent
from netsim.units import format_size

MOST_POINTS = 4_000  # of a line
MOST_CELLS = 256  # of a side of the traffic matrix; larger ones are shown in blocks


def operations(profiles: Sequence[Profile], names: Sequence[str]) -> list[Plot]:
    """How often each operation runs, and how many bytes it is of: one bar per operation and job."""
    tables = [profile.operations.set_index("op") for profile in profiles]
    words = list(dict.fromkeys(op for table in tables for op in table.index))
    plots = []
    for column, what, unit, more in (
        ("count", "requests", "figures", ""),
        ("bytes_total", "bytes", "size", " (full buffers)"),
    ):
        bars = [
            {"name": name, "y": table[column].reindex(words, fill_value=0).tolist()}
            for table, name in zip(tables, names, strict=True)
        ]
        how = {"words": words, "xName": "", "yName": what, "yFormat": unit}
        plots.append(Plot("bars", f"{what} by operation", bars, how, f"{what.capitalize()} of each operation{more}."))
    return plots


def histogram(profile: Profile, name: str) -> Plot:
    """Requests by size in powers of two, stacked by operation."""
    table = profile.sizes
    lows = sorted(set(table["from_bytes"].tolist()))
    if lows and lows[-1]:
        first = next(low for low in lows if low)
        lows = [0] * (not lows[0]) + [1 << power for power in range(first.bit_length() - 1, lows[-1].bit_length())]
    bars = [
        {"name": str(op), "y": equal.set_index("from_bytes")["count"].reindex(lows, fill_value=0).tolist()}
        for op, equal in table.groupby("op", sort=False)
    ]
    how = {"words": [format_size(low) for low in lows], "xName": "", "yName": "requests", "yFormat": "figures"}
    says = "Requests by size of the full buffer: a bar counts those from its mark to below twice that."
    return Plot("bars", f"request sizes of {name}", bars, {**how, "isStacked": True}, says)


def distribution(profiles: Sequence[Profile], names: Sequence[str]) -> Plot:
    """What part of the requests, and of the bytes, is no larger than a size."""
    curves = []
    for profile, name in zip(profiles, names, strict=True):
        table = _thinned(profile.distribution[profile.distribution["bytes"] > 0])
        for column, what in (("requests_up_to", "requests"), ("bytes_up_to", "bytes")):
            label = what if len(profiles) == 1 else f"{name}: {what}"
            curves.append({"name": label, "x": table["bytes"].tolist(), "y": table[column].tolist()})
    how = {"xName": "size of the full buffer", "xFormat": "size", "xLog": True, "base": 2, "isStep": True}
    how |= {"yName": "share at most so large", "yFormat": "percent", "yTop": 1}
    says = "The part of all requests, and of all bytes, in requests up to a size."
    return Plot("curves", "distribution of sizes", [each for each in curves if each["x"]], how, says)


def _thinned(table: pd.DataFrame) -> pd.DataFrame:
    if len(table) <= MOST_POINTS:
        return table
    return table.iloc[np.unique(np.linspace(0, len(table) - 1, MOST_POINTS).astype(int))]


def matrix(profile: Profile, name: str) -> Plot | None:
    """Who sends how much to whom, as a picture; ranks stand together in blocks where they are many."""
    table = profile.traffic.table
    if table.empty:
        return None
    block = -(-profile.trace.ranks // MOST_CELLS)
    cells = -(-profile.trace.ranks // block)
    sums = np.zeros((cells, cells), np.int64)
    ends = tuple(table[end].to_numpy() // block for end in ("source", "target"))
    np.add.at(sums, ends, table["bytes"].to_numpy())
    labels = [str(cell * block) for cell in range(cells)]
    how = {"labels": labels, "xName": "to rank", "yName": "from rank", "yFormat": "size"}
    blocks = f", ranks in blocks of {block}" if block > 1 else ""
    says = f"Bytes that the schedules of the operations move from rank to rank{blocks}; empty where none."
    if profile.leaving_share is not None:
        says += f" {percent(profile.leaving_share)} leave a server of {profile.fabric}."
    return Plot("cells", f"traffic of {name}", sums.tolist(), how, says, half=False)


def bursts(profiles: Sequence[Profile], names: Sequence[str]) -> Plot | None:
    """Bytes per millisecond over time, for the jobs that have times."""
    curves = [
        _until_nothing(name, profile.bursts.table, profile.bursts.bin_ms)
        for profile, name in zip(profiles, names, strict=True)
        if profile.bursts is not None
    ]
    how = {"xName": "ms since the first start", "xFormat": "figures", "isStep": True, "isFilled": True}
    how |= {"yName": "bytes", "yFormat": "size"}
    says = "Each request spread evenly over the time it was recorded to take."
    return Plot("curves", "bytes per millisecond", curves, how, says, half=False) if curves else None


def _until_nothing(name: str, table: pd.DataFrame, bin_ms: int) -> dict[str, Any]:
    """A curve that comes back to 0 where the last bin ends."""
    start_ms, rate = table["start_ms"].tolist(), table["bytes_per_ms"].tolist()
    return {"name": name, "x": [*start_ms, start_ms[-1] + bin_ms], "y": [*rate, 0]}
