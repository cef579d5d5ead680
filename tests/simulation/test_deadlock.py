"""A job that cannot go on ends with one line that says who waits for whom, and where the chain ends."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import netsim
from netsim.simulation.job import Rank
from netsim.simulation.replay import Steps
from tests.cli.command_line import CommandLine
from tests.inputs import failure, refusal, saved

FABRIC = "fat_tree_k4_100g"


def jobs(*ranks: list[tuple[Any, ...]]) -> Callable[[Rank], Steps]:
    """Rank r does what ranks[r] lists, one after the other: a method and what it is given, options last."""

    def job(rank: Rank) -> Steps:
        for method, *given in ranks[rank.number]:
            options = given.pop() if given and isinstance(given[-1], dict) else {}
            yield getattr(rank, method)(*given, **options)

    return job


def stands_still(job: Callable[[Rank], Any], ranks: int, **settings: Any) -> str:
    return failure(netsim.simulate, job, FABRIC, ranks=ranks, **settings)


PAIR, TRIO = ("all_reduce", "1KiB", {"group": [0, 1]}), ("all_reduce", "1KiB", {"group": [0, 1, 2]})
AB, BC, CA = (("barrier", {"group": pair}) for pair in ([0, 1], [1, 2], [2, 0]))
SAME_ORDER = "a cycle; let the ranks of a group call its collectives in the same order"
CHAIN = (
    "the job stands still at 3 us: all_reduce 0 (ranks 0, 1, 2) waits for rank 2, "
    "rank 2 waits in send 1 (rank 3 to rank 2) for rank 3, rank 3 has ended; "
    "every rank of a group must call the collective, and each recv needs its send"
)
CROSSED = (
    "all_reduce 0 (ranks 0, 1) waits for rank 1, rank 1 waits in all_reduce 1 (ranks 0, 1, 2) for rank 0, "
    f"rank 0 waits in all_reduce 0 (ranks 0, 1): {SAME_ORDER}"
)
STANDS_STILL: list[tuple[list[list[tuple[Any, ...]]], str]] = [
    ([[TRIO], [TRIO], [("compute", "3us"), ("recv", 3, "1KiB"), TRIO], []], CHAIN),
    ([[PAIR, TRIO], [TRIO, PAIR], [TRIO]], CROSSED),
    ([[AB, CA], [BC, AB], [CA, BC]], SAME_ORDER),
    ([[("send", 1, "4KiB")], [], []], "waits for rank 1, rank 1 has ended"),
    ([[(call, 1, "4KiB") for call in ("recv", "send")], [(call, 0, "4KiB") for call in ("recv", "send")]], ": a cycle"),
    ([[TRIO, TRIO], [TRIO, TRIO], [TRIO]], "all_reduce 1 (ranks 0, 1, 2) waits for rank 2, rank 2 has ended"),
]


@pytest.mark.parametrize(("ranks", "said"), STANDS_STILL, ids=[said[-40:] for _, said in STANDS_STILL])
def test_a_job_that_cannot_go_on_says_who_waits_for_whom(ranks: list[list[tuple[Any, ...]]], said: str) -> None:
    assert said in stands_still(jobs(*ranks), len(ranks))


@pytest.mark.parametrize(
    "ranks",
    [
        [[("all_reduce", "4KiB")], [("all_reduce", "8KiB")], [("all_reduce", "8KiB")]],
        [[("all_reduce", "4KiB")], [("all_reduce", "4KiB")], [("all_gather", "4KiB")]],
        [[("broadcast", "4KiB", {"root": 0})], [("broadcast", "4KiB", {"root": 1})]],
        [[("all_reduce", "4KiB"), ("barrier",)], [("barrier",), ("all_reduce", "4KiB")]],
        [[("send", 1, "4KiB")], [("recv", 0, "8KiB")]],
    ],
)
def test_ranks_that_call_different_things_are_told(ranks: list[list[tuple[Any, ...]]]) -> None:
    assert "where others call" in stands_still(jobs(*ranks), len(ranks))


def test_a_rank_that_waits_for_its_own_event_is_told_from_one_that_ended() -> None:
    def job(rank: Rank) -> Steps:
        if rank.number:
            yield rank.env.event()
        yield rank.barrier()

    text = stands_still(job, 7)
    assert "barrier 0 (ranks 0, 1, 2, 3 and 3 more) waits for ranks 1, 2, 3, 4 and 2 more" in text
    assert "rank 1 waits for something that nobody does" in text
    assert text.endswith("trigger the event, or do not wait for it")
    assert "ranks 0, 1, 2 wait for something that nobody does" in stands_still(does(lambda rank: rank.env.event()), 3)


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
    assert "rank 1 has ended" in stands_still(jobs([("recv", 1, "1KiB")], []), 2, time_limit="1s")


def test_a_job_that_computes_for_ever_ends_at_the_time_limit() -> None:
    def job(rank: Rank) -> Steps:
        while True:
            yield rank.compute("1us")

    assert stands_still(job, 2, time_limit="1ms") == (
        "not finished within the time limit of 1,000 us: 0 collectives are finished, none is under way; "
        "raise the time limit"
    )


def test_ranks_that_end_before_the_last_acks_are_whole_under_a_time_limit() -> None:
    job = jobs([("send", 1, "4KiB")], [("recv", 0, "4KiB")])
    free = netsim.simulate(job, FABRIC, ranks=2)
    end = free.summary["completion_time_ps"]
    held = netsim.simulate(job, FABRIC, ranks=2, time_limit=end)  # the ACK arrives later
    assert held.flows.equals(free.flows)


def mistake(job: Any, ranks: Any = 2) -> str:
    return refusal(netsim.simulate, job, FABRIC, ranks=ranks)


def plain(rank: Rank) -> None:
    """No generator: it yields nothing."""


async def later(rank: Rank) -> None:
    rank.compute("1us")


def does(act: Callable[[Rank], Any]) -> Callable[[Rank], Steps]:
    def job(rank: Rank) -> Steps:
        yield act(rank)

    return job


@pytest.mark.parametrize(
    ("job", "said"),
    [
        (plain, "plain: the job gives None where it should yield what the rank does; write `yield rank.all_reduce"),
        (later, "later: the job gives coroutine where it should yield"),
        (does(lambda rank: 17), "job: rank 0 yields 17, which is no event; yield what a method gives"),
        (does(lambda rank: [rank.compute("1us")]), "job: rank 0 yields list, which is no event"),
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
        (does(lambda rank: rank.send(17, 1)), "send of rank 0: no group (0, 17)"),
        (does(lambda rank: rank.send(rank.number, 1)), "rank 0 to itself; name another rank"),
        (does(lambda rank: rank.barrier(group=[1])), "of rank 0: the rank is not in the group"),
    ],
)
def test_a_mistake_of_user_code_names_the_rank_the_call_and_the_mend(job: Any, said: str) -> None:
    assert said in mistake(job)


@pytest.mark.parametrize("ranks", [0, -3, True, 2.5, "four", 1 << 40])
def test_a_number_of_ranks_that_makes_no_sense(ranks: Any) -> None:
    assert mistake(does(lambda rank: rank.barrier()), ranks).startswith(f"simulate: ranks = {ranks!r}")


def test_ranks_belong_to_a_job_alone() -> None:
    assert "ranks = 4 with a trace" in refusal(netsim.simulate, "perm16", FABRIC, ranks=4)


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


def test_groups_named_in_another_order_by_each_rank_of_a_trace_cannot_deadlock(
    tmp_path: Path, cli: CommandLine
) -> None:
    """The lines of a trace are one order for all ranks, so that the first unfinished one can always go on."""
    lines = ['{"netsim": 1, "ranks": 3, "groups": {"a": [0, 1], "b": [1, 0], "c": [2, 1, 0]}}']
    lines += [f'{{"op": "all_reduce", "group": "{name}", "bytes": 1024, "stream": "{name}"}}' for name in "abcabcbca"]
    cli.json("run", saved(tmp_path / "t.jsonl", lines), "--on", FABRIC)
