"""`netsim trace`: a run for Perfetto and chrome://tracing: ranks, channels, arrows, counters of the worst links.

Chrome's trace event format, as JSON in gzip, written event by event. Times are microseconds, to the nanosecond, as
viewers count; the exact figures stand in each slice's arguments.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from netsim.errors import InputError
from netsim.report.perfetto_counters import counters_of
from netsim.report.perfetto_events import Event
from netsim.report.perfetto_ranks import rank_events
from netsim.result import Result

Progress = Callable[[int], None]  # events written so far
TOLD_EVERY = 5_000


def write_trace(result: Result, path: Path, progress: Progress = lambda _: None) -> None:
    """Write the trace of a run, whole or not at all; equal runs give equal bytes.

    progress(events) is called now and then. Raises InputError where the file cannot be written.
    """
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with draft.open("wb") as raw:
            _write(result, raw, progress)
        os.replace(draft, path)
    except OSError as error:
        mend = "name a file in a folder that can be written"
        raise InputError(f"cannot be written: {error.strerror or error}", str(path), mend) from None
    finally:
        draft.unlink(missing_ok=True)


def events_of(result: Result) -> Iterator[Event]:
    """All events, one after the other: what the ranks did, what their channels carried, what happened on links."""
    yield from rank_events(result)
    yield from counters_of(result)


def _write(result: Result, raw: Any, progress: Progress) -> None:
    about = {"netsim": result.provenance.get("netsim", ""), "scenario": str(result.scenario)}
    # neither a name nor a date in the gzip header, so that equal runs give equal bytes
    with gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed, io.TextIOWrapper(packed, encoding="utf-8") as out:
        out.write(f'{{"displayTimeUnit":"ns","otherData":{json.dumps(about)},"traceEvents":[')
        separator = "\n"
        for number, event in enumerate(events_of(result)):
            out.write(separator)
            out.write(event)
            separator = ",\n"
            if number % TOLD_EVERY == 0:
                progress(number)
        out.write("\n]}\n")
