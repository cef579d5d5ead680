"""What happened on the worst links over time, as counters: queue, rate, and marks, drops and pauses so far."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from netsim.report.over_time import PS_PER_SECOND
from netsim.report.perfetto_events import PS_PER_US, Event, counter, named
from netsim.result import Result

MOST_LINKS = 32
KIB, GBPS = 1024, 1e9
SO_FAR = {  # column of `queues`: column of `links` with its last value, name, unit, size of the unit
    "ecn_marks": ("ecn_marks", "marks so far", "packets", 1),
    "drops": ("drops", "drops so far", "packets", 1),
    "paused_ps": ("paused_ps", "paused so far", "us", PS_PER_US),
}


def worst_links(result: Result) -> pd.DataFrame:
    """The links with the longest queues of those that were sampled, the worst first."""
    sampled = result.links[result.links["id"].isin(result.queues["link"].unique())]
    return sampled.sort_values(["max_queue_bytes", "id"], ascending=[False, True]).head(MOST_LINKS)


def counters_of(result: Result) -> Iterator[Event]:
    """A process "links" with counters of the worst of them."""
    process = result.scenario.trace.ranks + 1
    if result.queues.empty:
        return
    interval_ps = int(result.summary["queue_interval_ps"])
    end_ps = int(max(result.summary["completion_time_ps"], result.queues["time_ps"].max()))  # last ACKs come later
    yield named("process_name", process, 0, "name", f"links: the {MOST_LINKS} with the longest queues")
    yield named("process_sort_index", process, 0, "sort_index", -1)
    for link in worst_links(result).to_dict("records"):
        samples = result.queues[result.queues["link"] == link["id"]].sort_values("time_ps")
        name = f"{link['source']}->{link['target']}"
        for time_ps, length in queue_steps(samples, interval_ps, end_ps):
            yield counter(process, time_ps, f"{name} queue", "KiB", length / KIB)
        for time_ps, rate_bps in rate_steps(samples, int(link["bytes"]), end_ps):
            yield counter(process, time_ps, f"{name} rate", "Gb/s", rate_bps / GBPS)
        for column, (last, says, unit, scale) in SO_FAR.items():
            if link[last]:
                steps = [*zip(samples["time_ps"], samples[column], strict=True), (end_ps, link[last])]
                for time_ps, count in steps:
                    yield counter(process, time_ps, f"{name} {says}", unit, count / scale)


def queue_steps(samples: pd.DataFrame, interval_ps: int, end_ps: int) -> Iterator[tuple[int, int]]:
    """Time and length of one link's queue, from look to look; 0 where a look found nothing."""
    times, lengths = samples["time_ps"].tolist(), samples["bytes"].tolist()
    if not times or times[0] > 0:
        yield 0, 0
    for number, (time_ps, length) in enumerate(zip(times, lengths, strict=True)):
        yield time_ps, length
        following = times[number + 1] if number + 1 < len(times) else end_ps + 1
        if time_ps + interval_ps < following:
            yield time_ps + interval_ps, 0


def rate_steps(samples: pd.DataFrame, bytes_in_all: int, end_ps: int) -> Iterator[tuple[int, float]]:
    """Time and mean rate in bit/s from there to the next sample of one link: summed up, exactly what it sent."""
    times = np.concatenate([[0], samples["time_ps"], [end_ps]])
    sent = np.concatenate([[0], samples["sent_bytes"], [bytes_in_all]])
    for start, gone, moved in zip(times[:-1].tolist(), np.diff(times).tolist(), np.diff(sent).tolist(), strict=True):
        if gone > 0:
            yield start, moved * 8 * PS_PER_SECOND / gone
    yield end_ps, 0.0
