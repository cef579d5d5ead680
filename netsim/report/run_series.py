"""What the report shows over time: sampled links in few enough time slots, and the ranks' parts of collectives."""

from typing import Any

import numpy as np
import pandas as pd

from netsim.report.over_time import samples_of
from netsim.result import Result

MOST_SLOTS = 128  # of time: a heat map's cells are then some pixels wide
MOST_SAMPLES = 80_000  # rows of the page: 2 to 4 MB
MOST_PARTS = 60_000  # bars of the rank chart: some 1.5 MB
MOST_WAITED_FOR = 5  # ranks named
PS_PER_NS = 1000


def series_of(result: Result) -> dict[str, Any]:
    """Slots of time and, row by row, a link in a slot: longest queue, utilisation, marks, drops, pauses in it."""
    samples, interval_ps = samples_of(result), int(result.summary["queue_interval_ps"])
    end_ps = int(result.queues["time_ps"].max()) if len(samples) else 0
    slot_ps = interval_ps * max(1, -(-(end_ps // interval_ps + 1) // MOST_SLOTS))
    rows = _in_slots(samples, slot_ps)
    kept = _worst(rows)
    return {
        "slot_ps": slot_ps,
        "slots": end_ps // slot_ps + 1 if len(samples) else 0,
        "interval_ps": interval_ps,
        "links_sampled": int(rows["link"].nunique()),
        "links_kept": int(kept["link"].nunique()),
        "slot": kept["slot"].tolist(),
        "link": kept["link"].tolist(),
        "queue": kept["bytes"].tolist(),
        "busy": [None if np.isnan(each) else round(each, 3) for each in kept["utilisation"].tolist()],
        "marks": kept["ecn_marks"].tolist(),
        "drops": kept["drops"].tolist(),
        "paused_ns": (kept["paused_ps"] // PS_PER_NS).tolist(),
    }


def _in_slots(samples: pd.DataFrame, slot_ps: int) -> pd.DataFrame:
    how = {"bytes": "max", "utilisation": "mean", "ecn_marks": "sum", "drops": "sum", "paused_ps": "sum"}
    slot = samples["time_ps"] // slot_ps
    rows: pd.DataFrame = samples.assign(slot=slot).groupby(["link", "slot"], as_index=False).agg(how)
    return rows


def _worst(rows: pd.DataFrame) -> pd.DataFrame:
    """All rows of the links with the longest queues, as many as there is room for; by slot."""
    longest = rows.groupby("link")["bytes"].agg(["max", "size"]).sort_values("max", ascending=False, kind="stable")
    kept = longest.index[longest["size"].cumsum() <= MOST_SAMPLES]
    return rows[rows["link"].isin(kept)].sort_values(["slot", "link"], ignore_index=True)


def parts_of(result: Result) -> dict[str, Any]:
    """The ranks' parts in ns as columns, whole collectives only; the longest where there are too many."""
    collectives, parts = result.collectives, result.parts
    sizes = parts.groupby("collective").size()
    order = collectives.sort_values("time_ps", ascending=False, kind="stable")["id"]
    size_of = sizes.reindex(order, fill_value=0)
    kept_ids = size_of.index[size_of.cumsum() <= MOST_PARTS]
    kept = parts[parts["collective"].isin(kept_ids)]
    ops = list(dict.fromkeys(collectives["op"]))
    op_of = collectives.set_index("id")["op"].map(ops.index)
    return {
        "ops": ops,
        "op": kept["collective"].map(op_of).tolist(),
        "ranks": result.scenario.trace.ranks,
        "collectives": len(kept_ids),
        "of_collectives": len(collectives),
        "waited_for": [[int(each) for each in row] for row in waited_for(result).head(MOST_WAITED_FOR).to_numpy()],
        "collective": kept["collective"].tolist(),
        "rank": kept["rank"].tolist(),
        "start_ns": (kept["start_ps"] // PS_PER_NS).tolist(),
        "end_ns": (kept["end_ps"] // PS_PER_NS).tolist(),
    }


def waited_for(result: Result) -> pd.DataFrame:
    """rank, waited_ps, collectives: how long all others together waited for a rank to begin, as the last, its part.

    The most waited for first. Nobody waits for all others in a traffic matrix (op "flows"): those are left out.
    """
    matrices = result.collectives.loc[result.collectives["op"] == "flows", "id"]
    parts = result.parts[~result.parts["collective"].isin(matrices)]
    starts = parts.groupby("collective")["start_ps"]
    waited_ps = starts.transform("max") - parts["start_ps"]
    waited = waited_ps.groupby(parts["collective"]).sum()
    last = parts.loc[starts.idxmax()].set_index("collective")["rank"]
    table = pd.DataFrame({"rank": last, "waited_ps": waited})
    table = table[table["waited_ps"] > 0].groupby("rank", as_index=False)["waited_ps"].agg(["sum", "size"])
    table = table.rename(columns={"sum": "waited_ps", "size": "collectives"})
    return table.sort_values(["waited_ps", "rank"], ascending=[False, True], ignore_index=True)
