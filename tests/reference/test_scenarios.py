"""Every scenario shows in the twin what it is there for, ends, is quick, and loses no packet from its books."""

from dataclasses import replace
from functools import cache
from math import ceil

import pytest

from tests.reference.link.priorities import ClassedPort
from tests.reference.scenarios.dcqcn import PACED
from tests.reference.scenarios.drawn import drawn, drawn_together
from tests.reference.scenarios.every import NAMED
from tests.reference.scenarios.measuring import MEASURED
from tests.reference.scenarios.networks import MICROSECOND, PACKET
from tests.reference.scenarios.per_packet_routing import ROUTED
from tests.reference.scenarios.pfc import DEADLOCK, LOSSLESS, innocent_alone
from tests.reference.scenarios.plain import SCENARIOS
from tests.reference.scenarios.scenario import Scenario, build_twin
from tests.reference.state.records import Results
from tests.reference.twin import Twin


def is_plain(scenario: Scenario) -> bool:
    """Whether its counts have one meaning: one class, no loss on wires, whole packets in buffers of one port each."""
    network, recovery = scenario.network, scenario.recovery
    lossless = not any(link.loss for link in network.links)
    return recovery == "go_back_n" and scenario.classes == 1 and lossless and not network.shared_buffer


BOOKS = SCENARIOS | LOSSLESS | PACED | MEASURED | ROUTED
DRAWN = [*map(drawn, range(30)), *(each for each in map(drawn_together, range(400)) if is_plain(each))]
BOOKS |= {each.name: each for each in DRAWN}
BOOKS = {name: each for name, each in BOOKS.items() if each.control != "ndp"}  # whose pulls are packets of their own
EVERY = NAMED | BOOKS
each_scenario = pytest.mark.parametrize("name", BOOKS)


@cache
def played(name: str) -> tuple[Twin, Results]:
    """The twin after its run, and the results."""
    twin = build_twin(EVERY[name])
    return twin, twin.run()


def count(name: str, what: str) -> int:
    """One of the counts that `shows` may name, of the data of all classes."""
    twin, results = played(name)
    lanes = [lane.count for port in twin.ports if isinstance(port, ClassedPort) for lane in port.lanes[1:]]
    links = results.links + lanes
    if what in ("ecn_marks", "pauses", "paused_ps"):
        return sum(getattr(link, what) for link in links)
    if what == "retransmitted":
        return sum(flow.retransmitted for flow in results.flows.values())
    if what == "queued":
        return sum(link.max_queue_bytes > PACKET for link in links)
    return results.totals[what]


@pytest.mark.parametrize("name", EVERY)
def test_it_shows_what_it_is_there_for(name: str) -> None:
    assert [what for what in EVERY[name].shows.split() if count(name, what) == 0] == []
    assert [what for what in EVERY[name].never.split() if count(name, what) > 0] == []


@each_scenario
def test_every_part_and_every_flow_ends(name: str) -> None:
    twin, results = played(name)
    assert all(part.open == 0 for parts in twin.parts for part in parts)
    assert all(finish >= 0 for finish in results.parts.values())
    for flow in results.flows.values():
        assert 0 <= flow.start_ps < flow.delivered_ps < flow.acked_ps


@each_scenario
def test_packets_are_conserved(name: str) -> None:
    _, results = played(name)
    totals, flows = results.totals, results.flows.values()
    assert totals["data_sent"] == totals["data_delivered"] + totals["data_dropped"]
    assert totals["data_delivered"] == totals["acks_sent"] == totals["acks_delivered"] + totals["acks_dropped"]
    assert totals["data_sent"] == sum(flow.packets + flow.retransmitted for flow in flows)
    assert totals["data_dropped"] >= sum(flow.dropped for flow in flows)  # copies of what had arrived are not a flow's
    assert totals["data_dropped"] + totals["acks_dropped"] == sum(link.drops for link in results.links)
    assert count(name, "retransmitted") >= totals["data_dropped"]


@each_scenario
def test_each_flow_sends_each_of_its_packets_for_the_first_time_once(name: str) -> None:
    twin, results = played(name)
    for (number, connection), flow in results.flows.items():
        mine = [m for m in twin.messages[number] if m.connection.number == connection]
        assert flow.bytes == sum(m.bytes for m in mine)
        assert flow.packets == sum(ceil(m.bytes / twin.payload_of(m.connection)) for m in mine)


@each_scenario
def test_links_carry_what_flows_send_and_no_more_than_their_time_allows(name: str) -> None:
    twin, results = played(name)
    least = sum(2 * len(connection.route) * connection.highest for connection in twin.connections.values())
    crossings = sum(link.packets for link in results.links)
    if count(name, "retransmitted") == 0:
        assert crossings == least  # every packet and its ACK crosses every link of the route once
    for port, link in zip(twin.ports, results.links, strict=True):
        assert link.bytes * 8 * 10**12 <= port.link.rate_bps * twin.now
        assert link.max_queue_bytes <= port.link.buffer_bytes or port.gate is not None
        assert port.gate is None or (port.gate.occupancy == 0 and not port.paused and not port.gate.pause_sent)


def test_pauses_spread_to_a_flow_that_has_no_part_in_the_congestion() -> None:
    scenario = LOSSLESS["pfc_head_of_line"]
    alone, beside = (list(build_twin(each).run().flows.values())[-1] for each in (innocent_alone(scenario), scenario))
    without = replace(scenario, network=replace(scenario.network, pfc=None))
    unhindered = list(build_twin(without).run().flows.values())[-1]
    assert unhindered.delivered_ps < 2.1 * alone.delivered_ps  # it shares one link with one flow
    assert beside.delivered_ps > 1.3 * unhindered.delivered_ps


def test_pauses_climb_from_the_leaf_over_the_spine_to_the_hosts() -> None:
    twin, results = played("pfc_stops_two_tiers_of_switches_and_the_hosts")
    named = {twin.network.link_name(n): link.pauses for n, link in enumerate(results.links)}
    assert all(named[link] for link in ("spine0->leaf0", "leaf1->spine0", "host1->leaf0", "host4->leaf1"))


def test_a_circle_of_full_switches_stands_still_for_ever() -> None:
    twin = build_twin(DEADLOCK)
    crossings = [sum(link.packets for link in twin.run(until * MICROSECOND).links) for until in (100, 200, 2000)]
    assert crossings[0] == crossings[1] == crossings[2] > 100
    assert all(flow.delivered_ps < 0 for flow in twin.flows.values())


def test_another_seed_marks_other_packets() -> None:
    one, other = (played(name)[1].flows for name in ("dctcp_ramp", "dctcp_ramp_other_seed"))
    assert [flow.marked for flow in one.values()] != [flow.marked for flow in other.values()]


def test_a_run_repeats_exactly() -> None:
    scenario: Scenario = SCENARIOS["everybody_over_one_rail_with_losses"]
    first, second = build_twin(scenario).run(), build_twin(scenario).run()
    assert [vars(flow) for flow in first.flows.values()] == [vars(flow) for flow in second.flows.values()]
    assert [vars(link) for link in first.links] == [vars(link) for link in second.links]


def test_the_set_is_wide_enough() -> None:
    shown = {what for scenario in SCENARIOS.values() for what in scenario.shows.split()}
    assert shown >= {"ecn_marks", "data_dropped", "naks", "timeouts", "retransmitted", "acks_dropped", "acked_together"}
    assert shown >= {"transit", "skipped_turns", "early_rows", "ties", "queued"}
    assert {scenario.control for scenario in SCENARIOS.values()} == {"none", "window", "dctcp"}
