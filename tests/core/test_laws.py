"""Laws that hold in every run, at every moment and in the end; and that a broken law would be noticed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import netsim
from tests.core.laws import (
    ALWAYS,
    IN_THE_END,
    breaches,
    counted,
    no_packet_is_lost_from_the_books,
    queues_stay_inside_their_buffers,
)
from tests.core.scenario_runs import CoreRun, build_core, play_core
from tests.reference.scenarios.drawn import drawn
from tests.reference.scenarios.every import NAMED
from tests.reference.scenarios.networks import MICROSECOND, Row, incast, line, queue, ring, shift, star
from tests.reference.scenarios.plain import SCENARIOS
from tests.reference.scenarios.priorities import CLASSED
from tests.reference.scenarios.recovery import RECOVERING
from tests.reference.scenarios.scenario import Collective, Scenario, one
from tests.reference.scenarios.shared_buffer import SHARED_ALONE
from tests.reference.scenarios.together import TOGETHER

Law = Callable[[CoreRun], list[str]]
unhurried = settings(deadline=None, max_examples=30)


def stopped(scenario: Scenario, *stops: int) -> CoreRun:
    """A run that has been stopped now and then, and stands at the last stop."""
    run = build_core(scenario)
    for stop in stops:
        run.env.run(until=stop)
    return run


STOPS = dict.fromkeys(RECOVERING | TOGETHER, range(700_000, 60 * MICROSECOND, 7_345_678))
STOPS |= dict.fromkeys(SCENARIOS | SHARED_ALONE | CLASSED, range(700_000, 30 * MICROSECOND, 2_345_678))


@pytest.mark.parametrize("name", STOPS)
def test_every_scenario_keeps_every_law_at_every_stop_and_in_the_end(name: str) -> None:
    assert breaches(NAMED[name], STOPS[name]) == []


@unhurried
@given(st.integers(1_000, 1_000_000), st.lists(st.integers(1, 60 * MICROSECOND), max_size=4, unique=True))
def test_random_schedules_keep_every_law(number: int, stops: list[int]) -> None:
    assert breaches(drawn(number), sorted(stops)) == []


def test_a_stop_finds_packets_and_acks_under_way_and_some_dropped() -> None:
    run = stopped(SCENARIOS["incast_drops"], 9 * MICROSECOND)
    inside = counted(run.fabric.world)
    assert {kind for _, kind in inside} == {"data", "acks"}
    assert run.fabric.world.connections["dropped"].sum() > 0
    assert no_packet_is_lost_from_the_books(run) == []


def tampered(name: str, at: int, change: Callable[[Any], None]) -> CoreRun:
    run = stopped(NAMED[name], at)
    change(run.fabric.world)
    return run


def _set(table: str, row: int, field: str, change: int) -> Callable[[Any], None]:
    def apply(world: Any) -> None:
        getattr(world, table)[field][row] += change

    return apply


def _swap_on_wire(world: Any) -> None:
    ring = next(link["in_flight"] for link in world.links if link["in_flight"]["tail"] - link["in_flight"]["head"] > 1)
    first, second = (int(ring["start"] + ((ring["head"] + i) & ring["mask"])) for i in (0, 1))
    world.packet_pool[[first, second]] = world.packet_pool[[second, first]]


@pytest.mark.parametrize(
    ("law", "change", "name"),
    [
        ("no_packet_is_lost_from_the_books", _set("connections", 2, "dropped", 1), "incast_drops"),
        ("no_packet_is_lost_from_the_books", _set("connections", 0, "acks_received", -1), "incast_drops"),
        ("wires_keep_their_order", _swap_on_wire, "incast_drops"),
        ("queues_stay_inside_their_buffers", _set("links", 1, "longest", 100_000), "incast_drops"),
        ("no_link_is_faster_than_its_rate", _set("links", 2, "sent_bytes", 200_000), "incast_drops"),
        ("windows_are_kept", _set("connections", 1, "acked", -60), "incast_drops"),
        ("acks_never_go_back", _set("connections", 0, "expected", -50), "incast_drops"),
        ("pools_are_the_sum_of_their_queues", _set("pools", -1, "taken", 1), "shared_two_tiers"),
    ],
)
def test_a_broken_law_is_noticed(law: str, change: Callable[[Any], None], name: str) -> None:
    run = tampered(name, 9 * MICROSECOND, change)
    checks = {each.__name__: each for each in ALWAYS}
    assert checks[law](run) != []


@pytest.mark.parametrize("law", IN_THE_END, ids=lambda law: law.__name__)
def test_a_law_of_the_end_is_broken_in_the_middle_or_by_a_wrong_flow(law: Law) -> None:
    run = play_core(SCENARIOS["ring"])
    assert law(run) == []
    run.carried[0].flows["delivered_ps"][:] = 1
    run.carried[0].end_ps = run.carried[0].admitted.floor_ps - 1
    run.carried[0].flows["packets"][0] += 1
    run.fabric.world.connections["acked"][0] -= 1
    assert law(run) != []


@unhurried
@given(st.lists(st.integers(1, 40_000), min_size=2, max_size=2), st.integers(1, 3), st.sampled_from([1, 4, 50]))
def test_more_bytes_never_take_less_time_on_an_idle_network(sizes: list[int], switches: int, window: int) -> None:
    less, more = (_alone(line(switches, gigabits=(100, 40)), [(0, 1, 0, b, ())], window) for b in sorted(sizes))
    assert less <= more
    assert (less < more) == (sizes[0] != sizes[1])


@unhurried
@given(st.integers(1, 30_000), st.integers(1, 30_000))
def test_a_ring_of_more_bytes_never_takes_less_time(one_size: int, other: int) -> None:
    less, more = (_alone(star(4), ring(4, 6, size), 50) for size in sorted((one_size, other)))
    assert less <= more


def _alone(network: Any, rows: list[Row], window: int) -> int:
    run = play_core(Scenario("alone", network, one(rows), window=window))
    return max(run.finish_ps.values())


@unhurried
@given(st.integers(2, 6), st.integers(1, 120_000), st.booleans())
def test_an_incast_takes_as_long_as_its_bytes_need_on_the_last_link(senders: int, size: int, shallow: bool) -> None:
    network = star(senders + 1, at=queue(8 if shallow else 1000))
    run = play_core(Scenario("incast", network, one(incast(senders, size))))
    on_the_wire = senders * (size + 64 * -(-size // 4096))
    assert max(run.finish_ps.values()) >= on_the_wire * 80 + 2 * MICROSECOND
    assert queues_stay_inside_their_buffers(run) == []


def test_connections_deliver_their_messages_in_order() -> None:
    rounds = tuple(Collective([(0, 1, 0, 30_000 - 9_000 * n, ()), *shift(4, 1, 20_000)]) for n in range(3))
    run = play_core(Scenario("in order", star(4, at=queue(4)), rounds, timeout_ps=30 * MICROSECOND))
    of_each = [
        each.flows["delivered_ps"][(each.flows["source"] == 0) & (each.flows["target"] == 1)] for each in run.carried
    ]
    assert np.diff(np.concatenate(of_each)).min() > 0


@pytest.mark.parametrize("op", ["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast"])
@pytest.mark.parametrize("size", ["1KiB", "64KiB", "4MiB"])
def test_bus_bandwidth_stays_below_the_rate_of_the_links(op: str, size: str) -> None:
    def job(rank: netsim.Rank) -> Any:
        yield getattr(rank, op)(size)

    result = netsim.simulate(job, "fat_tree_k4_100g", ranks=16)
    bandwidth = result.collectives["busbw_gbs"][0]
    assert 0 < bandwidth <= 100 / 8
    if size == "4MiB" and op in ("all_reduce", "all_gather"):
        assert bandwidth > 0.5 * 100 / 8  # so the bound is worth something
