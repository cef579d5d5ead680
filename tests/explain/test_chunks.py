"""Single chunk flows: they add up to the table of flows, and those of a ring are as its closed form says."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

import netsim
from netsim.explain.chunks import chunks_of
from netsim.result import Result
from netsim.result.chunks import COLUMNS, PAIRS, Chunks, steps_of
from tests.inputs import refusal
from tests.traffic import job

RANKS = 16


RUNS = {
    "job": lambda: netsim.simulate(job, "fat_tree_k4_100g", ranks=RANKS),
    "tree": lambda: netsim.simulate(job, "fat_tree_k4_100g", ranks=RANKS, algorithms={"all_reduce": "tree"}),
    "drops": lambda: netsim.simulate("incast16", "fat_tree_k4_100g", transport="dctcp"),
    "trims": lambda: netsim.simulate("incast16", "fat_tree_k4_100g", transport="uec"),
    "losses": lambda: netsim.simulate("all_to_all_16", "leaf_spine_32_4to1", transport="dctcp"),
    "pieces": lambda: netsim.simulate(
        job, "fat_tree_k4_100g", ranks=RANKS, routing={"kind": "ecmp", "queue_pairs": 4, "spread": "split"}
    ),
    "turns": lambda: netsim.simulate(job, "fat_tree_k4_100g", ranks=RANKS, routing={"kind": "ecmp", "queue_pairs": 2}),
}


@pytest.fixture(scope="module", params=list(RUNS))
def run(request: pytest.FixtureRequest) -> Result:
    return RUNS[request.param]()


@pytest.fixture(scope="module")
def ring() -> Result:
    return RUNS["job"]()


def added_up(chunks: Chunks) -> pd.DataFrame:
    """As the table of flows has them."""
    table = pd.DataFrame({name: getattr(chunks, name) for name in COLUMNS})
    how = dict.fromkeys(("bytes", "packets", "sent_again", "marked", "dropped"), "sum")
    how |= {"start_ps": "min", "delivered_ps": "max", "acked_ps": "max"}
    summed = table.groupby(["collective", "source", "target", "channel"], as_index=False).agg(how)
    summed["packets"] += summed["sent_again"]
    return summed.rename(columns={"source": "src", "target": "dst", "sent_again": "retransmitted"})


def test_they_add_up_to_the_flows(run: Result) -> None:
    timeline = added_up(chunks_of(run))
    order = ["collective", "src", "dst", "channel"]
    wanted = run.flows.sort_values(order, ignore_index=True)[list(timeline.columns)]
    pd.testing.assert_frame_equal(timeline, wanted)


def test_runs_have_what_is_counted() -> None:
    """So that the sums above are not all of nothing."""
    drops = RUNS["drops"]().flows
    assert min(drops[name].sum() for name in ("retransmitted", "marked", "dropped")) > 0


def test_times_are_in_order(run: Result) -> None:
    chunks = chunks_of(run)
    for before, after in (("start_ps", "sent_ps"), ("sent_ps", "delivered_ps"), ("delivered_ps", "acked_ps")):
        assert (getattr(chunks, before) <= getattr(chunks, after)).all()
    begun = run.parts.set_index(["collective", "rank"])["start_ps"]
    begun_ps = begun.loc[pd.MultiIndex.from_arrays([chunks.collective, chunks.source])].to_numpy()
    is_delivered = chunks.target[chunks.earlier] == chunks.source[chunks.later]
    free_ps = np.where(is_delivered, chunks.delivered_ps[chunks.earlier], chunks.acked_ps[chunks.earlier])
    np.maximum.at(begun_ps, chunks.later, free_ps)
    assert (begun_ps == chunks.start_ps).all(), "free when its rank has come and the last it waits for is through"


def test_a_ring_waits_for_all_but_its_first_steps(ring: Result) -> None:
    """2 (n - 1) steps of n chunk flows for an all-reduce, n - 1 for an all-gather, all blocks of one piece."""
    chunks = chunks_of(ring)
    for collective, steps in enumerate([2 * (RANKS - 1), RANKS - 1]):
        mine = chunks.collective == collective
        assert np.bincount(chunks.step[mine])[1:].tolist() == [RANKS] * steps
        assert mine[chunks.later].sum() == mine.sum() - RANKS
    assert (chunks.step[chunks.later] == chunks.step[chunks.earlier] + 1).all()
    assert (chunks.target[chunks.earlier] == chunks.source[chunks.later]).all()
    assert (chunks.in_all, chunks.pairs_in_all) == (len(chunks), len(chunks.later))


def test_a_full_journal_changes_nothing() -> None:
    losses = RUNS["losses"]()
    whole, chopped = chunks_of(losses), chunks_of(losses, many_rows=1000)
    for name in (*COLUMNS, *PAIRS):
        assert np.array_equal(getattr(whole, name), getattr(chopped, name)), name


def test_only_one_collective(ring: Result) -> None:
    whole, one = chunks_of(ring), chunks_of(ring, collective=1)
    mine = whole.collective == 1
    assert len(one) == one.in_all == mine.sum()
    for name in COLUMNS:
        assert np.array_equal(getattr(whole, name)[mine], getattr(one, name)), name
    assert len(one.later) == one.pairs_in_all == len(one) - RANKS


def test_of_too_many_the_first_sent_are_kept(ring: Result) -> None:
    whole, some = chunks_of(ring), chunks_of(ring, most=100)
    assert (len(some), some.in_all, some.pairs_in_all) == (100, len(whole), len(whole.later))
    assert some.sent_ps.max() <= np.sort(whole.sent_ps)[100]
    assert (some.step[some.later] == some.step[some.earlier] + 1).all()
    assert len(some.later) == (some.step > 1).sum(), "what a kept one waited for was sent before"


def test_of_too_many_pairs_the_first_sent_are_kept() -> None:
    tree = chunks_of(RUNS["tree"]())
    rows = np.zeros(3, "i8")
    crowded = dataclasses.replace(
        tree, **{name: rows + np.arange(3) for name in COLUMNS}, later=np.array([2, 2, 1]), earlier=np.array([0, 1, 0])
    )
    some = crowded.first_sent(2)
    assert (len(some), some.later.tolist(), some.earlier.tolist()) == (2, [1], [0])


def test_what_cannot_be_told_is_refused(ring: Result) -> None:
    assert "no collective 2; give an id from 0 to 1" in refusal(chunks_of, ring, collective=2)
    other = dataclasses.replace(ring, collectives=ring.collectives.assign(time_ps=1))
    said = refusal(chunks_of, other)
    assert "collective 0 no longer takes the time that was saved" in said
    assert said.endswith("draw that")


def test_steps_count_back_along_what_was_waited_for_longest() -> None:
    """0 <- 1 <- 2; 3 waits for 2 until 30 and for 0 until 40; 4 waits for nothing."""
    later, earlier, free_ps = (np.array(each) for each in ([1, 2, 3, 3], [0, 1, 2, 0], [10, 20, 30, 40]))
    assert steps_of(later, earlier, free_ps, 5).tolist() == [1, 2, 3, 2, 1]
    none = np.zeros(0, "i8")
    assert steps_of(none, none, none, 2).tolist() == [1, 1]
    chain = np.arange(1, 1000)
    assert steps_of(chain, chain - 1, chain, 1000).tolist() == list(range(1, 1001))
