"""Matrices of flows in the native format: their own starts, their waits, their queue pairs."""

import json
from pathlib import Path
from typing import Any

import pytest

from netsim.traces import Operation, Turn, members, read, write_native
from tests.inputs import check_refusal, refusal, saved

HEADER = '{"netsim": 1, "ranks": 4}'


def of(folder: Path, *flows: Any) -> Operation:
    path = saved(folder / "job.jsonl", [HEADER, json.dumps({"op": "flows", "flows": flows})])
    (operation,) = read(path).operations
    return operation


def flow(src: int, dst: int, size: Any = 5, **more: Any) -> dict[str, Any]:
    return {"src": src, "dst": dst, "bytes": size, **more}


def test_a_flow_may_say_more_than_its_neighbour(tmp_path: Path) -> None:
    operation = of(tmp_path, [0, 1, 5], flow(1, 2, "1KiB", after=[0], channel=3), flow(3, 0, start="5us"))
    assert operation.flows == ((0, 1, 5), (1, 2, 1024), (3, 0, 5))
    assert operation.turns == (Turn(), Turn(0, (0,), 3), Turn(5_000_000))
    assert (operation.ranks, operation.bytes) == ((0, 1, 2, 3), 1034)


def test_objects_that_say_nothing_more_make_a_plain_matrix(tmp_path: Path) -> None:
    plain, long = of(tmp_path, [0, 1, 5]), of(tmp_path, flow(0, 1))
    assert plain == long
    assert plain.turns == ()


def test_a_flow_may_wait_for_a_later_one(tmp_path: Path) -> None:
    assert of(tmp_path, flow(1, 2, after=[1]), [0, 1, 5]).turns == (Turn(after=(1,)), Turn())


def test_turns_change_the_digest_and_no_turns_do_not(tmp_path: Path) -> None:
    digests = set()
    for turn in ({}, {"start": "5us"}, {"after": [0]}, {"channel": 1}):
        of(tmp_path, [0, 1, 5], flow(0, 2, **turn))
        digests.add(read(tmp_path / "job.jsonl").digest())
    assert len(digests) == 4


def test_only_what_is_told_is_written(tmp_path: Path) -> None:
    operation = of(tmp_path, [0, 1, 5], flow(1, 2, after=[0]), flow(3, 0, start="1.5us", channel=1))
    write_native(read(tmp_path / "job.jsonl"), tmp_path / "again.jsonl")
    written = json.loads((tmp_path / "again.jsonl").read_text().splitlines()[1])
    assert written["flows"] == [[0, 1, 5], flow(1, 2, after=[0]), flow(3, 0, start="1500ns", channel=1)]
    assert read(tmp_path / "again.jsonl").operations == (operation,)


@pytest.mark.parametrize(
    ("flows", "said"),
    [
        ([flow(0, 1, star="5us")], "a flow has no key \"star\"; did you mean 'start'?"),
        ([{"src": 0, "dst": 1}], 'the key "bytes" is missing'),
        ([flow(0, 1, start=5)], '"start" must be a time with its unit'),
        ([flow(0, 1, channel=-1)], '"channel" must be between 0'),
        ([flow(0, 1, channel=1 << 15)], '"channel" must be between 0'),
        ([flow(0, 1, after=0)], '"after" must be a list'),
        ([flow(0, 1, after=[])], '"after" holds 0 things'),
        ([flow(0, 1, after=[True])], "must be a whole number, not a truth"),
        ([flow(0, 1, after=[1])], "flow 0 waits for flow 1, which is not there; flows are numbered from 0 to 0"),
        ([flow(0, 1, after=[0])], "flow 0 waits for itself"),
        (
            [[0, 1, 5], flow(2, 1, after=[0])],
            "flow 1 waits for flow 0, but starts at rank 2, where that one neither ends nor starts; nothing tells",
        ),
        ([[0, 1, 0], flow(1, 2, after=[0])], "flow 1 waits for flow 0, and one of them carries no bytes"),
        ([flow(2, 2)], "a flow goes from rank 2 to itself"),
        ([flow(0, 4)], "a flow's target is 4, but the trace has 4 ranks"),
    ],
)
def test_a_mistake_is_refused_with_its_line(tmp_path: Path, flows: list[Any], said: str) -> None:
    check_refusal("job.jsonl:2: ", said, of, tmp_path, *flows)


def test_waits_count_as_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flows = [[0, 1, 5], [0, 1, 5], flow(1, 2, after=[0, 1])]
    of(tmp_path, *flows)
    monkeypatch.setattr("netsim.traces.native.MAX_CELLS", 4)
    assert "4 flows and sizes" in refusal(of, tmp_path, *flows)


def test_without_starts_every_rank_is_one_member(tmp_path: Path) -> None:
    operation = of(tmp_path, [3, 1, 5], flow(1, 3, after=[0]))
    assert members(operation) == ([(1, 0), (3, 0)], [(1, 0, 5), (0, 1, 5)])


def test_a_rank_is_a_member_for_each_start(tmp_path: Path) -> None:
    group, flows = members(of(tmp_path, [0, 1, 5], flow(0, 1, 6, start="2us"), flow(0, 2, 7, start="2us")))
    assert group == [(0, 0), (0, 2_000_000), (1, 0), (2, 0)]
    assert flows == [(0, 2, 5), (1, 2, 6), (1, 3, 7)]


def test_a_flow_that_waits_belongs_to_the_member_that_is_told(tmp_path: Path) -> None:
    """Flow 1 hears of the acknowledgement of flow 0, flow 2 of its arrival, flow 3 of that of flow 2."""
    recorded = [flow(0, 1, start="2us"), flow(0, 2, after=[0]), flow(1, 3, after=[0]), flow(3, 1, after=[2])]
    group, flows = members(of(tmp_path, *recorded))
    sources = [group[source] for source, _, _ in flows]
    assert sources == [(0, 2_000_000), (0, 2_000_000), (1, 0), (3, 0)]
    assert flows[0][1] == flows[2][0]
    assert flows[2][1] == flows[3][0]


def test_one_flow_cannot_wait_for_two_starts_of_its_own_rank(tmp_path: Path) -> None:
    operation = of(tmp_path, [0, 1, 5], flow(0, 2, start="2us"), flow(0, 3, after=[0, 1]))
    assert "flow 1 of rank 0 starts at another time" in refusal(members, operation)
