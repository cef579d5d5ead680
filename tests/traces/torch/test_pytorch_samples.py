"""Traces of real jobs, where they are at hand beside the checkout, against counts made by other means."""

import re
from collections import Counter
from pathlib import Path

import pytest

from netsim.errors import InputError
from netsim.traces import Trace, format_of, read
from netsim.traces.torch import flight_recorder, host_trace, kineto_events, param_comms
from netsim.traces.torch.calls import RankCall
from tests.inputs import refusal
from tests.traces.sample_files import needs_samples, sample

pytestmark = needs_samples
US = 1_000_000  # picoseconds
RESNET = {("all_reduce", 306_684_384): 15, ("broadcast", 638_712): 6}  # operation and its bytes in all: how many
RESNET_OPS = {"all_reduce": 15, "broadcast": 6}
DLRM = {"all_to_all": 5, "all_reduce": 3}


def one(name: str) -> Path:
    (path,) = sample(*name.split("/"))
    return path


def network(trace: Trace) -> Counter[str]:
    return Counter(each.op for each in trace.operations if each.op != "compute")


def by_operation(recorded: list[RankCall]) -> dict[tuple[str, int], int]:
    count = Counter(each.op for each in recorded)
    return {(op, sum(each.sent for each in recorded if each.op == op)): number for op, number in count.items()}


@pytest.mark.parametrize(
    ("folder", "name"),
    [(name, name) for name in ("kineto", "flight_recorder", "pytorch_et")] + [("param", "param_comms")],
)
def test_format_is_known_by_content(folder: str, name: str) -> None:
    assert {format_of(path) for path in sample(folder, "*")} == {name}


@pytest.mark.parametrize(
    ("name", "kernels", "bare", "annotations"),
    [
        ("hta_nccl_data", {"AllReduce": (15, 46_762.2), "Broadcast": (6, 114.3)}, 0, RESNET_OPS),
        ("hta_sampled_rank-0", {"SendRecv": (10, 396_199)}, 8, {"all_reduce": 4, "all_to_all": 4, "all_gather": 2}),
        ("hta_rank_not_found", {}, 12, {"all_to_all": 6}),
        (
            "hta_16ranks_rank0",
            {"SendRecv": (80, 190_345)},
            150,
            {"all_to_all": 55, "reduce_scatter": 10, "all_reduce": 10, "all_gather": 10},
        ),
        ("hta_large_2020_allreduce", {"AllReduce": (2020, 357_343)}, 4040, {"all_reduce": 2020}),
        ("param_dlrm_8gpu.worker0", {"SendRecv": (5, 3_999), "AllReduce": (3, 1_799)}, 13, DLRM),
        ("param_dlrm_8gpu.worker3", {"SendRecv": (5, 8_002), "AllReduce": (3, 1_772)}, 13, DLRM),
        ("deepseek_train", {}, 0, {}),
    ],
)
def test_events_of_a_profiler_trace(
    name: str, kernels: dict[str, tuple[int, float]], bare: int, annotations: dict[str, int]
) -> None:
    seen = kineto_events.scan(one(f"kineto/{name}.json.gz"))
    ran = Counter(each.op for each in seen.kernels)
    took = {op: sum(each.duration_ps for each in seen.kernels if each.op == op) / US for op in ran}
    assert {op: (number, round(took[op], 1)) for op, number in ran.items()} == kernels
    assert seen.nameless == bare
    assert Counter(each.op for each in seen.annotations) == annotations
    assert (seen.cut, seen.skipped) == (0, {})


def test_profiler_trace_of_resnet() -> None:
    path = one("kineto/hta_nccl_data.json.gz")
    seen = kineto_events.scan(path)
    assert by_operation([each.recorded for each in seen.calls if each.recorded]) == RESNET
    assert by_operation([each.recorded for each in seen.kernels if each.recorded]) == RESNET
    assert seen.waits == 6
    assert "only 1 of 2 ranks" in refusal(read, path)
    trace = read(path, fill_missing_ranks=True)
    assert (trace.ranks, network(trace)) == (2, RESNET_OPS)
    assert sum(each.bytes for each in trace.operations if each.op == "all_reduce") == 306_684_384
    assert sum(each.bytes for each in trace.operations if each.op == "broadcast") == 638_712
    recorded = [each for each in trace.operations if each.recorded_duration_ps is not None]
    assert round(sum(each.recorded_duration_ps or 0 for each in recorded) / US, 1) == 46_876.5
    assert sum(each.op == "compute" for each in trace.operations) == 20


def test_four_of_eight_ranks_of_dlrm() -> None:
    paths = [one(f"kineto/param_dlrm_8gpu.worker{rank}.json.gz") for rank in range(4)]
    for path in paths:
        assert Counter(each.op for each in kineto_events.scan(path).annotations) == DLRM
    assert re.search(r"only 4 of 8 ranks .*\(not 4, 5, 6, 7\)", refusal(read, paths))
    trace = read(paths, fill_missing_ranks=True)
    assert (trace.ranks, network(trace), trace.report.seen) == (8, DLRM, (0, 1, 2, 3))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("deepseek_train", "no NCCL collectives in this profiler trace .*32 kernels of DeepEP"),
        ("hta_large_2020_allreduce", "does not tell the sizes .*2,020 AllReduce kernels.*record_shapes"),
        ("hta_rank_not_found", "does not say which rank it is of"),
        (
            "gen_torch213_gloo4.rank0",
            "3 gloo:all_gather, 9 gloo:all_reduce, 3 gloo:all_to_all, 1 gloo:barrier, 3 gloo:broadcast, 3 gloo:send",
        ),
        ("gen_torch213_gloo4.rank2", "no NCCL .*9 gloo:all_reduce, .*3 gloo:recv"),
    ],
)
def test_profiler_traces_that_say_too_little(name: str, message: str) -> None:
    assert re.search(message, refusal(read, one(f"kineto/{name}.json.gz"), fill_missing_ranks=True))


