"""The ledger: which flows a schedule has, and that ended collectives leave no trace in the next ones."""

import random
from types import SimpleNamespace

import numpy as np
import pytest

from netsim.core.flows import collective_table
from netsim.core.flows.collective_table import CollectiveTable, flows_of
from tests.core.scenario_runs import schedule_of
from tests.core.worlds import at_rest, connections_of
from tests.reference.scenarios.drawn import drawn_rows
from tests.reference.scenarios.networks import Row, ring, star


@pytest.mark.parametrize("in_a_table", [True, False])
@pytest.mark.parametrize("seed", range(10))
def test_flows_are_the_different_ends_in_order(monkeypatch: pytest.MonkeyPatch, seed: int, in_a_table: bool) -> None:
    monkeypatch.setattr(collective_table, "TABLE_PER_ROW", 1 << 26 if in_a_table else 0)
    rows = drawn_rows(random.Random(seed), 7)
    source, target, channel, flow_of_row = flows_of(schedule_of(rows, 7))
    flows = sorted({row[:3] for row in rows})
    assert list(zip(source.tolist(), target.tolist(), channel.tolist(), strict=True)) == flows
    assert flow_of_row.tolist() == [flows.index(row[:3]) for row in rows]
    assert flow_of_row.dtype == np.uint32


@pytest.mark.parametrize("in_a_table", [True, False])
def test_a_schedule_without_rows_has_no_flows(monkeypatch: pytest.MonkeyPatch, in_a_table: bool) -> None:
    monkeypatch.setattr(collective_table, "TABLE_PER_ROW", 1 << 26 if in_a_table else 0)
    nothing = np.zeros(0, "i4")
    empty = SimpleNamespace(ranks=3, source=nothing, target=nothing, channel=nothing)
    assert [len(column) for column in flows_of(empty)] == [0, 0, 0, 0]


def test_small_kinds_of_integer_do_not_overflow() -> None:
    ranks = 1 << 15
    ends = np.array([ranks - 1, 0, ranks - 1], "i2"), np.array([ranks - 2, 5, ranks - 2], "i2")
    schedule = SimpleNamespace(ranks=ranks, source=ends[0], target=ends[1], channel=np.array([3, 0, 3], "i1"))
    source, target, channel, flow_of_row = flows_of(schedule)
    assert [*map(int, (source[1], target[1], channel[1]))] == [ranks - 1, ranks - 2, 3]
    assert flow_of_row.tolist() == [1, 0, 1]


def test_bytes_and_packets_of_a_flow_are_those_of_its_messages() -> None:
    rows: list[Row] = [(0, 1, 0, 4097, ()), (0, 1, 0, 1, ()), (1, 0, 0, 8192, ()), (0, 1, 1, 5, ())]
    _, admitted = CollectiveTable(connections_of(star(2))).admit(at_rest(star(2)), schedule_of(rows, 2), np.arange(2))
    assert admitted.bytes.tolist() == [4098, 5, 8192]
    assert admitted.packets.tolist() == [3, 1, 2]


def test_the_rows_of_an_ended_collective_serve_the_next_one_as_new() -> None:
    world, book = at_rest(star(5)), CollectiveTable(connections_of(star(5)))
    tables = ("messages", "parts", "flows", "collectives")
    world, first = book.admit(world, schedule_of(ring(5, 4, 9_000), 5), np.arange(5))
    fresh = {name: getattr(world, name).copy() for name in tables}
    for name in ("started_at", "delivered_at", "retransmitted", "marked", "dropped"):
        world.flows[name] = 77
    world.parts["entered"], world.parts["left_at"], world.messages["end"] = 1, 77, 77
    columns = book.retire(world, first)
    assert set(columns["marked"].tolist()) == {77}
    world, second = book.admit(world, schedule_of(ring(5, 4, 9_000), 5), np.arange(5))
    assert (second.first_message, second.first_part, second.first_flow) == (0, 0, 0)
    for name in tables:
        rows = len(fresh[name]) if name != "messages" else first.messages
        assert getattr(world, name)[:rows].tobytes() == fresh[name][:rows].tobytes(), name
