"""SimAI workloads and AICB tables: each small file holds one trap."""

from pathlib import Path
from typing import Any

import pytest

from netsim.traces import Trace, format_of, read
from netsim.traces.simai.parallel import ParallelLayout
from tests.inputs import check_refusal, refusal, saved

HEAD = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 1 vpp: 2 ga: 1 all_gpus: 8 checkpoints: 0"
NONE = "1 NONE 0"


def simai(folder: Path, *rows: str, head: str = HEAD, count: int | None = None) -> Trace:
    lines = [head, str(len(rows) if count is None else count), *rows]
    return read(saved(folder / "small.txt", "\n".join(lines)))  # no newline at the end


def row(forward: str = NONE, inputs: str = NONE, weights: str = NONE, update: int = 0) -> str:
    return f"layer\t-1  {forward} {inputs}\t{weights} {update} "


def calls(trace: Trace) -> list[tuple[Any, ...]]:
    return [(each.op, each.ranks, each.bytes) for each in trace.operations if each.op != "compute"]


def test_forward_runs_down_the_rows_and_backward_up(tmp_path: Path) -> None:
    trace = simai(
        tmp_path,
        row("10 ALLGATHER 5", "20 REDUCESCATTER 6", "30 ALLREDUCE 7"),
        row("11 ALLGATHER 8", "21 REDUCESCATTER 9", "31 NONE 0", update=40),
    )
    own = [trace.operations[number] for number in trace.by_rank()[0]]
    assert [(each.op, each.bytes or each.duration_ps // 1000) for each in own] == [
        *[("compute", 10), ("all_gather", 5), ("compute", 11), ("all_gather", 8)],
        *[("compute", 21), ("reduce_scatter", 9), ("compute", 31)],
        *[("compute", 20), ("reduce_scatter", 6), ("compute", 30), ("all_reduce", 7), ("compute", 40)],
    ]


def test_weight_gradients_overlap_but_wait_for_their_computation(tmp_path: Path) -> None:
    trace = simai(tmp_path, row(weights="30 ALLREDUCE 7"))
    call = next(each for each in trace.operations if each.op == "all_reduce")
    assert call.stream == "weight_gradient"
    (awaited,) = call.after
    assert trace.operations[awaited].duration_ps == 30_000


def test_too_many_operations_name_the_limit_and_a_way_around(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows make a computation of all ranks and a collective of each group; the limit is held to the last operation."""
    rows = [row("2 ALLREDUCE 5", "0 ALLREDUCE 5", "0 ALLREDUCE 7", update=3)] * 6
    head = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 all_gpus: {}"
    trace = simai(tmp_path, *rows, head=head.format(64))
    monkeypatch.setattr("netsim.traces.simai.workload.MAX_OPERATIONS", len(trace.operations))
    assert len(simai(tmp_path, *rows, head=head.format(64)).operations) == len(trace.operations)
    monkeypatch.setattr("netsim.traces.simai.workload.MAX_OPERATIONS", len(trace.operations) - 1)
    text = refusal(simai, tmp_path, *rows, head=head.format(64))
    parts = sum(len(each.ranks) for each in trace.operations)
    recorded = f"6 rows on 64 GPUs make {len(trace.operations)} operations with {parts:,} ranks in them"
    assert recorded in text
    assert "write all_gpus: 60 into line 1 (the data-parallel replicas left out do the same)" in text
    simai(tmp_path, *rows, head=head.format(60))


@pytest.mark.parametrize(
    ("weights", "groups"),
    [
        ("ALLREDUCE", [(0, 2, 4, 6), (1, 3, 5, 7)]),
        ("ALLTOALL_EP", [(0, 2), (4, 6), (1, 3), (5, 7)]),
        ("ALLREDUCE_DP_EP", [(0, 4), (2, 6), (1, 5), (3, 7)]),
    ],
)
def test_groups_follow_from_the_parallelism(tmp_path: Path, weights: str, groups: list[tuple[int, ...]]) -> None:
    trace = simai(tmp_path, row(weights=f"1 {weights} 64"))
    assert [ranks for _, ranks, _ in calls(trace)] == groups
    forward = simai(tmp_path, row(f"1 {weights.partition('_')[0]} 64"))
    assert [ranks for _, ranks, _ in calls(forward)] == [(0, 1), (2, 3), (4, 5), (6, 7)]


def test_pipeline_stages_lie_farthest_apart() -> None:
    layout = ParallelLayout(16, tensor=2, pipeline=2)
    assert [group.ranks for group in layout.groups("dp")][0::2] == [(0, 2, 4, 6), (8, 10, 12, 14)]
    assert layout.groups("pp")[1].ranks == (1, 9)
    for kind in ("tp", "dp", "ep", "dp_ep", "pp"):
        assert sorted(rank for group in layout.groups(kind) for rank in group.ranks) == list(range(16))


def test_an_old_header_says_no_ranks(tmp_path: Path) -> None:
    trace = simai(tmp_path, row("1 ALLREDUCE 5"), head="HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4")
    assert trace.ranks == 8
    assert trace.notes[0].startswith("8 GPUs: the file does not say how many; write all_gpus: N")


def test_a_micro_benchmark_runs_its_rows_once_each(tmp_path: Path) -> None:
    trace = simai(tmp_path, row(weights="1 ALLREDUCE 5"), row(weights="1 ALLTOALL 6"), head="MICRO")
    everybody = tuple(range(8))
    assert calls(trace) == [("all_reduce", everybody, 5), ("all_to_all", everybody, 6)]


@pytest.mark.parametrize(
    ("rows", "more", "line", "what"),
    [
        ([row("1 ALREDUCE 5")], {}, 3, "did you mean 'ALLREDUCE'"),
        ([row("1 ALLREDUCE five")], {}, 3, "'five'"),
        ([row("-1 ALLREDUCE 5")], {}, 3, "'-1'"),
        (["layer -1 1 NONE 0"], {}, 3, "has 5 columns, not 12"),
        ([row()], {"count": 2}, 2, "says 2 rows, but 1 are there"),
        ([row()], {"head": HEAD.replace("gpus: 8", "gpus: 9")}, 1, "cannot be cut"),
        ([row()], {"head": HEAD.replace("gpus: 8", "gpus: 1048576")}, 1, "each must be 1 to 131,072; data-parallel"),
        ([row()], {"head": "HYBRID_TRANSFORMER x: 1"}, 1, "is not known"),
        ([row("1 ALLREDUCE 9999999999999999999")], {}, 3, "a size is"),
    ],
)
def test_a_mistake_in_a_workload_names_its_line(
    tmp_path: Path, rows: list[str], more: dict[str, Any], line: int, what: str
) -> None:
    check_refusal(f"small.txt:{line}: ", what, simai, tmp_path, *rows, **more)


COLUMNS = "comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,_elapsed_time,algbw,busbw,count"


def table(folder: Path, *rows: str, first: str = "[rank0 ~ rank7]\n") -> Trace:
    path = saved(folder / "small.csv", [first + COLUMNS, *rows])
    assert format_of(path) == "aicb_csv"
    return read(path)


def csv(op: str, group: str = "dp_group", members: object = 8, size: object = 64, elapsed: object = None) -> str:
    return f"CommType.{op},CommGroup.{group},{members},{size},init,None,None,,{elapsed},None,None,1"


def test_rows_of_a_table_are_calls(tmp_path: Path) -> None:
    trace = table(
        tmp_path,
        csv("all_gather", "tp_group", 2, elapsed=0.5),
        csv("all_reduce", "dp_group", 4),
        csv("barrier", "all", 8, "None"),
        csv("computation", "all", 8, "None", elapsed=2),
    )
    pairs = [(0, 1), (2, 3), (4, 5), (6, 7)]
    halves = [(0, 2, 4, 6), (1, 3, 5, 7)]
    assert calls(trace) == [
        *(("all_gather", ranks, 64) for ranks in pairs),
        *(("all_reduce", ranks, 64) for ranks in halves),
        ("barrier", tuple(range(8)), 0),
    ]
    assert trace.operations[0].recorded_duration_ps == 500_000_000
    assert trace.operations[-1].duration_ps == 2_000_000_000


def test_what_a_table_leaves_open_is_told(tmp_path: Path) -> None:
    rows = [csv("all_to_all", "ep_group", "None"), csv("all_gather", "tp_group", 2), csv("all_reduce", "dp_group", 4)]
    trace = table(tmp_path, *rows, first="")
    assert trace.ranks == 8
    assert [ranks for op, ranks, _ in calls(trace) if op == "all_to_all"] == [(0, 2, 4, 6), (1, 3, 5, 7)]
    recorded = " ".join(trace.notes)
    for what in ("8 ranks: the file does not say", "expert groups have 4 ranks", "1 rows do not say how large"):
        assert what in recorded


def test_what_is_skipped_is_counted(tmp_path: Path) -> None:
    end = "CommType.epoch_end,None,None,0,,None,None,,None,None,None,1"
    trace = table(tmp_path, end, csv("all_reduce", size="None"), csv("isend", "pp_group", "None"), csv("all_reduce"))
    assert [op for op, *_ in calls(trace)] == ["all_reduce"]
    assert sorted(trace.report.skipped.values()) == [1, 1, 1]


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ([csv("all_redcue")], "did you mean 'all_reduce'"),
        ([csv("all_reduce", "dp_grup")], "did you mean 'dp_group'"),
        ([csv("all_reduce", size="many")], "'many'"),
        ([csv("all_reduce", elapsed="soon")], "_elapsed_time is 'soon'"),
        ([csv("all_reduce", elapsed="nan")], "_elapsed_time is 'nan'"),
        (["CommType.all_reduce,CommGroup.dp_group"], "has 2 columns"),
        ([csv("all_reduce"), csv("all_reduce", members=4)], "gives dp groups of 4, an earlier row 8"),
    ],
)
def test_a_mistake_in_a_table_names_its_line(tmp_path: Path, rows: list[str], what: str) -> None:
    check_refusal(f"small.csv:{2 + len(rows)}: ", what, table, tmp_path, *rows)


def test_a_row_must_reach_to_the_last_column_that_is_needed(tmp_path: Path) -> None:
    """Other columns may stand between them: this table has the size in its fifth."""
    header = "comm_type,comm_group,comm_group_size,stage,msg_size,dst,src,additional,_elapsed_time,algbw,busbw,count"
    path = saved(tmp_path / "wide.csv", [header, "CommType.all_reduce,CommGroup.dp_group,8,a"])
    assert "wide.csv:2: has 4 columns" in refusal(read, path)
