"""A hundred thousand brackets in a file of each format end in a message, in little memory, not in a crash."""

from __future__ import annotations

from pathlib import Path

import pytest

from netsim.errors import InputError
from netsim.traces import format_of, read

HEADS = {
    "native": '{"netsim": 1, "ranks": 2}\n',
    "chakra": '{"workload_graph": [',
    "nccl_profiler": '[\n{"name": "AllReduce", "cat": "COLL", "ph": "b", "args": ',
    "kineto": '{"traceEvents": [{"ph": "X", "name": "record_param_comms", "args": ',
    "inspector": '{"coll_perf": ',
    "flight_recorder": '{"entries": [{"profiling_name": ',
    "pytorch_et": '{"schema": "1.1.1-chakra.0.0.4", "nodes": [{"name": "record_param_comms", "inputs": ',
    "param_comms": '[{"comms": "init"}, ',
}


@pytest.mark.parametrize("bracket", ["[", '{"a":'])
@pytest.mark.parametrize(("name", "head"), HEADS.items())
def test_a_bomb_of_brackets(tmp_path: Path, name: str, head: str, bracket: str) -> None:
    path = tmp_path / "job.rank0.json"
    path.write_text(head + bracket * 100_000)
    assert format_of(path) == name
    with pytest.raises(InputError) as caught:
        read(path, fill_missing_ranks=True)
    assert len(str(caught.value)) < 500
    assert caught.value.hint
