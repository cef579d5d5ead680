"""Wishes of every kind, for hypothesis."""

import numpy as np
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from netsim.collectives import Layout, Request


def layout_of(servers: ArrayLike, rails: ArrayLike) -> Layout:
    return Layout(np.asarray(servers, dtype=np.int32), np.asarray(rails, dtype=np.int32))


def eight_rails(servers: int) -> Layout:
    """Servers of 8 ranks in order, one rank per rail."""
    rank = np.arange(8 * servers)
    return layout_of(rank // 8, rank % 8)


@st.composite
def layouts(draw: st.DrawFn, ranks: int) -> Layout:
    """Servers of any size in any order; rails may be missing, shared or numbered with gaps."""
    numbers = st.lists(st.integers(0, 4), min_size=ranks, max_size=ranks)
    return layout_of(draw(numbers), draw(numbers))


@st.composite
def requests(draw: st.DrawFn, op: str, most_ranks: int = 11, most_bytes: int = 150) -> Request:
    """A request small enough to be replayed byte by byte."""
    ranks = 2 if op == "send" else draw(st.integers(1, most_ranks))
    sizes = flows = None
    if op == "all_to_all_v":
        row = st.lists(st.integers(0, 20), min_size=ranks, max_size=ranks)
        sizes = np.array(draw(st.lists(row, min_size=ranks, max_size=ranks)))
    if op == "flows":
        rank = st.integers(0, ranks - 1)
        flow = st.tuples(rank, rank, st.integers(0, most_bytes)).filter(lambda flow: flow[0] != flow[1])
        flows = draw(st.lists(flow, max_size=10)) if ranks > 1 else []
    return Request(
        op=op,
        ranks=ranks,
        bytes=draw(st.integers(0, most_bytes)),
        root=draw(st.integers(0, ranks - 1)),
        sizes=sizes,
        flows=flows,
        channels=draw(st.none() | st.integers(1, 5)),
        chunk_bytes=draw(st.none() | st.integers(1, 64)),
        layout=draw(st.none() | layouts(ranks)),
    )
