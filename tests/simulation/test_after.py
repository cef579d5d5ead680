"""`after`: an operation waits for others on other streams of its ranks, in a replay and in a file."""

from pathlib import Path

import pytest

import netsim
from netsim import InputError, Trace
from netsim.traces import read, write_native
from tests.inputs import saved
from tests.traffic import compute, send

US = 1_000_000  # ps


def test_a_replay_waits_across_streams_but_not_a_receiver() -> None:
    operations = (
        compute(0, 30 * US, stream="a"),
        compute(0, 20 * US, stream="b"),
        send(0, 1, stream="c", after=(0, 1)),
        compute(1, 90 * US, stream="d"),
        send(0, 1, stream="e", after=(3,)),  # rank 0 has no part in what is awaited, rank 1 only receives
    )
    flows = netsim.simulate(Trace("by hand", 4, {}, operations), "fat_tree_k4_100g").flows
    starts = dict(zip(flows["collective"].tolist(), flows["start_ps"].tolist(), strict=True))
    assert sorted(starts.values()) == [0, 30 * US]


def test_a_file_names_earlier_operations(tmp_path: Path) -> None:
    trace = Trace("job", 2, {}, (compute(0, 5, stream="a"), send(0, 1, stream="b", after=(0,))))
    path = tmp_path / "job.jsonl"
    write_native(trace, path)
    assert '"after": [0]' in path.read_text()
    assert read(path).operations[1].after == (0,)
    free = Trace("job", 2, {}, (trace.operations[0], send(0, 1, stream="b")))
    assert read(path).digest() == trace.digest() != free.digest()


@pytest.mark.parametrize("after", ["[1]", "[-1]", "[0.5]", "[]", '"0"', "[2]"])
def test_what_is_awaited_must_come_earlier(after: str, tmp_path: Path) -> None:
    first = '{"op": "compute", "ranks": [0], "duration": "1us"}'
    second = f'{{"op": "send", "src": 0, "dst": 1, "bytes": 5, "after": {after}}}'
    path = saved(tmp_path / "job.jsonl", ['{"netsim": 1, "ranks": 2}', first, second])
    with pytest.raises(InputError, match=r"job.jsonl:3: .*after"):
        read(path)
