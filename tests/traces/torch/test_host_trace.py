"""Execution traces of the host and communication traces of param, each standing for one trap."""

import json
from pathlib import Path
from typing import Any

import pytest

from netsim.errors import InputError
from netsim.traces import Trace, read
from tests.inputs import saved
from tests.traces.operations import sizes
from tests.traces.torch.pytorch_files import Json, host_call, host_trace, node

GROUPS = '[{"pg_name": "0", "ranks": [], "group_size": 4}, {"pg_name": "tp", "ranks": [1, 3], "group_size": 2}]'
INIT = node(2, "## process_group:init ##", [GROUPS], ["String"])


def write(folder: Path, nodes: list[Json], name: str = "et.rank0.json", **more: Any) -> Path:
    return saved(folder / name, host_trace(nodes, **more))


def one(folder: Path, *nodes: Json, **more: Any) -> Trace:
    return read(write(folder, list(nodes), **more), fill_missing_ranks=True)


def test_calls_are_not_doubled_by_their_annotations(tmp_path: Path) -> None:
    tensor = [[6, 7, 0, 10, 4, "cuda:0"]]
    nodes = [
        INIT,
        node(8, "c10d::allreduce_", [tensor, "<Object>"], ["GenericList[Tensor(float)]", "Object"]),
        node(10, "nccl:all_reduce", tensor, ["Tensor(float)"]),
        host_call(9, "allreduce", 10, 10, rank=0),
    ]
    trace = one(tmp_path, *nodes)
    assert sizes(trace) == [("all_reduce", 40)]
    assert (trace.ranks, trace.operations[0].ranks) == (4, (0, 1, 2, 3))


def test_an_empty_list_of_ranks_stands_for_all(tmp_path: Path) -> None:
    trace = one(tmp_path, INIT, host_call(9, "allreduce", 10, 10, rank=1))
    assert trace.operations[0].ranks == (0, 1, 2, 3)
    assert trace.report.seen == (1,)  # what the calls say holds, not the file's name


def test_rank_in_a_call_is_the_callers_place_in_the_group(tmp_path: Path) -> None:
    trace = one(tmp_path, INIT, host_call(9, "allreduce", 10, 10, rank=1, pg_name="tp"))
    assert (trace.report.seen, trace.operations[0].ranks) == ((3,), (1, 3))


def test_rank_in_a_broadcast_is_its_root(tmp_path: Path) -> None:
    nodes = [INIT, host_call(9, "broadcast", 10, 10, rank=1), host_call(11, "allreduce", 1, 1, rank=0)]
    trace = one(tmp_path, *nodes)
    assert [each.root for each in trace.operations] == [1, 0]
    assert trace.report.seen == (0,)


def test_nodes_stand_in_the_order_in_which_they_end(tmp_path: Path) -> None:
    nodes = [INIT, host_call(20, "allreduce", 2, 2, rank=0), host_call(10, "allreduce", 1, 1, rank=0)]
    assert sizes(one(tmp_path, *nodes)) == [("all_reduce", 4), ("all_reduce", 8)]


def test_wait_is_no_traffic(tmp_path: Path) -> None:
    nodes = [INIT, host_call(9, "allreduce", 10, 10, rank=0), host_call(12, "wait", 0, 0, rank=0, pg_name="")]
    trace = one(tmp_path, *nodes)
    assert (len(trace.operations), trace.report.skipped) == (1, {"wait and init": 1})


def old(number: int, tensors: Any, kind: str, name: str, splits: list[int], group: int = 94594108284448) -> Json:
    """A call in schema 1.0.1: everything by its place, a group by its address."""
    inputs = [tensors, number, group, 0, name, splits, splits]
    types = [kind, "Int", "Int", "Int", "String", "GenericList[Int]", "GenericList[Int]"]
    return {"name": "record_param_comms", "id": number, "inputs": inputs, "input_types": types, "outputs": []}


