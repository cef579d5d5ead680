"""What user code did, as a trace: in an order that is every rank's own, with its groups, to be run again."""

from pathlib import Path

import netsim
from netsim import Operation
from netsim.simulation.job import Rank
from netsim.simulation.job_recorder import JobRecorder
from netsim.simulation.replay import Steps

PAIR, TRIO = (0, 1), (0, 1, 2)


def test_an_operation_that_began_first_stands_after_what_its_ranks_did_before() -> None:
    recorder = JobRecorder(3)
    recorder.note(2, "late", Operation("all_gather", None, TRIO))  # rank 2 is there first and waits
    for rank in PAIR:
        recorder.note(rank, "pair", Operation("all_reduce", None, PAIR))
        recorder.note(rank, "late", Operation("all_gather", None, TRIO))
    assert [each.op for each in recorder.trace("job").operations] == ["all_reduce", "all_gather"]


def test_crossed_order_stays_as_it_began() -> None:
    recorder = JobRecorder(2)
    for rank, keys in enumerate((("a", "b"), ("b", "a"))):
        for key in keys:
            recorder.note(rank, key, Operation("all_reduce" if key == "a" else "all_gather", None, PAIR))
    assert [each.op for each in recorder.trace("job").operations] == ["all_reduce", "all_gather"]


def test_groups_have_one_name_each() -> None:
    recorder = JobRecorder(200)
    groups = [tuple(range(100)), (*range(99), 100), (0, 3), (0, 1, 2, 3), tuple(range(200))]
    names = [recorder.group(members).name for members in groups]
    assert len(set(names)) == len(names)
    assert names[-1] == recorder.group(None).name == "world"
    assert all(len(name) < 100 for name in names)
    assert names == [recorder.group(members).name for members in groups]


def test_a_job_on_groups_is_saved_and_run_again_to_the_same_times(tmp_path: Path) -> None:
    def job(rank: Rank) -> Steps:
        if rank.number == 2:
            yield rank.all_gather("64KiB", group=[2, 0])
        else:
            yield rank.all_reduce("64KiB", group=[0, 1])
            if rank.number == 0:
                yield rank.all_gather("64KiB", group=[2, 0])
        yield rank.barrier()

    first = netsim.simulate(job, "fat_tree_k4_100g", ranks=3)
    first.save(tmp_path / "out")
    again = netsim.simulate(netsim.load_scenario(tmp_path / "out" / "run.json"))
    assert list(again.collectives["op"]) == ["all_reduce", "all_gather", "barrier"]
    assert again.summary["completion_time_ps"] == first.summary["completion_time_ps"]
