"""Single chunk flows as slices on lanes of their sender's channel, and arrows: which waited for which. By columns."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from netsim.report.perfetto_events import NS_PER_US, Event, named, nanoseconds
from netsim.report.perfetto_ranks import FIRST_OF_FLOWS, process_of
from netsim.result.chunks import Chunks

FIRST_OF_CHUNKS = 2 * FIRST_OF_FLOWS  # threads and arrows of chunk flows are numbered from here
BLOCK = 1 << 16  # events that are written at a time
SORT_INDEX = 2  # below the streams and the flows
ABOUT = ("collective", "step", "bytes", "packets", "sent_again", "marked", "dropped")  # columns that a slice tells


def chunk_events(chunks: Chunks) -> Iterator[Event]:
    """A slice per chunk flow, from its first bit sent to its last byte delivered; an arrow per pair that waited.

    Each text is a block of events. A slice tells how long the chunk flow waited before, when it was free to go.
    """
    begin, end = nanoseconds(chunks.sent_ps), nanoseconds(chunks.delivered_ps)
    thread, names = _threads(chunks, begin, end)
    process = process_of(chunks.source)
    for rows in _blocks(len(chunks)):
        yield _joined(_slices(chunks, rows, process[rows], thread[rows], begin[rows], end[rows]))
    for rows in _blocks(len(chunks.later)):
        number = FIRST_OF_CHUNKS + np.arange(rows.start, rows.start + len(chunks.later[rows]))
        for phase, ends in (("s", chunks.earlier[rows]), ("f", chunks.later[rows])):
            yield _joined(_arrow_ends(phase, number, process[ends], thread[ends], begin[ends]))
    yield from names


def left_out(chunks: Chunks) -> str:
    """What a viewer is spared, for people; nothing if it gets all."""
    counts = ((len(chunks), chunks.in_all, "chunk flows"), (len(chunks.later), chunks.pairs_in_all, "arrows"))
    said = [f"{in_all - shown:,} of {in_all:,} {noun}" for shown, in_all, noun in counts if shown < in_all]
    return f"left out {' and '.join(said)}, those sent last: a viewer can take no more" if said else ""


def _threads(chunks: Chunks, begin: Any, end: Any) -> tuple[Any, list[Event]]:
    """The thread of each chunk flow, and the names of all threads: "channel 0, chunks (2)" is a second lane."""
    ends = np.stack([chunks.source, chunks.channel])
    tracks, track = np.unique(ends, axis=1, return_inverse=True)
    lane = lanes_of(track.ravel(), begin, end)
    (number_of_track, number_of_lane), thread = np.unique(np.stack([track.ravel(), lane]), axis=1, return_inverse=True)
    events = []
    for number, (place, nth) in enumerate(zip(number_of_track.tolist(), number_of_lane.tolist(), strict=True)):
        rank, channel = tracks[:, place].tolist()
        where = process_of(rank), FIRST_OF_CHUNKS + number
        name = f"channel {channel}, chunks" + (f" ({nth + 1})" if nth else "")
        events += [named("thread_name", *where, "name", name)]
        events += [named("thread_sort_index", *where, "sort_index", SORT_INDEX)]
    return FIRST_OF_CHUNKS + thread.ravel(), events


def lanes_of(track: Any, begin: Any, end: Any) -> Any:
    """The lane of each slice among those of its track, from 0: i8. A track has as many as slices at one time.

    track: integers; begin, end: times; a slice that ends when another begins is no longer there, one without length
    is there for one unit of time. In each track the slice that is n-th to begin takes over the lane of the slice that
    is (n - d)-th to end, d being the number of lanes: that has ended by then, since of the n that began before at most
    d - 1 are still there.
    """
    count = len(track)
    if not count:
        return np.zeros(0, "i8")
    end = np.maximum(end, np.asarray(begin) + 1)
    by_begin, by_end = np.lexsort((begin, track)), np.lexsort((end, track))
    first = np.flatnonzero(np.append(True, np.diff(track[by_begin]) != 0))  # of each track, in both orders
    sizes = np.diff(np.append(first, count))
    nth = np.arange(count) - np.repeat(first, sizes)
    lanes = np.repeat(_most_at_once(track, begin, end, first), sizes)
    before = np.arange(count)  # by slice: the one whose lane it takes over, or itself
    takes_over = nth >= lanes
    before[by_begin[takes_over]] = by_end[np.flatnonzero(takes_over) - lanes[takes_over]]
    while len(some := np.flatnonzero(before[before] != before)):  # each looks twice as far back as before
        before[some] = before[before[some]]
    lane = np.empty(count, "i8")
    lane[by_begin] = nth
    return lane[before]


def _most_at_once(track: Any, begin: Any, end: Any, first: Any) -> Any:
    """The largest number of slices at one time in each track; first: the first slice of each, in order of tracks."""
    change = np.repeat([1, -1], len(track))
    order = np.lexsort((change, np.concatenate([begin, end]), np.concatenate([track, track])))  # ends first
    return np.maximum.reduceat(np.cumsum(change[order]), 2 * first)


def _blocks(count: int) -> Iterator[slice]:
    for first in range(0, count, BLOCK):
        yield slice(first, min(first + BLOCK, count))


def _slices(chunks: Chunks, rows: slice, process: Any, thread: Any, begin: Any, end: Any) -> pa.Array:
    about: list[Any] = []
    for name in ABOUT:
        about += [f'"{name}":', getattr(chunks, name)[rows], ","]
    sent_ps = chunks.sent_ps[rows]
    return _text(
        '{"ph":"X","pid":', process, ',"tid":', thread, ',"ts":', *_stamp(begin), ',"dur":', *_stamp(end - begin),
        ',"name":"step ', chunks.step[rows], " to rank ", chunks.target[rows], '","cat":"chunk","args":{', *about,
        '"to_rank":', chunks.target[rows], ',"waited_ps":', sent_ps - chunks.start_ps[rows], ',"start_ps":', sent_ps,
        ',"time_ps":', chunks.delivered_ps[rows] - sent_ps, "}}",
    )  # fmt: skip


def _arrow_ends(phase: str, number: Any, process: Any, thread: Any, begin: Any) -> pa.Array:
    """One end of each arrow; see `perfetto_events.arrow` for where they stand."""
    binding = ',"bp":"e"' if phase == "f" else ""
    return _text(
        f'{{"ph":"{phase}"{binding},"pid":', process, ',"tid":', thread, ',"ts":', *_stamp(begin),
        ',"id":', number, ',"name":"frees","cat":"frees"}',
    )  # fmt: skip


def _stamp(times_ns: Any) -> tuple[Any, ...]:
    """Microseconds to the nanosecond, as `perfetto_events.stamp` has them."""
    rest = pc.utf8_lpad(pa.array(times_ns % NS_PER_US).cast(pa.string()), 3, "0")
    return times_ns // NS_PER_US, ".", rest


def _text(*parts: Any) -> pa.Array:
    """Texts and columns, one behind the other in every row."""
    columns = [each if isinstance(each, str | pa.Array) else pa.array(each).cast(pa.string()) for each in parts]
    return pc.binary_join_element_wise(*columns, "")


def _joined(events: pa.Array) -> Event:
    """Many events as one text."""
    rows = pa.ListArray.from_arrays([0, len(events)], events)
    text: str = pc.binary_join(rows, ",\n")[0].as_py()
    return text
