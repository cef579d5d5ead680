"""A job that cannot go on ends with one line that says who waits for whom, and where the chain ends."""

from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

import netsim
from netsim import InputError, RunError
from netsim.cli import main
from netsim.simulation.job import Rank

Steps = Generator[Any, Any, None]
FABRIC = "fat_tree_k4_100g"


def stands_still(job: Callable[[Rank], Any], ranks: int, **settings: Any) -> str:
    with pytest.raises(RunError) as caught:
        netsim.simulate(job, FABRIC, ranks=ranks, **settings)
    text = str(caught.value)
    assert "\n" not in text
    assert caught.value.hint
    return text


def test_a_chain_is_followed_to_the_rank_that_has_ended() -> None:
    def job(rank: Rank) -> Steps:
        if rank.number < 2:
            yield rank.all_reduce("1KiB", group=[0, 1, 2])
        elif rank.number == 2:
            yield rank.compute("3us")
            yield rank.recv(3, "1KiB")
            yield rank.all_reduce("1KiB", group=[0, 1, 2])

    assert stands_still(job, 4) == (
        "the job stands still at 3 us: all_reduce 0 (ranks 0, 1, 2) waits for rank 2, "
        "rank 2 waits in send 1 (rank 3 to rank 2) for rank 3, rank 3 has ended; "
        "every rank of a group must call the collective, and each recv needs its send"
    )


def test_crossed_order_of_two_groups_is_a_circle() -> None:
    def job(rank: Rank) -> Steps:
        groups = [[0, 1], [0, 1, 2]]
        for group in groups if rank.number == 0 else reversed(groups):
            if rank.number in group:
                yield rank.all_reduce("1KiB", group=group)

    text = stands_still(job, 3)
    assert "all_reduce 0 (ranks 0, 1) waits for rank 1, rank 1 waits in all_reduce 1 (ranks 0, 1, 2) for rank 0" in text
    assert text.endswith("a cycle; let the ranks of a group call its collectives in the same order")


def test_a_rank_that_waits_for_its_own_event_is_told_from_one_that_ended() -> None:
    def job(rank: Rank) -> Steps:
        if rank.number:
            yield rank.env.event()
        yield rank.barrier()

    text = stands_still(job, 7)
    assert "barrier 0 (ranks 0, 1, 2, 3 and 3 more) waits for ranks 1, 2, 3, 4 and 2 more" in text
    assert "rank 1 waits for something that nobody does" in text
    assert text.endswith("trigger the event, or do not wait for it")


def test_what_is_begun_and_not_yielded_must_come_to_its_end_too() -> None:
    def job(rank: Rank) -> Steps:
        if rank.number == 0:
            rank.all_reduce("1KiB")
        yield rank.compute("1us")

    assert "all_reduce 0 (ranks 0, 1) waits for rank 1, rank 1 has ended" in stands_still(job, 2)


def test_what_is_begun_and_not_yielded_counts_for_the_completion_time() -> None:
    def job(rank: Rank) -> Steps:
        rank.all_reduce("1MiB")
        yield rank.compute("1us")

    result = netsim.simulate(job, FABRIC, ranks=2)
    assert result.summary["completion_time_ps"] == result.collectives["end_ps"].max() > 80_000_000


def test_a_deadlock_under_a_time_limit_is_a_deadlock() -> None:
    def job(rank: Rank) -> Steps:
        if rank.number == 0:
            yield rank.recv(1, "1KiB")

    assert "rank 1 has ended" in stands_still(job, 2, time_limit="1s")


def test_a_job_that_computes_for_ever_ends_at_the_time_limit() -> None:
    def job(rank: Rank) -> Steps:
        while True:
            yield rank.compute("1us")

    assert stands_still(job, 2, time_limit="1ms") == (
        "not finished within the time limit of 1,000 us: 0 collectives are finished, none is under way; "
        "raise the time limit"
    )


def test_ranks_that_end_before_the_last_acks_are_whole_under_a_time_limit() -> None:
    def job(rank: Rank) -> Steps:
        yield rank.send(1, "4KiB") if rank.number == 0 else rank.recv(0, "4KiB")

    free = netsim.simulate(job, FABRIC, ranks=2)
    end = free.summary["completion_time_ps"]
    held = netsim.simulate(job, FABRIC, ranks=2, time_limit=end)  # the ACK arrives later
    assert held.flows.equals(free.flows)


