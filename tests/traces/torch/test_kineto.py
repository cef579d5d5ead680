"""PyTorch profiler traces, each standing for one trap."""

import gzip
import json
from pathlib import Path

import pytest

from netsim.errors import InputError
from netsim.traces import read
from tests.inputs import refusal, saved
from tests.traces.torch.pytorch_files import ANNOTATION, AR, US, call, event, kernel, kineto, network, one


def test_call_kernel_and_both_annotations_are_one_collective(tmp_path: Path) -> None:
    trace = one(
        tmp_path,
        call(10, **AR),
        event("nccl:all_reduce", "user_annotation", 11, 3, ANNOTATION),
        kernel(50, 20, **AR),
        event("nccl:all_reduce", "gpu_user_annotation", 50, 20, {}),
    )
    (operation,) = network(trace)
    assert (operation.op, operation.bytes, operation.dtype, operation.ranks) == ("all_reduce", 1000, "fp32", (0, 1))
    assert operation.recorded_duration_ps == 20 * US


def test_time_of_the_call_is_not_a_duration(tmp_path: Path) -> None:
    trace = one(tmp_path, call(10, 400, **AR), call(900, 400, **AR))
    assert [each.recorded_duration_ps for each in network(trace)] == [None, None]
    assert [each.recorded_start_ps for each in network(trace)] == [0, 890 * US]
    assert len(trace.operations) == 2  # nothing is computed between calls that only were made
    assert any("times are of the calls" in note for note in trace.report.assumed)


def test_wait_and_init_are_no_traffic(tmp_path: Path) -> None:
    trace = one(tmp_path, call(1, name="init", sent=0), call(2, **AR), call(3, name="wait", sent=0))
    assert [each.op for each in network(trace)] == ["all_reduce"]
    assert trace.report.skipped == {"wait and init": 2}


def test_barrier_and_the_all_reduce_inside_it_are_one(tmp_path: Path) -> None:
    trace = one(tmp_path, call(10, 50, name="barrier", sent=1), call(12, 20, name="allreduce", sent=1), call(90, **AR))
    assert [(each.op, each.bytes) for each in network(trace)] == [("barrier", 0), ("all_reduce", 1000)]


@pytest.mark.parametrize(
    ("name", "sent", "received", "op", "full"),
    [
        ("_allgather_base", 10, 20, "all_gather", 80),
        ("allgather_into_tensor_coalesced", 10, 20, "all_gather", 80),
        ("_reduce_scatter_base", 20, 10, "reduce_scatter", 80),
        ("all_to_all", 20, 20, "all_to_all", 80),
        ("broadcast", 20, 20, "broadcast", 80),
        ("gather", 10, 20, "gather", 80),
        ("scatter", 0, 10, "scatter", 80),
        ("reduce", 20, 20, "reduce", 80),
        ("allreduce_coalesced", 20, 20, "all_reduce", 80),
    ],
)
def test_elements_held_by_a_rank_become_the_full_buffer(
    tmp_path: Path, name: str, sent: int, received: int, op: str, full: int
) -> None:
    (operation,) = network(one(tmp_path, kernel(1, 2, name=name, sent=sent, received=received)))
    assert (operation.op, operation.bytes) == (op, full)


@pytest.mark.parametrize(
    ("dtype", "name", "size"),
    [("Half", "fp16", 2), ("BFloat16", "bf16", 2), ("Long", "int64", 8), ("Float8_e4m3fn", "fp8e4m3", 1)],
)
def test_types_of_pytorch(tmp_path: Path, dtype: str, name: str, size: int) -> None:
    (operation,) = network(one(tmp_path, kernel(1, 2, name="allreduce", sent=10, dtype=dtype)))
    assert (operation.dtype, operation.bytes) == (name, 10 * size)


def test_unknown_type_is_refused_not_guessed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"rank0.json:\d+: the type of data 'Float7' is none that netsim knows"):
        one(tmp_path, kernel(1, 2, name="allreduce", sent=10, dtype="Float7"))


def test_kernels_on_two_streams_may_overlap(tmp_path: Path) -> None:
    trace = one(tmp_path, kernel(10, 50, **AR), kernel(20, 60, stream=21, name="broadcast", sent=5, pg="tp"))
    assert len({each.stream for each in network(trace)}) == 2
    assert [each.recorded_start_ps for each in network(trace)] == [0, 10 * US]


