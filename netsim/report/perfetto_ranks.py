"""What ranks did, as slices: their parts of collectives by stream, their channels' flows, and arrows: who waited."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from netsim.report.perfetto_events import Event, Lanes, arrow, named, slice_event
from netsim.result import Result
from netsim.units import format_size

MOST_PARTS = 500_000  # slices; viewers become slow beyond a million
MOST_FLOWS = 200_000
FIRST_OF_FLOWS = 10**8  # threads and arrows of flows are numbered from here, those of parts from 1
JUST_BEFORE_PS = 1000  # slices shorter than that are none to viewers, who count in nanoseconds

Places = dict[tuple[int, int], tuple[int, int]]  # (collective, rank): the process and thread where its slice stands


def rank_events(result: Result) -> Iterator[Event]:
    """A process per rank; in it a thread per stream with its collectives, and threads per channel with its flows."""
    for rank in range(result.scenario.trace.ranks):
        yield named("process_name", process_of(rank), 0, "name", f"rank {rank}")
        yield named("process_sort_index", process_of(rank), 0, "sort_index", rank)
    parts, places = parts_of(result), {}
    lanes = Lanes(first_thread=1)
    for row in _rows(parts):
        where = lanes.lane(process_of(row.rank), f"stream {row.stream}", row.start_ps, row.end_ps)
        places[row.collective, row.rank] = where
        yield from _part(row, where)
    yield from lanes.events()
    yield from _waits(parts, places)
    yield from _flow_events(flows_of(result, parts), places)


def process_of(rank: Any) -> Any:
    """The number of a rank's process in the file, or those of many; 0 has a meaning of its own to Perfetto."""
    return rank + 1


def parts_of(result: Result) -> pd.DataFrame:
    """The parts in order of their beginnings, the longest if there are too many, with what their collectives are.

    last_ps and last_rank: when the last rank of the collective began, and which that is. Nobody waits for all others in
    a traffic matrix: there it is the rank's own beginning.
    """
    about = result.collectives.set_index("id")[["op", "bytes", "stream", "algorithm", "group"]]
    parts = result.parts
    last = parts.loc[parts.groupby("collective")["start_ps"].idxmax()].set_index("collective")
    parts = _longest(parts, parts["end_ps"] - parts["start_ps"], MOST_PARTS).join(about, on="collective")
    is_matrix = parts["op"] == "flows"
    parts["last_ps"] = parts["start_ps"].where(is_matrix, parts["collective"].map(last["start_ps"]))
    parts["last_rank"] = parts["collective"].map(last["rank"])
    return parts.sort_values(["start_ps", "rank", "collective"], kind="stable", ignore_index=True)


def flows_of(result: Result, parts: pd.DataFrame) -> pd.DataFrame:
    """The delivered flows in order of their beginnings, the longest if there are too many; parts: of `parts_of`.

    ends_part: whether it was the last that its receiver waited for in its part of the collective.
    since_ps: since when it did: both have begun, and all other ranks too if the receiver takes part longer than that.
    """
    flows = result.flows[result.flows["delivered_ps"] >= 0]
    last = flows.groupby(["collective", "dst"])["delivered_ps"].transform("max")
    of_target = parts.set_index(["collective", "rank"])[["start_ps", "end_ps", "last_ps"]]
    of_target = of_target[~of_target.index.duplicated()]
    of_target = of_target.reindex(pd.MultiIndex.from_frame(flows[["collective", "dst"]])).fillna(-1).astype("int64")
    begun, ended, all_begun = (of_target[name].to_numpy() for name in ("start_ps", "end_ps", "last_ps"))
    delivered = flows["delivered_ps"].to_numpy()
    since = np.maximum(np.maximum(flows["start_ps"].to_numpy(), begun), np.where(all_begun < ended, all_begun, begun))
    is_inside = (delivered > since + JUST_BEFORE_PS) & (delivered <= ended)
    flows = flows.assign(since_ps=since, ends_part=(delivered == last.to_numpy()) & is_inside)
    flows = _longest(flows, flows["delivered_ps"] - flows["start_ps"], MOST_FLOWS)
    return flows.sort_values(["start_ps", "src", "channel", "dst"], kind="stable", ignore_index=True)


def _part(row: Any, where: tuple[int, int]) -> Iterator[Event]:
    """A rank's part of a collective; inside it another slice while not all ranks have begun."""
    about = {"collective": row.collective, "algorithm": row.algorithm, "group": row.group, "bytes": row.bytes}
    about |= {"start_ps": row.start_ps, "time_ps": row.end_ps - row.start_ps}
    name = f"{row.op} {format_size(row.bytes)}" if row.bytes else str(row.op)
    yield slice_event(where, row.start_ps, row.end_ps, name, "collective", about)
    waits_until = min(row.last_ps, row.end_ps)
    if waits_until > row.start_ps:
        until = {"rank": row.last_rank, "start_ps": row.start_ps, "time_ps": waits_until - row.start_ps}
        yield slice_event(where, row.start_ps, waits_until, f"until rank {row.last_rank} begins", "wait", until)


def _waits(parts: pd.DataFrame, places: Places) -> Iterator[Event]:
    """An arrow from each that waited to the last rank to begin, where that begins."""
    waits = parts[(parts["last_ps"] > parts["start_ps"]) & (parts["last_ps"] < parts["end_ps"])]
    for number, row in enumerate(_rows(waits), start=1):
        head = places.get((row.collective, row.last_rank))
        if head is not None:
            yield arrow(number, "waits for", places[row.collective, row.rank], row.start_ps, head, row.last_ps)


def _flow_events(flows: pd.DataFrame, places: Places) -> Iterator[Event]:
    """A slice per flow, on the sending rank; that which ended a rank's part has another there, and an arrow to it."""
    lanes = Lanes(first_thread=FIRST_OF_FLOWS, sort_index=1)
    for number, row in enumerate(_rows(flows), start=FIRST_OF_FLOWS):
        where = lanes.lane(process_of(row.src), f"channel {row.channel}", row.start_ps, row.delivered_ps)
        about = {"collective": row.collective, "bytes": row.bytes, "packets": row.packets}
        about |= {"sent_again": row.retransmitted, "marked": row.marked, "dropped": row.dropped}
        about |= {"start_ps": row.start_ps, "time_ps": row.delivered_ps - row.start_ps, "ideal_ps": row.ideal_ps}
        yield slice_event(where, row.start_ps, row.delivered_ps, f"to rank {row.dst}", "flow", about)
        head = places.get((row.collective, row.dst)) if row.ends_part else None
        if head is not None:
            text = {"rank": row.src, "start_ps": row.since_ps, "time_ps": row.delivered_ps - row.since_ps}
            yield slice_event(head, row.since_ps, row.delivered_ps, f"until rank {row.src} has sent", "last", text)
            yield arrow(number, "delivers", where, row.start_ps, head, row.since_ps)
    yield from lanes.events()


def _rows(table: pd.DataFrame) -> Iterator[Any]:
    """The rows, each with its columns as attributes."""
    return table.itertuples(index=False)


def _longest(rows: pd.DataFrame, taken: pd.Series[int], most: int) -> pd.DataFrame:
    """The rows that took longest, as many as wanted, in their order."""
    if len(rows) <= most:
        return rows
    return rows.iloc[np.sort(np.argsort(-taken.to_numpy(), kind="stable")[:most])]
