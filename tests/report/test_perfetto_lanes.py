"""Lanes: no two slices of one lane at a time, and no more lanes than slices at one time."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from netsim.report.perfetto_lanes import lanes_of

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
