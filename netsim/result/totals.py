"""The figures of a whole run: its summary, and the provenance by which it can be known later."""

import os
import platform
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd

from netsim.config.scenario import Scenario
from netsim.version import __version__

WORST_LINKS = 10
COUNTED = ("completion_time_ps", "packets_delivered", "packet_hops", "retransmitted_packets", "queue_interval_ps")
NOT_OF_THE_TABLES = ("wall_seconds", "packet_hops_per_second", "peak_memory_bytes")  # nor of the core's counts
_SUMS = {"drops": "drops", "lost": "lost", "trims": "trims", "ecn_marks": "ecn_marks", "pauses": "pauses_sent"}


def summary_of(totals: Mapping[str, Any], collectives: pd.DataFrame, links: pd.DataFrame) -> dict[str, Any]:
    """Sum a run up in plain numbers; `totals` are the core's own counts, times in ps, wall clock in seconds."""
    plain = {key: value.item() if isinstance(value, np.generic) else value for key, value in totals.items()}
    seconds = float(plain["simulate_seconds"])
    first = {"completion_time_ps": plain["completion_time_ps"]}
    counted = first | {"collectives": len(collectives), "bytes": int(collectives["bytes"].sum())}
    counted |= {name: int(links[column].sum()) for name, column in _SUMS.items()}
    counted |= _recorded(collectives)
    wall_clock = {
        "wall_seconds": float(plain.get("wall_seconds", seconds + float(plain.get("compile_seconds", 0.0)))),
        "packet_hops_per_second": plain["packet_hops"] / seconds if seconds > 0 else 0.0,
        "peak_memory_bytes": _peak_memory_bytes(),
    }
    return counted | plain | wall_clock | {"worst_links": _worst_links(links)}


def _recorded(collectives: pd.DataFrame) -> dict[str, Any]:
    """What the collectives of which a real run's duration is known took there and here; nothing where none is."""
    known = collectives[collectives["recorded_ps"] > 0]
    if known.empty:
        return {}
    here, there = int(known["together_ps"].sum()), int(known["recorded_ps"].sum())
    text = {"collectives": len(known), "recorded_ps": there, "simulated_ps": here}
    ratios = {"simulated_to_recorded": here / there, "median_of_ratios": float(known["against_recorded"].median())}
    return {"recorded": text | ratios}


def worst_links(links: pd.DataFrame) -> pd.DataFrame:
    """Links that carried anything, the busiest first; of equally busy ones that with the longest queue."""
    order = {"busy_fraction": False, "max_queue_bytes": False, "id": True}
    return links[links["packets"] > 0].sort_values(list(order), ascending=list(order.values()))


def _worst_links(links: pd.DataFrame) -> list[dict[str, Any]]:
    shown = ["kind", "busy_fraction", "max_queue_bytes", "mean_queue_bytes", "drops", "ecn_marks"]
    rows = worst_links(links).head(WORST_LINKS).to_dict("records")
    return [{"link": f"{row['source']}->{row['target']}", **{key: row[key] for key in shown}} for row in rows]


def _peak_memory_bytes() -> int:
    """The most memory this process ever held; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if platform.system() == "Darwin" else peak * 1024  # Linux counts KiB


def provenance_of(scenario: Scenario) -> dict[str, Any]:
    """Versions, seed, digest and the kind of machine; the machine's name is nobody's business."""
    return {
        "netsim": __version__,
        "versions": {"python": platform.python_version()}
        | {each: version(each) for each in ("numpy", "numba", "pyarrow")},
        "host": {"system": platform.system(), "machine": platform.machine(), "cpus": os.cpu_count()},
        "seed": scenario.seed,
        "trace": scenario.trace.name,
        "topology": scenario.topology.title,
        "digest": scenario.digest(),
    }