def test_file_order_is_not_program_order(tmp_path: Path) -> None:
    trace = one(tmp_path, kernel(90, 5, name="broadcast", sent=1), kernel(10, 5, **AR))
    assert [each.op for each in network(trace)] == ["all_reduce", "broadcast"]


def test_older_trace_takes_sizes_from_shapes_and_times_from_kernels(tmp_path: Path) -> None:
    trace = one(
        tmp_path,
        event("record_param_comms", "cpu_op", 10, 5, {"Input Dims": [[250]]}),
        event("nccl:all_reduce", "user_annotation", 11, 3, ANNOTATION),
        event("nccl:all_to_all", "user_annotation", 21, 3, {"Input Dims": [[2, 5]], "Input type": ["long int"]}),
        kernel(30, 7),
        kernel(40, 9, op="SendRecv"),
    )
    found = [(each.op, each.bytes, each.recorded_duration_ps) for each in network(trace)]
    assert found == [("all_reduce", 1000, 7 * US), ("all_to_all", 80, 9 * US)]
    assert any("sizes are estimated" in note for note in trace.report.assumed)
    assert any("as of all 2 ranks" in note for note in trace.report.assumed)


def test_kernels_that_do_not_fit_the_calls_give_no_times(tmp_path: Path) -> None:
    both = [event("nccl:all_reduce", "user_annotation", ts, 3, ANNOTATION) for ts in (11, 15)]
    trace = one(tmp_path, *both, kernel(30, 7))
    assert [each.recorded_duration_ps for each in network(trace)] == [None, None]
    assert any("1 AllReduce kernels for 2 calls" in note for note in trace.notes)


def test_sizes_that_are_not_there_are_said_to_be_missing(tmp_path: Path) -> None:
    bare = event("nccl:all_reduce", "user_annotation", 11, 3, {})
    with pytest.raises(InputError, match=r"does not tell the sizes .*1 AllReduce kernels, 1 all_reduce.*record_shapes"):
        one(tmp_path, event("record_param_comms", "cpu_op", 10, 5, {}), bare, kernel(30, 7))


@pytest.mark.parametrize(
    ("name", "cat", "recorded"),
    [
        ("gloo:all_reduce", "user_annotation", "1 gloo:all_reduce"),
        ("void deep_ep::internode::dispatch<8>(int4*)", "kernel", "1 kernels of DeepEP"),
        ("aten::add", "cpu_op", "no NCCL collectives in this profiler trace;"),
    ],
)
def test_trace_without_nccl_says_what_there_is(tmp_path: Path, name: str, cat: str, recorded: str) -> None:
    assert recorded in refusal(one, tmp_path, event(name, cat, 1, 1, {}))


def test_rank_is_taken_from_the_name_where_the_file_does_not_tell(tmp_path: Path) -> None:
    path = kineto(tmp_path, None, [kernel(1, 2, **AR)])
    with pytest.raises(InputError, match="does not say which rank it is of; put the rank into the file's name"):
        read(path, fill_missing_ranks=True)
    named = path.rename(tmp_path / "job.rank1.pt.trace.json")
    assert read(named, fill_missing_ranks=True).report.seen == (1,)


def test_keys_in_another_order_and_packed(tmp_path: Path) -> None:
    whole = json.loads(kineto(tmp_path, 0, [call(1, **AR), kernel(1, 2, **AR)]).read_text())
    path = saved(tmp_path / "sorted.json.gz", gzip.compress(json.dumps(whole, sort_keys=True).encode()))
    assert [each.bytes for each in network(read(path, fill_missing_ranks=True))] == [1000]


def test_bare_list_of_events(tmp_path: Path) -> None:
    recorded = kernel(1, 2, **AR, **{"Process Group Ranks": "[0, 1]"})
    path = saved(tmp_path / "events.rank0.json", json.dumps([recorded]))
    assert read(path, fill_missing_ranks=True).ranks == 2


def test_times_that_cannot_be_true_are_not_used(tmp_path: Path) -> None:
    trace = one(tmp_path, kernel(1e15, 3, **AR), kernel(1, 3, **AR))
    assert [each.op for each in trace.operations] == ["all_reduce", "all_reduce"]
    assert any("they are not used" in note for note in trace.report.assumed)
