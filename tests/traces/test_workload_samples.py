"""Real Chakra, GOAL, SimAI and AICB files, where they are at hand, against counts made by other means."""

import re
from collections import Counter
from itertools import pairwise

import pytest

from netsim.traces import Operation, Trace, format_of, read
from netsim.traces.chakra.nodes import COMM_COLL, COMM_RECV, COMM_SEND, COMP, node
from netsim.traces.chakra.wire import messages
from netsim.traces.goal.binary import read_binary
from netsim.traces.goal.rank import Goal
from netsim.traces.goal.reader import _Text
from netsim.traces.goal.write import _binary
from netsim.traces.graphs.graph import Graph, Node
from tests.inputs import refusal
from tests.traces.sample_files import needs_samples, sample

pytestmark = needs_samples


def per_rank(trace: Trace, rank: int = 0) -> dict[str, tuple[int, int]]:
    """What a rank takes part in: by operation, how often and with how many bytes."""
    own = [trace.operations[number] for number in trace.by_rank()[rank]]
    size: Counter[str] = Counter()
    for each in own:
        size[each.op] += each.bytes
    return {op: (count, size[op]) for op, count in Counter(each.op for each in own).items() if op != "compute"}


# --- Chakra -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "ranks", "expected"),
    [  # comm_size is what one NPU puts in: the full buffer of the all-gather is eight times that
        ("astra_all_gather_8npus_1MB", 8, ("all_gather", 8 * 1_048_576)),
        ("astra_all_to_all_4npus_1MB", 4, ("all_to_all", 1_048_576)),
    ],
)
def test_chakra_microbenchmarks(name: str, ranks: int, expected: tuple[str, int]) -> None:
    files = sample("chakra", f"{name}.*.et")
    assert len(files) == ranks
    trace = read(files)
    assert (trace.ranks, trace.report.seen, trace.notes) == (ranks, tuple(range(ranks)), ())
    assert [(each.op, each.bytes) for each in trace.operations] == [expected]


def test_chakra_ring_of_sends() -> None:
    files = sample("chakra", "astra_custom_allreduce_8npus.*.et")
    for file in files:
        nodes = [node(message) for message in list(messages(file))[1:]]
        assert Counter(each.type for each in nodes) == {COMM_SEND: 14, COMM_RECV: 14, COMP: 7}
        for kind in (COMM_SEND, COMM_RECV):
            assert sum(each.whole("comm_size", 0) for each in nodes if each.type == kind) == 1_835_008
    trace = read(files)
    assert Counter(each.op for each in trace.operations) == {"send": 8 * 14, "compute": 8 * 7}
    for rank in range(8):
        assert sum(each.bytes for each in trace.operations if each.src == rank) == 1_835_008
        assert sum(each.bytes for each in trace.operations if each.dst == rank) == 1_835_008
    assert trace.notes == ()  # every send met its receive


def test_chakra_of_pytorch() -> None:
    (file,) = sample("chakra", "chakra_pytorch_resnet.0.et")
    nodes = [node(message) for message in list(messages(file))[1:]]
    assert Counter(each.type for each in nodes) == {COMP: 3_643, COMM_COLL: 21}
    trace = read(file)
    assert per_rank(trace) == {"broadcast": (2, 212_904), "all_reduce": (5, 102_228_128)}
    recorded = [each.recorded_duration_ps for each in trace.operations if each.op != "compute"]
    assert sum(each or 0 for each in recorded) == 36_715_000_000
    assert trace.report.skipped == {"collectives on the CPU side, which stand again on the GPU side": 14}
    assert any("one file makes one rank" in note for note in trace.notes)


def test_chakra_of_the_old_schema_is_refused() -> None:
    (file,) = sample("chakra", "old_schema_twoCompNodes.0.eg")
    assert format_of(file) == "chakra"
    assert re.search(r"old schema.*today's chakra_converter", refusal(read, file))


# --- GOAL -------------------------------------------------------------------------------------------------------------


WORDS = ("nothing", "compute", "send", "receive")


def graph_of(goal: Goal) -> Graph:
    """The nodes of a schedule as objects."""
    nodes = []
    columns = zip(goal.kinds, goal.places, goal.peers, goal.tags, goal.sizes, strict=True)
    for kind, place, peer, tag, size in columns:
        compute = Operation("compute", None, (0,), duration_ps=size * 1000)  # of no use for transfers
        nodes.append(Node(WORDS[kind], place, peer=peer, bytes=size, tag=tag, request=compute))
    firsts = [*goal.begun.values(), len(nodes)]
    for waiter, awaited in zip(goal.waiters, goal.awaited, strict=True):
        nodes[waiter].after.append(awaited - max(first for first in firsts if first <= awaited))
    return {rank: nodes[first:end] for rank, (first, end) in zip(goal.begun, pairwise(firsts), strict=True)}


