"""`netsim trace`: a run for Perfetto and chrome://tracing: ranks, channels, arrows, counters of the worst links.

Chrome's trace event format, as JSON in gzip, written event by event. Times are microseconds, to the nanosecond, as
viewers count; the exact figures stand in each slice's arguments.
"""

import gzip
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from netsim.report.perfetto_chunks import chunk_events
from netsim.report.perfetto_counters import counters_of
from netsim.report.perfetto_events import Event
from netsim.report.perfetto_ranks import rank_events
from netsim.result import Result
from netsim.result.chunks import Chunks
from netsim.writing import written

Progress = Callable[[int], None]  # events written so far
TOLD_EVERY = 5_000


def write_trace(result: Result, path: Path, progress: Progress = lambda _: None, chunks: Chunks | None = None) -> None:
    """Write the trace of a run, whole or not at all, with its single chunk flows if given; equal runs: equal bytes.

    progress(events) is called now and then. Raises InputError where the file cannot be written.
    """
    with written(path) as raw:
        _write(result, events_of(result, chunks), raw, progress)


def events_of(result: Result, chunks: Chunks | None = None) -> Iterator[Event]:
    """All events, one after the other: what the ranks did, what their channels carried, what happened on links."""
    yield from rank_events(result)
    if chunks is not None:
        yield from chunk_events(chunks)
    yield from counters_of(result)


def _write(result: Result, events: Iterator[Event], raw: Any, progress: Progress) -> None:
    about = {"netsim": result.provenance.get("netsim", ""), "scenario": str(result.scenario)}
    # neither a name nor a date in the gzip header, so that equal runs give equal bytes
    with gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed, io.TextIOWrapper(packed, encoding="utf-8") as out:
        out.write(f'{{"displayTimeUnit":"ns","otherData":{json.dumps(about)},"traceEvents":[')
        separator = "\n"
        written = text = 0
        for event in events:
            out.write(separator)
            out.write(event)
            separator = ",\n"
            written += 1 + event.count(separator)  # a text may be several events
            if written >= text:
                progress(written)
                text = written + TOLD_EVERY
        out.write("\n]}\n")
