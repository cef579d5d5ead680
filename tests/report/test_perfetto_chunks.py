"""Chunk flows in the trace file: exact, on lanes without overlap, by columns as single events would be."""

from __future__ import annotations

import dataclasses
import json
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import netsim
from netsim.explain.chunks import chunks_of
from netsim.report import perfetto_chunks
from netsim.report.perfetto_chunks import FIRST_OF_CHUNKS, chunk_events, lanes_of, left_out
from netsim.report.perfetto_events import arrow, slice_event
from netsim.report.perfetto_ranks import process_of
from netsim.result.chunks import COLUMNS, PAIRS, Chunks
from tests.report.test_perfetto import by_thread

Events = list[dict[str, Any]]


def job(rank: netsim.Rank) -> Any:
    yield rank.all_reduce("256KiB")
    yield rank.all_to_all("256KiB")


@cache
def chunks() -> Chunks:
    return chunks_of(netsim.simulate(job, "fat_tree_k4_100g", ranks=16))


def events_of(some: Chunks) -> Events:
    events: Events = json.loads(f"[{','.join(chunk_events(some))}]")
    return events


def of(phase: str, events: Events) -> Events:
    return [each for each in events if each["ph"] == phase]


def test_a_slice_per_chunk_flow_as_a_single_event_would_be() -> None:
    some, slices = chunks(), of("X", events_of(chunks()))
    assert len(slices) == len(some)
    for row, told in enumerate(slices):
        about = {name: int(getattr(some, name)[row]) for name in perfetto_chunks.ABOUT}
        start, end, target = int(some.sent_ps[row]), int(some.delivered_ps[row]), int(some.target[row])
        about |= {"to_rank": target, "waited_ps": start - int(some.start_ps[row])}
        about |= {"start_ps": start, "time_ps": end - start}
        where = process_of(int(some.source[row])), told["tid"]
        assert told == json.loads(
            slice_event(where, start, end, f"step {about['step']} to rank {target}", "chunk", about)
        )


def test_an_arrow_per_pair_as_a_single_one_would_be() -> None:
    some, events = chunks(), events_of(chunks())
    slices, tails, heads = (of(phase, events) for phase in "Xsf")
    assert len(tails) == len(heads) == len(some.later)
    for number, (later, earlier) in enumerate(zip(some.later.tolist(), some.earlier.tolist(), strict=True)):
        places = ((slices[row]["pid"], slices[row]["tid"], int(some.sent_ps[row])) for row in (earlier, later))
        (process, thread, tail_ps), (other, lane, head_ps) = places
        text = arrow(FIRST_OF_CHUNKS + number, "frees", (process, thread), tail_ps, (other, lane), head_ps)
        assert [tails[number], heads[number]] == json.loads(f"[{text}]")


def test_slices_of_a_thread_do_not_overlap() -> None:
    threads = by_thread(events_of(chunks()))
    assert len(threads) > 16, "some channels need a second lane"
    for slices in threads.values():
        slices.sort()
        assert all(end <= begin for (_, end), (begin, _) in pairwise(slices))


def test_every_thread_has_a_name_and_a_place() -> None:
    events = events_of(chunks())
    used = {(each["pid"], each["tid"]) for each in of("X", events)}
    for kind in ("thread_name", "thread_sort_index"):
        told = [(each["pid"], each["tid"]) for each in events if each["name"] == kind]
        assert set(told) == used
        assert len(told) == len(used)
    names = {each["args"]["name"] for each in events if each["name"] == "thread_name" and each["pid"] == 1}
    assert {"channel 0, chunks", "channel 0, chunks (2)"} <= names


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = events_of(chunks())
    monkeypatch.setattr(perfetto_chunks, "BLOCK", 7)
    assert sorted(map(str, events_of(chunks()))) == sorted(map(str, whole))


def test_a_run_without_chunk_flows() -> None:
    none = np.zeros(0, "i8")
    empty = Chunks(**dict.fromkeys((*COLUMNS, *PAIRS), none), in_all=0, pairs_in_all=0)
    assert list(chunk_events(empty)) == []


def test_what_is_left_out_is_told() -> None:
    assert left_out(chunks()) == ""
    some = dataclasses.replace(chunks(), in_all=2_000, pairs_in_all=1_000)
    rest, arrows = 2_000 - len(some), 1_000 - len(some.later)
    assert left_out(some).startswith(f"left out {rest:,} of 2,000 chunk flows and {arrows:,} of 1,000 arrows, ")


SLICES = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 12), st.integers(0, 6)), max_size=40)


@given(SLICES)
def test_slices_of_a_lane_do_not_overlap_and_lanes_are_few(slices: list[tuple[int, int, int]]) -> None:
    track, begin, length = np.array(slices, "i8").reshape(-1, 3).T
    end = begin + length
    lane = lanes_of(track, begin, end)
    there_until = np.maximum(end, begin + 1)
    for each in range(len(slices)):
        mates = (track == track[each]) & (lane == lane[each])
        mates[each] = False
        assert not (mates & (begin < there_until[each]) & (begin[each] < there_until)).any()
    for each in np.unique(track):
        mine = track == each
        at_once = max(int((mine & (begin <= at) & (at < there_until)).sum()) for at in begin[mine])
        assert set(lane[mine].tolist()) == set(range(at_once))