def both(name: str) -> list[Goal]:
    (text,), (binary,) = sample("goal", f"{name}.goal"), sample("goal", f"{name}.bin")
    return [_Text(text).read(), read_binary(binary)]


@pytest.mark.parametrize(
    ("name", "ranks", "kinds", "size", "waits"),
    [
        ("binary_tree_32", 32, {"send": 31, "receive": 31}, 31, 26),
        ("one_send", 16, {"send": 1, "receive": 1}, 80_000_000, 0),
        ("comp", 16, {"send": 1, "receive": 1, "compute": 1}, 80_000_000, 1),
    ],
)
def test_goal(name: str, ranks: int, kinds: dict[str, int], size: int, waits: int) -> None:
    for goal in both(name):
        assert goal.ranks == ranks
        assert Counter(WORDS[kind] for kind in goal.kinds) == kinds
        assert sum(sent for kind, sent in zip(goal.kinds, goal.sizes, strict=True) if WORDS[kind] == "send") == size
        assert len(goal.waiters) == waits
    traces = [read(sample("goal", f"{name}.{end}")) for end in ("goal", "bin")]
    assert traces[0].operations == traces[1].operations
    assert sum(each.bytes for each in traces[0].operations) == size


def test_goal_tree_waits_for_what_it_received() -> None:
    (operation,) = read(sample("goal", "binary_tree_32.goal")).operations
    assert len(operation.flows) == 31
    assert sum(len(turn.after) for turn in operation.turns) == 26
    for flow, turn in zip(operation.flows, operation.turns, strict=True):
        assert all(operation.flows[each][1] == flow[0] for each in turn.after)


def test_goal_computes_before_it_sends() -> None:
    compute, send = read(sample("goal", "comp.bin")).operations
    assert (compute.op, compute.ranks, compute.duration_ps) == ("compute", (15,), 8_000_000)
    assert (send.src, send.dst, send.bytes) == (15, 0, 80_000_000)
    assert send.stream == compute.stream


@pytest.mark.parametrize("name", ["binary_tree_32", "one_send", "comp"])
def test_goal_is_written_as_upstream_writes_it(name: str) -> None:
    (text,), (binary,) = sample("goal", f"{name}.goal"), sample("goal", f"{name}.bin")
    assert b"".join(_binary(graph_of(_Text(text).read()))) == binary.read_bytes()


# --- SimAI and AICB ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "rows", "expected"),
    [
        ("simai_microAllReduce.txt", 2, {"all_reduce": (2, 83_886_080)}),
        ("aicb_micro_all_reduce.txt", 19, {"all_reduce": (19, 2_147_479_552)}),
        (
            "aicb_GPT13B_tp8_sp.txt",
            172,
            {"broadcast": (1, 16_384), "all_reduce": (11, 3_618_267_152)}
            | {"all_gather": (161, 6_604_062_720), "reduce_scatter": (161, 9_852_682_240)},
        ),
        ("aicb_Llama7B_zero3.txt", 12, {"all_gather": (12, 3_496_004), "reduce_scatter": (1, 1_889_785_610)}),
    ],
)
def test_simai(name: str, rows: int, expected: dict[str, tuple[int, int]]) -> None:
    (file,) = sample("simai", name)
    trace = read(file)
    assert (format_of(file), trace.ranks, trace.report.records) == ("simai", 8, rows)
    assert per_rank(trace) == expected


def test_aicb_table() -> None:
    trace = read(sample("aicb", "aicb_Llama7B_zero3.csv"))
    assert (trace.ranks, trace.report.lines) == (128, 1_243)
    large = {"broadcast": (291, 13_476_831_232), "all_gather": (938, 40_431_026_176)}
    large |= {"reduce_scatter": (7, 13_476_831_232)}
    assert per_rank(trace) == large | {"all_reduce": (2, 9), "barrier": (3, 0)}
    assert trace.report.skipped == {"marks of an epoch's end": 2}


def test_aicb_table_with_times() -> None:
    trace = read(sample("aicb", "aicb_A100_measured.csv"))
    assert (trace.ranks, trace.report.lines) == (8, 8_538)
    assert {op: count for op, (count, _) in per_rank(trace).items()} == (
        {"all_reduce": 144, "all_gather": 3_852, "broadcast": 41, "reduce_scatter": 1_930, "all_to_all": 2_560}
    )
    assert trace.report.skipped == {"marks of an epoch's end": 11}
    assert any(note.startswith("3,200 rows do not say how large") for note in trace.notes)
    assert trace.operations[0].recorded_duration_ps == 3_380_222_900_391
