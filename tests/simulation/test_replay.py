"""Ranks walk through their job: each goes on when its own part is done, streams overlap, nobody waits for ever."""

from collections.abc import Callable
from typing import Any

import pytest

import netsim
from netsim import Operation, Result, Trace
from netsim.simulation.job import Rank
from netsim.simulation.replay import Steps
from tests.explain.known import flows
from tests.traffic import compute, send

US, SLOT = 1_000_000, 332_800  # ps; 4160 bytes at 100 Gb/s
NEAR = 2 * SLOT + 2 * US  # one full packet from host 0 to host 1 of a fat-tree: two links of 1 us
FABRIC = "fat_tree_k4_100g"
Job = Callable[[Rank], Steps]


def replayed(*operations: Operation) -> Result:
    return netsim.simulate(Trace("by hand", 4, {}, operations), FABRIC, nic={"jitter": 0})


def starts(result: Result) -> list[int]:
    return [int(start) for start in result.collectives["start_ps"]]


def ends(result: Result) -> list[int]:
    return [int(end) for end in result.collectives["end_ps"]]


def test_a_rank_goes_on_when_its_own_part_is_finished() -> None:
    result = replayed(flows((0, 1, 4096), (2, 3, 4_096_000)), send(0, 1))
    assert starts(result) == [0, SLOT]  # its packet has left
    assert ends(result) == [1000 * SLOT + SLOT + 2 * US, SLOT + NEAR]


def test_a_receiver_goes_on_when_all_has_arrived() -> None:
    result = replayed(flows((0, 1, 4096), (2, 3, 409_600)), send(1, 0))
    assert starts(result)[1] == SLOT  # rank 0 is there first
    flow = result.flows[result.flows["collective"] == 1].iloc[0]
    assert flow["start_ps"] == NEAR


def test_one_stream_waits_and_another_overlaps() -> None:
    one, same, other = send(0, 1, 409_600), send(0, 1), send(0, 1, stream="other")
    assert starts(replayed(one, same)) == [0, 100 * SLOT]
    assert starts(replayed(one, other)) == [0, 0]
    together = replayed(one, other)
    assert together.flows["delivered_ps"].max() == 101 * SLOT + SLOT + 2 * US  # they share one queue pair
    assert set(together.flows["channel"]) == {0}


def test_computing_on_one_stream_hides_a_transfer_on_another() -> None:
    result = replayed(compute(0, 50 * US), send(0, 1, stream="copy"), send(0, 1))
    assert starts(result) == [0, 0]  # rank 1 waits for both from the start
    later = result.flows[result.flows["collective"] == 1].iloc[0]
    assert (later["start_ps"], later["delivered_ps"]) == (50 * US, 50 * US + NEAR)


def test_a_start_is_not_before_and_never_early() -> None:
    result = replayed(send(0, 1, start_ps=30 * US), send(0, 1, start_ps=31 * US), send(0, 1, start_ps=200 * US))
    assert starts(result) == [30 * US, 31 * US, 200 * US]
    assert ends(result) == [start + NEAR for start in starts(result)]


def test_a_start_that_has_passed_changes_nothing() -> None:
    assert starts(replayed(compute(0, 50 * US), compute(1, 50 * US), send(0, 1, start_ps=20 * US))) == [50 * US]


def test_a_collective_waits_for_its_last_rank() -> None:
    group = Operation("all_reduce", None, (0, 1, 2, 3), 4 * 4096)
    late = replayed(compute(3, 77 * US), group)
    assert starts(late) == [0]
    assert ends(late)[0] > 77 * US + ends(replayed(group))[0] - 20 * US
    assert ends(late)[0] > 77 * US


def walk(job: Job, ranks: int = 4, **settings: Any) -> Result:
    return netsim.simulate(job, FABRIC, ranks=ranks, **settings)


def test_user_code_sends_and_receives_at_the_times_it_sees() -> None:
    seen = {}

    def job(rank: Rank) -> Steps:
        if rank.number == 0:
            yield rank.compute("5us")
            yield rank.send(1, "4096B")
            seen["left"] = rank.env.now
        elif rank.number == 1:
            seen["told"] = yield rank.recv(0, 4096)
            seen["arrived"] = rank.env.now

    result = walk(job)
    assert seen == {"left": 5 * US + SLOT, "told": 5 * US + NEAR, "arrived": 5 * US + NEAR}
    assert list(result.collectives["op"]) == ["send"]
    assert result.summary["completion_time_ps"] == 5 * US + NEAR


def test_user_code_may_wait_for_several_things_at_once() -> None:
    def job(rank: Rank) -> Steps:
        other = rank.number ^ 1
        yield rank.env.all_of([rank.send(other, "1MiB"), rank.recv(other, "1MiB"), rank.compute("1us")])
        yield rank.barrier()

    result = walk(job)
    assert list(result.collectives["op"]) == ["send"] * 4 + ["barrier"]
    assert set(result.collectives["start_ps"][:4]) == {0}


def test_groups_go_their_own_ways() -> None:
    def job(rank: Rank) -> Steps:
        half = [0, 1] if rank.number < 2 else [2, 3]
        for _ in range(1 + rank.number // 2):
            yield rank.all_reduce("64KiB", group=half)
        yield rank.all_gather("64KiB")

    result = walk(job)
    assert sorted(result.collectives["op"]) == ["all_gather"] + ["all_reduce"] * 3
    assert sorted(result.collectives["ranks"]) == [2, 2, 2, 4]
    last = result.collectives.iloc[list(result.collectives["op"]).index("all_gather")]
    assert last["end_ps"] == result.collectives["end_ps"].max()


def test_what_user_code_did_can_be_run_again_from_the_result() -> None:
    def job(rank: Rank) -> Steps:
        yield rank.compute(f"{rank.number}us")
        yield rank.all_to_all("64KiB")
        yield rank.broadcast("1MiB", root=2)

    first = walk(job)
    again = netsim.simulate(first.scenario)
    assert again.flows.equals(first.flows)
    assert again.collectives["end_ps"].equals(first.collectives["end_ps"])


def test_an_error_of_the_users_own_comes_through_as_it_is() -> None:
    def job(rank: Rank) -> Steps:
        yield rank.compute("1us")
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        walk(job)
