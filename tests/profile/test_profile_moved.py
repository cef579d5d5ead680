"""The traffic matrix: what the schedules move, who is left out, and what leaves a server."""

import numpy as np
import pytest

from netsim.profile import moved as module
from netsim.profile.moved import MovedBytes, Placed, traffic
from netsim.traces import Operation, Trace
from netsim.traces.read_report import ReadReport

FOUR = (0, 1, 2, 3)


def moved(*operations: Operation, placed: Placed | None = None, seen: tuple[int, ...] | None = None) -> MovedBytes:
    trace = Trace("job", 4, {}, operations, report=ReadReport(seen=seen))
    return traffic(trace, placed or Placed.apart(4))


def pairs(found: MovedBytes) -> dict[tuple[int, int], int]:
    return {(row["source"], row["target"]): row["bytes"] for row in found.table.to_dict("records")}


TIMES = {"all_reduce": 6, "gather": 3 / 4, "scatter": 3 / 4}  # the buffer, of four ranks
TIMES |= dict.fromkeys(("all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all"), 3)


@pytest.mark.parametrize("op", TIMES)
def test_all_bytes_that_an_algorithm_moves(op: str) -> None:
    assert moved(Operation(op, "world", FOUR, 6400)).bytes == TIMES[op] * 6400


def test_a_ring_loads_each_neighbour_alike() -> None:
    found = moved(*[Operation("all_reduce", "world", FOUR, 6400)] * 3)
    assert pairs(found) == {(0, 1): 28800, (1, 2): 28800, (2, 3): 28800, (3, 0): 28800}
    assert found.by_rank(4)["sent_bytes"].tolist() == found.by_rank(4)["received_bytes"].tolist() == [28800] * 4


def test_groups_are_lists_of_global_ranks() -> None:
    assert pairs(moved(Operation("all_gather", "tp", (3, 1), 64))) == {(3, 1): 32, (1, 3): 32}


def test_sends_flows_and_uneven_all_to_alls() -> None:
    send = Operation("send", None, (2, 0), 5, src=2, dst=0)
    flows = Operation("flows", None, (0, 1, 2), 7, flows=((2, 0, 3), (0, 1, 4)))
    uneven = Operation("all_to_all_v", "tp", (1, 3), 9, sizes=((1, 2), (0, 9)))
    assert pairs(moved(send, flows, uneven)) == {(0, 1): 4, (1, 3): 2, (2, 0): 8}


def test_the_algorithm_of_the_operation_and_the_users_choice() -> None:
    tree = Operation("broadcast", "world", FOUR, 6400, algorithm="tree")
    assert pairs(moved(tree)) != pairs(moved(Operation("broadcast", "world", FOUR, 6400)))
    chosen = Placed(np.arange(4, dtype=np.int32), np.zeros(4, dtype=np.int32), {"broadcast": "ring"})
    assert pairs(moved(tree, placed=chosen)) == pairs(moved(Operation("broadcast", "world", FOUR, 6400)))


def test_what_leaves_a_server() -> None:
    server = np.array([0, 0, 1, 1], dtype=np.int32)
    found = moved(Operation("all_gather", "world", FOUR, 6400), placed=Placed(server, server * 0, {}))
    assert (found.bytes, found.leaving(server)) == (19200, 9600)


def test_of_missing_ranks_only_what_the_seen_ones_do() -> None:
    found = moved(Operation("all_gather", "world", FOUR, 6400), seen=(1,))
    assert pairs(found) == {(0, 1): 4800, (1, 2): 4800}


def test_nothing_moves_within_a_rank() -> None:
    assert moved(Operation("all_reduce", "one", (2,), 64)).table.empty
    assert moved(Operation("compute", None, FOUR, duration_ps=1)).bytes == 0


def test_what_would_be_too_large_is_left_out_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ROWS", 20)
    found = moved(*[Operation("all_reduce", "world", FOUR, 64)] * 2, Operation("all_gather", "tp", (0, 1), 64))
    assert found.left_out == {"more than 20 chunk flows in one all_reduce": 2}
    assert found.bytes == 64


def test_many_pairs_are_added_up_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    operations = [Operation("all_to_all", "world", FOUR, size) for size in (64, 128, 256, 512)]
    whole = pairs(moved(*operations))
    monkeypatch.setattr(module, "SUMMED_ABOVE", 3)
    assert pairs(moved(*operations)) == whole
    assert set(whole.values()) == {(64 + 128 + 256 + 512) // 4}