def mistake(job: Any, ranks: Any = 2) -> str:
    with pytest.raises(InputError) as caught:
        netsim.simulate(job, FABRIC, ranks=ranks)
    assert caught.value.hint
    assert "\n" not in str(caught.value)
    return str(caught.value)


def plain(rank: Rank) -> None:
    """No generator: it yields nothing."""


async def later(rank: Rank) -> None:
    rank.compute("1us")


def yields_a_number(rank: Rank) -> Steps:
    yield 17


def yields_a_list(rank: Rank) -> Steps:
    yield [rank.compute("1us")]


def does(act: Callable[[Rank], Any]) -> Callable[[Rank], Steps]:
    def job(rank: Rank) -> Steps:
        yield act(rank)

    return job


@pytest.mark.parametrize(
    ("job", "said"),
    [
        (plain, "plain: the job gives None where it should yield what the rank does; write `yield rank.all_reduce"),
        (later, "later: the job gives coroutine where it should yield"),
        (yields_a_number, "yields_a_number: rank 0 yields 17, which is no event; yield what a method gives"),
        (yields_a_list, "yields_a_list: rank 0 yields list, which is no event"),
        (does(lambda rank: rank.all_reduce("12 parsec")), "all_reduce of rank 0: '12 parsec' has the unknown unit"),
        (does(lambda rank: rank.all_reduce(-1)), "all_reduce of rank 0: -1 is negative"),
        (does(lambda rank: rank.all_reduce(0.5)), "all_reduce of rank 0: 0.5 is no size"),
        (does(lambda rank: rank.send(1, None)), "send of rank 0: None is no size"),
        (does(lambda rank: rank.compute("soon")), "compute of rank 0: 'soon' is no time"),
        (does(lambda rank: rank.compute(-5)), "compute of rank 0: -5 is negative"),
        (does(lambda rank: rank.broadcast("1KiB", root=2)), "broadcast of rank 0: root = 2; give a position in"),
        (does(lambda rank: rank.barrier(group=[])), "barrier of rank 0: no group []; list ranks from 0 to 1"),
        (does(lambda rank: rank.barrier(group=[0, 0])), "barrier of rank 0: no group [0, 0]"),
        (does(lambda rank: rank.barrier(group="ab")), "barrier of rank 0: no group 'ab'"),
        (does(lambda rank: rank.barrier(group=5)), "barrier of rank 0: no group 5"),
        (does(lambda rank: rank.send("next", 1)), "send of rank 0: no group (0, 'next')"),
    ],
)
def test_a_mistake_of_user_code_names_the_rank_the_call_and_the_mend(job: Any, said: str) -> None:
    assert said in mistake(job)


@pytest.mark.parametrize("ranks", [0, -3, True, 2.5, "four", 1 << 40])
def test_a_number_of_ranks_that_makes_no_sense(ranks: Any) -> None:
    assert mistake(does(lambda rank: rank.barrier()), ranks).startswith(f"simulate: ranks = {ranks!r}")


def test_ranks_belong_to_a_job_alone() -> None:
    with pytest.raises(InputError, match="ranks = 4 with a trace"):
        netsim.simulate("perm16", FABRIC, ranks=4)


def test_a_failed_event_reaches_the_job_that_waits_for_it() -> None:
    caught = []

    def job(rank: Rank) -> Steps:
        event = rank.env.event()
        event.fail(KeyError("mine"))
        try:
            yield event
        except KeyError as error:
            caught.append(error.args)
        yield rank.barrier()

    netsim.simulate(job, FABRIC, ranks=2)
    assert caught == [("mine",)] * 2


def test_groups_named_in_another_order_by_each_rank_of_a_trace_cannot_deadlock(tmp_path: Path) -> None:
    """The lines of a trace are one order for all ranks, so that the first unfinished one can always go on."""
    trace = tmp_path / "t.jsonl"
    lines = ['{"netsim": 1, "ranks": 3, "groups": {"a": [0, 1], "b": [1, 0], "c": [2, 1, 0]}}']
    lines += [f'{{"op": "all_reduce", "group": "{name}", "bytes": 1024, "stream": "{name}"}}' for name in "abcabcbca"]
    trace.write_text("\n".join(lines) + "\n")
    assert main(["run", str(trace), "--on", FABRIC, "--json"]) == 0