@pytest.mark.parametrize(("name", "ranks"), [("hta_sampled_rank-0", 128), ("hta_16ranks_rank0", 16)])
def test_older_profiler_traces_say_that_sizes_are_estimated(name: str, ranks: int) -> None:
    trace = read(one(f"kineto/{name}.json.gz"), partial=True)
    assert trace.ranks == ranks
    assert any("sizes are estimated" in note for note in trace.report.assumed)


def test_execution_trace_of_resnet_says_the_same_as_the_profiler() -> None:
    path = one("pytorch_et/param_resnet_2gpu_rank1.json.gz")
    seen = host_trace.scan(path)
    assert by_operation(seen.calls) == RESNET
    assert seen.skipped == {"wait and init": 6}
    trace = read(path, fill_missing_ranks=True)
    other = read(one("kineto/hta_nccl_data.json.gz"), fill_missing_ranks=True)
    assert trace.report.seen == (1,)
    assert Counter((each.op, each.bytes, each.dtype) for each in trace.operations) == Counter(
        (each.op, each.bytes, each.dtype) for each in other.operations if each.op != "compute"
    )


def test_execution_trace_of_the_oldest_schema() -> None:
    path = one("pytorch_et/param_dlrm_eg_0.json.gz")
    seen = host_trace.scan(path)
    assert Counter(each.op for each in seen.calls) == DLRM
    assert Counter(each.op for each in seen.annotations) == DLRM
    assert seen.skipped == {"wait and init": 5}
    trace = read(path, fill_missing_ranks=True)
    assert (trace.ranks, network(trace)) == (8, {"all_to_all": 4, "all_to_all_v": 1, "all_reduce": 3})


def test_execution_trace_of_gloo() -> None:
    path = one("pytorch_et/gen_torch213_gloo4.rank0.json.gz")
    seen = host_trace.scan(path)
    assert not seen.calls
    three = dict.fromkeys(("broadcast", "all_gather", "all_to_all", "send"), 3)
    assert Counter(each.op for each in seen.annotations) == {"all_reduce": 9, "barrier": 1, **three}
    trace = read(path, fill_missing_ranks=True)
    assert trace.report.skipped == {"send without its other end": 3}
    assert sum(network(trace).values()) == 19


@pytest.mark.parametrize("kind", ["json", "pickle"])
def test_flight_recorder_of_four_ranks(kind: str) -> None:
    paths = [one(f"flight_recorder/torch213_gloo4_fr_rank{rank}.{kind}") for rank in range(4)]
    for rank, path in enumerate(paths):
        file = flight_recorder.scan(path)
        recorded = [each for each in file.recorded if each.group == "0"]
        assert (file.rank, file.events) == (rank, 19)
        three = dict.fromkeys([("broadcast", 1_536), ("all_gather", 1_536), ("all_to_all", 960)], 3)
        assert by_operation(recorded) == {("all_reduce", 12_084): 6, ("barrier", 0): 1, **three}
        own = [each for each in file.recorded if each.group == str(1 + rank // 2)]
        assert by_operation(own) == {("all_reduce", 49_152): 3}
    trace = read(paths)
    assert trace.ranks == 4
    of_all = {"all_reduce": 6, "broadcast": 3, "all_gather": 3, "all_to_all": 3, "barrier": 1}
    assert Counter((each.op, each.ranks) for each in trace.operations) == {
        **{(op, (0, 1, 2, 3)): count for op, count in of_all.items()},
        **{("all_reduce", pair): 3 for pair in ((0, 1), (2, 3))},
    }
    assert not trace.report.findings


def test_flight_recorder_dump_of_the_tutorial_is_told_from_a_file() -> None:
    with pytest.raises(InputError, match=r"as_printed.txt:21: this is not JSON .*as Python prints it"):
        read(one("flight_recorder/fr_tutorial_as_printed.txt"))


def test_readme_of_the_inspector() -> None:
    path = one("inspector/insp_readme_pretty_concat.json")
    assert re.search(r"only 1 of 8 ranks .*\(not 0, 1, 3, 4, 5, 6, 7\)", refusal(read, path))
    trace = read(path, fill_missing_ranks=True)
    assert (trace.ranks, trace.report.format, trace.report.seen) == (8, "inspector", (2, 4))
    assert [(each.op, each.bytes, each.recorded_duration_ps) for each in trace.operations] == [
        ("all_reduce", 17_179_869_184, 61_974 * US),
        ("reduce_scatter", 8 * 2_147_483_648, 41_057 * US),
    ]


def test_fragment_of_the_profiler_plugin() -> None:
    trace = read(one("inspector/nccl_profiler_example_fragment.json"), fill_missing_ranks=True)
    assert trace.report.format == "nccl_profiler"
    assert [(each.op, each.src, each.dst, each.bytes, each.dtype) for each in trace.operations] == [
        ("send", 0, 1, 268_435_456 * 4, "fp32")
    ]


def test_param_comms_of_resnet() -> None:
    path = one("param/param_comms_resnet_2gpu.rank1.json")
    file = param_comms.scan(path)
    assert (file.events, file.skipped) == (28, {"wait and init": 7})
    assert by_operation(file.recorded) == RESNET
    trace = read(path, fill_missing_ranks=True)
    assert (trace.ranks, network(trace)) == (2, RESNET_OPS)