def test_oldest_schema_tells_by_place_and_its_splits_tell_the_ranks(tmp_path: Path) -> None:
    nodes = [
        old(5, [[1, 2, 0, 100, 4, "cuda:0"]], "GenericList[Tensor(float)]", "allreduce", []),
        old(7, [1, 2, 0, 40, 8, "cuda:0"], "Tensor(long int)", "all_to_allv", [1, 2, 3, 4]),
        {"name": "record_param_comms", "id": 8, "inputs": [7, 0, 0, "wait", [], []], "input_types": ["Int"] * 3},
    ]
    trace = one(tmp_path, *nodes, schema="1.0.1")
    assert trace.ranks == 4
    assert [(each.op, each.dtype) for each in trace.operations] == [("all_reduce", "fp32"), ("all_to_all_v", "int64")]
    sizes = trace.operations[1].sizes
    assert sizes is not None
    assert sizes[0] == (32, 64, 96, 128)
    assert sizes[1] == (128, 32, 64, 96)


def test_gloo_names_no_groups_and_says_so(tmp_path: Path) -> None:
    tensor = [[6, 7, 0, 10, 4, "cpu"]]
    nodes = [
        INIT,
        node(9, "gloo:all_reduce", tensor, ["Tensor(float)"]),
        node(12, "gloo:send", tensor, ["Tensor(float)"]),
        node(15, "gloo:barrier", [], []),
    ]
    trace = one(tmp_path, *nodes)
    assert sizes(trace) == [("all_reduce", 40), ("barrier", 0)]
    assert any("annotations are read" in note for note in trace.notes)
    assert trace.report.skipped == {"send without its other end": 1}


@pytest.mark.parametrize("groups", ["[", "{}", "[1]", '[{"pg_name": 3}]', "[" * 100_000])
def test_damaged_list_of_groups_is_no_traceback(tmp_path: Path, groups: str) -> None:
    nodes = [node(2, "## process_group:init ##", [groups], ["String"]), host_call(9, "allreduce", 10, 10, rank=0)]
    assert sizes(one(tmp_path, *nodes)) == [("all_reduce", 40)]


def test_trace_without_collectives(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"et.rank0.json: there are no collectives in this execution trace"):
        read(write(tmp_path, [node(3, "aten::add", [], [])]))


def param(folder: Path, entries: list[Json], name: str = "comms.rank0.json") -> Path:
    init = {"comms": "init", "req": -1, "pg_id": 0, "world_size": 2}
    return saved(folder / name, json.dumps([init, *entries], indent=1))


def sent(comms: str, count: int, received: int | None = None, **more: Any) -> Json:
    out = count if received is None else received
    return {"comms": comms, "in_msg_size": count, "out_msg_size": out, "dtype": "float", "pg_id": 0, **more}


def test_param_sizes_are_elements(tmp_path: Path) -> None:
    entries = [sent("all_reduce", 10), sent("all_gather", 10, 20), sent("broadcast", 5, root=1, dtype="long")]
    trace = read(param(tmp_path, entries), fill_missing_ranks=True)
    assert sizes(trace) == [("all_reduce", 40), ("all_gather", 80), ("broadcast", 40)]
    assert trace.operations[2].root == 1


def test_param_waits_and_computing_are_skipped(tmp_path: Path) -> None:
    entries = [sent("all_reduce", 10), {"comms": "wait", "req": [1, False]}, {"compute": "gemm", "mm_dim": 4}]
    trace = read(param(tmp_path, entries), fill_missing_ranks=True)
    assert trace.report.skipped == {"computing without a time": 1, "wait and init": 2}


def test_param_groups_and_transfers(tmp_path: Path) -> None:
    pair = {"comms": "init", "pg_id": 7, "global_ranks": [2, 5], "world_size": 2}
    send, recv = sent("send", 10, pg_id=7, dst_rank=5, src_rank=2), sent("recv", 10, pg_id=7, dst_rank=5, src_rank=2)
    trace = read([param(tmp_path, [pair, send], "r.rank2.json"), param(tmp_path, [pair, recv], "r.rank5.json")])
    assert [(each.op, each.src, each.dst, each.bytes) for each in trace.operations] == [("send", 2, 5, 40)]
