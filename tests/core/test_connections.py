"""Connections: one number for ever, the route as given, windows and time-outs of the route."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from netsim.core.state.build import STRIDE
from netsim.core.state.dtypes import NEVER
from netsim.core.switch.ecmp_tables import PerPacketRouting, with_per_packet_routing
from netsim.routing.equal_cost_links import equal_cost_links_of
from netsim.topology.network import Network
from netsim.transport.fixed_point import ONE
from netsim.transport.settings import IB_ACK_TIMEOUT_10_PS
from tests.core.laws import counted
from tests.core.scenario_runs import build_core, core_figures, differences, of_twin, schedule_of
from tests.core.worlds import USUAL, ask, at_rest, connections_of, route_in
from tests.reference.scenarios.networks import (
    MICROSECOND,
    cabled,
    leaves,
    line,
    numbered,
    queue,
    rails,
    shortest_routes,
    star,
)
from tests.reference.scenarios.per_packet_routing import uneven
from tests.reference.scenarios.scenario import Collective, Scenario


def near_and_far(switches: int) -> Network:
    """Two hosts on the first of a row of switches, one on the last."""
    hosts, row = numbered("host", 3), numbered("tor", switches)
    ends = [(hosts[0], row[0]), (hosts[1], row[0]), *pairwise(row), (row[-1], hosts[2])]
    return cabled("near and far", hosts, row, [(a, b, 100, 1000, queue(20)) for a, b in ends])


def test_a_known_connection_keeps_its_number_and_its_state() -> None:
    network = leaves(2, 3, 2)
    world, connections = at_rest(network), connections_of(network)
    world, first = ask(connections, world, (0, 3, 0), (0, 3, 1), (5, 0, 0))
    world.connections["cwnd"][first] = [11, 12, 13]
    world, again = ask(connections, world, (5, 0, 0), (1, 2, 0), (0, 3, 0), (0, 4, 0), (0, 3, 1))
    assert [again[0], again[2], again[4]] == [first[2], first[0], first[1]]
    assert world.connections["cwnd"][first].tolist() == [11, 12, 13]
    assert sorted({*first, *again}) == list(range(5)) == list(range(int(world.settings[0]["connections"])))
    assert world.connections["cwnd"][[again[1], again[3]]].tolist() == [50 * ONE] * 2


def test_rows_say_where_a_connection_begins_and_where_its_acks_leave() -> None:
    network = leaves(2, 3, 2)
    ends = [(s, t, c) for s in range(6) for t in range(6) for c in range(2) if s != t]
    world, numbers = ask(connections_of(network), at_rest(network), *ends)
    route = shortest_routes(network)
    for number, end in zip(numbers, ends, strict=True):
        row, links = world.connections[number], route(*end)
        assert route_in(world, number) == links
        assert (row["source"], row["egress"], row["back"]) == (end[0], links[0], links[-1] ^ 1)
        assert row["length"] == len(links)


def test_longer_routes_get_room_and_shorter_ones_stay_what_they_are() -> None:
    network = near_and_far(21)
    world, connections, route = at_rest(network), connections_of(network), shortest_routes(network)
    known: dict[int, tuple[int, int, int]] = {}
    for ends in ([(0, 1, 0), (1, 0, 0)], [(0, 2, 0)], [(0, 1, 1), (2, 1, 0)]):
        world, numbers = ask(connections, world, *ends)
        known |= dict(zip(numbers, ends, strict=True))
        assert {number: route_in(world, number) for number in known} == {n: route(*end) for n, end in known.items()}
    assert len(route(0, 2, 0)) == 22 > STRIDE
    assert int(world.settings[0]["stride"]) == 32


def test_a_far_connection_made_in_the_middle_of_a_run_disturbs_nobody() -> None:
    network = near_and_far(12)
    near, far = Collective([(0, 1, 0, 90_000, ()), (1, 0, 0, 60_000, ())]), [(0, 2, 0, 50_000, ())]
    both = Scenario("both", network, (near, Collective(far, (3 * MICROSECOND,) * 3)))
    run = build_core(Scenario("near", network, (near,)))
    run.env.run(until=3 * MICROSECOND)
    assert counted(run.fabric.world).total() > 10
    run.carried.append(run.fabric.carry(schedule_of(far, 3), (0, 1, 2)))
    run.hosts.append((0, 1, 2))
    ends = [run.fabric.enter(run.carried[1], position) for position in range(3)]
    run.env.run()
    run.finish_ps |= {(1, position): int(event.value or 0) for position, event in enumerate(ends)}
    assert int(run.fabric.world.settings[0]["stride"]) == 16
    assert differences(core_figures(run), of_twin(both)) == []


def test_a_window_of_the_bandwidth_delay_product_holds_one_idle_round_trip() -> None:
    network = line(2, gigabits=(100, 40, 100))
    world, _ = ask(connections_of(network, replace(USUAL, window="bdp")), at_rest(network), (0, 1, 0))
    slow, fast = 4160 * 8 * 25, 4160 * 8 * 10
    round_trip = 2 * fast + slow + (2 * 64 * 10 + 64 * 25) * 8 + 6 * MICROSECOND
    assert world.connections["cwnd"][0] == -(-round_trip // slow) * ONE


def test_a_sprayed_window_holds_the_longest_round_trip_of_all_ways_at_what_they_carry_together() -> None:
    """The slow spine has the longest way there, the last one the longest way back; the host's link is the narrowest."""
    network = uneven((25, 100, 50, 100))
    found = equal_cost_links_of(network)
    per_packet = PerPacketRouting("spray", found.group_of, found.first, found.links)
    for gigabits, narrowest in ((100, 4160 * 80), (400, -(-4160 * 8000 // 275))):
        network = uneven((25, 100, 50, 100), gigabits)
        world = with_per_packet_routing(at_rest(network), per_packet)
        world, _ = ask(connections_of(network, replace(USUAL, window="bdp")), world, (0, 2, 0), (0, 3, 1), (1, 2, 5))
        at_hosts = 2 * (4160 + 64) * 8000 // gigabits + 4 * 800_000
        there, back = 2 * (4160 * 320 + 700_000), 2 * (64 * 80 + 1_300_000)
        assert set(world.connections["cwnd"][:3].tolist()) == {-(-(at_hosts + there + back) // narrowest) * ONE}


def test_no_control_has_no_window_and_inside_a_server_packets_are_larger() -> None:
    network = rails(2, 2)
    world, _ = ask(connections_of(network, replace(USUAL, control="none")), at_rest(network), (0, 1, 0), (0, 2, 0))
    assert (world.connections["cwnd"] >> 16).min() >= 1 << 29
    assert world.connections["payload"][:2].tolist() == [16384, 4096]


@pytest.mark.parametrize("room", [20, 400])
def test_the_automatic_time_out_is_a_round_trip_through_full_queues(room: int) -> None:
    network = line(2, gigabits=[100], at=queue(room))
    world, _ = ask(connections_of(network, replace(USUAL, timeout="auto")), at_rest(network), (0, 1, 0))
    idle = 3 * (4160 + 64) * 80 + 6 * MICROSECOND
    assert world.connections["timeout"][0] == idle + 2 * 2 * room * 4160 * 80


def test_behind_unlimited_queues_the_automatic_time_out_is_that_of_infiniband() -> None:
    world, _ = ask(connections_of(star(2), replace(USUAL, timeout="auto")), at_rest(star(2)), (0, 1, 0))
    assert world.connections["timeout"][0] == IB_ACK_TIMEOUT_10_PS


def test_a_new_world_waits_for_nothing_and_knows_its_window() -> None:
    world = at_rest(star(4, delays_ns=(700, 300)))
    assert {int(at) for table in (world.next_arrival, world.next_event, world.next_event_of_group) for at in table} == {
        NEVER
    }
    assert int(world.settings[0]["lookahead"]) == 300_000 + 64 * 80  # the shortest wire and the smallest packet
    assert np.unique(world.link_classes["delay"]).tolist() == [300_000, 700_000]
