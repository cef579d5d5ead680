"""Counts and sizes of requests: what is a request, what its size is, and how sizes are summed up."""

import numpy as np
import pytest

from netsim.profile.requested import calls_by_rank, requests
from netsim.profile.sizes import by, distribution, histogram
from netsim.traces import Operation, Trace

FOUR = (0, 1, 2, 3)


def trace(*operations: Operation, ranks: int = 4) -> Trace:
    return Trace("job", ranks, {}, operations)


def reduced(size: int, **more: object) -> Operation:
    return Operation("all_reduce", "world", FOUR, size, **more)  # type: ignore[arg-type]


def test_computing_is_no_request_and_each_flow_is_one() -> None:
    flows = Operation("flows", None, (0, 1, 2), 30, flows=((0, 1, 10), (2, 1, 20)))
    table = requests(trace(reduced(8), Operation("compute", None, FOUR, duration_ps=5), flows))
    assert table[["op", "group", "ranks", "bytes"]].to_numpy().tolist() == [
        ["all_reduce", "world", 4, 8],
        ["flows", "point to point", 2, 10],
        ["flows", "point to point", 2, 20],
    ]


PARTS = dict.fromkeys(("all_reduce", "broadcast", "all_to_all"), 64)
PARTS |= dict.fromkeys(("all_gather", "reduce_scatter", "gather"), 16)


@pytest.mark.parametrize("op", PARTS)
def test_the_part_of_one_rank(op: str) -> None:
    assert requests(trace(Operation(op, "world", FOUR, 64)))["part_bytes"].tolist() == [PARTS[op]]


def test_a_trace_of_nothing_has_empty_tables() -> None:
    table = requests(trace())
    assert (len(table), len(by(table, ["op"])), len(histogram(table)), len(distribution(table))) == (0, 0, 0, 0)


def test_figures_of_an_operation() -> None:
    table = requests(trace(*[reduced(size) for size in range(1, 101)], Operation("barrier", "world", FOUR)))
    first, second = by(table, ["op"]).to_dict("records")
    assert (first["op"], first["count"], first["bytes_total"]) == ("all_reduce", 100, 5050)
    assert (first["bytes_min"], first["bytes_median"], first["bytes_mean"]) == (1, 50.5, 50.5)
    assert (first["bytes_p95"], first["bytes_max"]) == (95, 100)
    assert (second["op"], second["count"], second["bytes_max"]) == ("barrier", 1, 0)


def test_groups_and_streams_are_told_apart() -> None:
    table = requests(trace(reduced(8), reduced(8, stream="side"), Operation("all_reduce", "tp", (0, 1), 8)))
    groups = by(table, ["group", "ranks", "op"])
    assert groups[["group", "ranks", "count"]].to_numpy().tolist() == [["world", 4, 2], ["tp", 2, 1]]
    assert by(table, ["stream", "op"])["stream"].tolist() == ["default", "side"]


@pytest.mark.parametrize(
    ("size", "low", "high"),
    [(0, 0, 1), (1, 1, 2), (2, 2, 4), (3, 2, 4), (4, 4, 8), (14336, 8192, 16384), (2**50, 2**50, 2**51)],
)
def test_powers_of_two(size: int, low: int, high: int) -> None:
    (row,) = histogram(requests(trace(reduced(size)))).to_dict("records")
    assert (row["from_bytes"], row["to_bytes"], row["count"], row["bytes_total"]) == (low, high, 1, size)


def test_every_size_lies_in_its_power_of_two_also_where_floats_round() -> None:
    sizes = [2**power + off for power in range(1, 50) for off in (-1, 0, 1)]
    table = histogram(requests(trace(*[reduced(size) for size in sizes])))
    assert int(table["count"].sum()) == len(sizes)
    assert int(table["bytes_total"].sum()) == sum(sizes)
    for row in table.to_dict("records"):
        inside = [size for size in sizes if row["from_bytes"] <= size < row["to_bytes"]]
        assert (len(inside), sum(inside)) == (row["count"], row["bytes_total"])


def test_distribution_rises_to_one() -> None:
    table = distribution(requests(trace(*[reduced(size) for size in (10, 10, 20, 60)])))
    assert table["bytes"].tolist() == [10, 20, 60]
    assert table["count"].tolist() == [2, 1, 1]
    np.testing.assert_allclose(table["requests_up_to"], [0.5, 0.75, 1])
    np.testing.assert_allclose(table["bytes_up_to"], [0.2, 0.4, 1])


def test_what_each_rank_calls() -> None:
    flows = Operation("flows", None, (0, 1, 2), 30, flows=((0, 1, 10), (2, 1, 20)))
    pair = Operation("all_reduce", "tp", (0, 1), 5)
    table = calls_by_rank(trace(reduced(8), pair, pair, flows, Operation("compute", None, (3,), duration_ps=7)))
    assert table["rank"].tolist() == [0, 1, 2, 3]
    assert table["requests"].tolist() == [4, 5, 2, 1]
    assert table["bytes"].tolist() == [28, 48, 28, 8]
    assert table["compute_ps"].tolist() == [0, 0, 0, 7]
