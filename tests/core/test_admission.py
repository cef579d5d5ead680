"""A schedule in the core's tables: dependents are `after` reversed, parts count, ideal times meet closed forms."""

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsim.core.flows.collective_table import Admitted, CollectiveTable
from netsim.core.state.dtypes import NONE
from netsim.core.state.world import World
from netsim.topology.network import Network
from tests.core.scenario_runs import schedule_of
from tests.core.worlds import at_rest, connections_of
from tests.reference.scenarios.drawn import drawn_rows
from tests.reference.scenarios.networks import MICROSECOND, Row, incast, line, ring, star
from tests.reference.scenarios.scenario import Scenario, build_twin, one

SLOT, ACK = 332_800, 5_120  # 4160 and 64 bytes at 100 Gb/s


def admitted(*schedules: list[Row], network: Network | None = None) -> tuple[World, list[Admitted]]:
    """Schedules one after the other in the tables of one world."""
    network = network or star(5)
    world, ledger, found = at_rest(network), CollectiveTable(connections_of(network)), []
    for rows in schedules:
        hosts = np.arange(len(network.hosts))
        world, each = ledger.admit(world, schedule_of(rows, len(hosts)), hosts)
        found.append(each)
    return world, found


def heirs_of(world: World, each: Admitted, row: int) -> list[int]:
    message = each.first_message + row
    first, last = (int(world.messages["first_dependent"][m]) for m in (message, message + 1))
    return [int(dependent) - each.first_message for dependent in world.dependents[first:last]]


def waiting_at(world: World, part: int) -> list[int]:
    """Messages in the part's list of those that wait for the rank alone."""
    found, m = [], int(world.parts["first_waiting"][part])
    while m != NONE:
        found.append(m)
        m = int(world.messages["next"][m])
    return found


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 1 << 30), st.integers(1, 3))
def test_heirs_are_the_predecessors_turned_round(seed: int, count: int) -> None:
    draw = random.Random(seed)
    schedules = [drawn_rows(draw, 5) for _ in range(count)]
    world, found = admitted(*schedules)
    for rows, each in zip(schedules, found, strict=True):
        for row in range(len(rows)):
            assert heirs_of(world, each, row) == [
                dependent for dependent, (*_, after) in enumerate(rows) if row in after
            ]
            message = world.messages[each.first_message + row]
            assert (message["waits"], message["bytes"]) == (len(rows[row][4]), rows[row][3])
        for position in range(5):
            part = each.first_part + position
            free = [i for i, (source, *_, after) in enumerate(rows) if source == position and not after]
            assert [m - each.first_message for m in waiting_at(world, part)] == free
            assert world.parts["outgoing"][part] == sum(row[0] == position for row in rows)
            assert world.parts["incoming"][part] == sum(row[1] == position for row in rows)


def test_a_collective_knows_whether_some_row_waits_for_an_ack() -> None:
    received, acked = [(0, 1, 0, 9, ()), (1, 2, 0, 9, (0,))], [(0, 1, 0, 9, ()), (0, 2, 0, 9, (0,))]
    world, found = admitted(received, acked)
    assert [int(world.collectives["sender_waits"][each.collective]) for each in found] == [0, 1]
    assert [int(world.collectives["unacked"][each.collective]) for each in found] == [2, 2]


def alone(network: Network, ends: tuple[int, int, int], size: int) -> int:
    _, (each,) = admitted([(*ends, size, ())], network=network)
    assert each.floors["ideal"][0] == each.floor_ps == each.alone_ps
    return each.floor_ps


@pytest.mark.parametrize(("switches", "packets"), [(0, 1), (1, 1), (1, 30), (5, 490)])
def test_alone_a_message_takes_its_packets_the_pipeline_and_the_wires(switches: int, packets: int) -> None:
    network = line(switches, gigabits=[100])
    links = switches + 1
    assert alone(network, (0, 1, 0), packets * 4096) == (packets + links - 1) * SLOT + links * MICROSECOND


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 70_000), st.lists(st.sampled_from([10, 40, 100, 600]), min_size=1, max_size=4))
def test_alone_a_message_takes_as_long_as_the_twin_says(size: int, gigabits: list[int]) -> None:
    network = line(3, gigabits=gigabits)
    settings_of_run: Any = {"control": "none", "timeout_ps": 10**12}
    twin = build_twin(Scenario("alone", network, one([(0, 1, 0, size, ())]), **settings_of_run))
    assert alone(network, (0, 1, 0), size) == twin.run().flows[0, 0].delivered_ps


def test_the_floor_of_a_chain_is_its_links_one_after_the_other_and_the_acks_between() -> None:
    _, (each,) = admitted(ring(5, 7, 7 * 4096))
    assert each.floor_ps == each.alone_ps == 7 * (8 * SLOT + 2 * MICROSECOND) + 6 * ACK


def test_the_floor_of_an_incast_is_a_packet_to_the_switch_and_then_all_of_them() -> None:
    _, (each,) = admitted(incast(4, 100 * 4096))
    assert each.floor_ps == each.alone_ps == 401 * SLOT + 2 * MICROSECOND


def test_the_longest_of_several_chains_counts_and_what_it_waits_for_comes_by_one_link() -> None:
    """Row 3 waits for 1 + 20 packets to host 1."""
    rows = [(0, 1, 0, 4096, ()), (1, 2, 0, 8192, (0,)), (3, 1, 0, 20 * 4096, ()), (1, 4, 0, 4096, (0, 2))]
    _, (each,) = admitted(rows)
    assert each.floor_ps == (1 + 21 + 2) * SLOT + 4 * MICROSECOND + ACK


def test_a_circle_has_no_floor_and_its_rows_are_those_still_waiting() -> None:
    rows = [(0, 1, 0, 9, ()), (1, 2, 0, 9, (0, 3)), (2, 3, 0, 9, (1,)), (3, 1, 0, 9, (2,)), (1, 4, 0, 9, (0,))]
    world, (each,) = admitted(rows)
    assert each.floor_ps == -1
    assert world.messages["waits"][each.first_message :][: len(rows)].tolist() == [0, 2, 1, 1, 1]
