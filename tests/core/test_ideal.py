"""What `slowdown` compares with: alone, where nothing meets but at hosts, an operation takes its ideal time."""

import math
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import netsim
from netsim.collectives import ALGORITHMS, Layout, Request, plan
from netsim.config import build_scenario
from netsim.result import Result
from tests.core.scenario_runs import play_core
from tests.random_cases import LAWS, case
from tests.reference.scenarios.networks import Row
from tests.reference.scenarios.scenario import Scenario, one
from tests.traffic import collective, flows

US = 10**6  # ps
FULL = 4160  # bytes of a full packet
STAR = {"kind": "leaf_spine", "leaves": 1, "spines": 1, "rate": "100Gb/s", "delay": "1us", "buffer": "unlimited"}
WIDE = {"kind": "leaf_spine", "leaves": 3, "spines": 1, "hosts_per_leaf": 3, "buffer": "unlimited"}
WIDE["spine"] = {"rate": "3.2Tb/s"}
RAILS = {"kind": "rail_optimized", "servers": 2, "gpus_per_server": 4, "buffer": "unlimited"}


def slowdown(result: Result) -> float:
    (value,) = result.collectives["slowdown"]
    return float(value)


@pytest.mark.parametrize("spines", [1, 3, 4, 8])
@pytest.mark.parametrize(("nic", "up"), [(400, 100), (400, 40), (100, 400), (600, 200)])
@pytest.mark.parametrize("size", [1, 9_000, 4096 * 1200])
def test_a_sprayed_flow_has_all_its_paths(spines: int, nic: int, up: int, size: int) -> None:
    """20 MB over 4 spines of 100 Gb/s take 411 us, not 1,630: the NIC's time or that of all spines together."""
    fabric = {"kind": "leaf_spine", "leaves": 2, "spines": spines, "hosts_per_leaf": 2, "rate": f"{nic}Gb/s"}
    result = netsim.simulate(flows(4, [(0, 2)], size), fabric | {"spine": {"rate": f"{up}Gb/s"}}, transport="ideal")
    packets = math.ceil(size / 4096)
    wire_ps = 8000 * (size + 64 * packets) / min(nic, spines * up)
    assert wire_ps + 4 * US <= result.collectives["time_ps"][0]
    assert 1 <= slowdown(result) <= (1.01 if packets > 1000 else 1.04)
    assert result.flows["slowdown"][0] == pytest.approx(slowdown(result))


def test_a_sprayed_flow_by_the_published_case() -> None:
    fabric = {"kind": "leaf_spine", "leaves": 2, "spines": 4, "hosts_per_leaf": 2, "rate": "400Gb/s", "delay": "1us"}
    result = netsim.simulate(flows(4, [(0, 2)], 20_000_000), fabric | {"spine": {"rate": "100Gb/s"}}, transport="ideal")
    assert result.collectives["time_ps"][0] / US == pytest.approx(411.0, abs=0.05)
    assert slowdown(result) == pytest.approx(1, abs=0.001)


@pytest.mark.parametrize("op", ["scatter", "gather"])
@pytest.mark.parametrize(("hosts", "packets"), [(9, 1), (3, 1), (12, 7)])
def test_a_scatter_and_a_gather_take_all_packets_and_the_path_of_the_last(op: str, hosts: int, packets: int) -> None:
    """Serialisation and latency add up: 5.00 us for 36 KiB among 9 hosts."""
    star = {**STAR, "hosts_per_leaf": hosts}
    result = netsim.simulate(collective(op, hosts, hosts * packets * 4096), star, nic={"jitter": 0})
    expected = ((hosts - 1) * packets + 1) * FULL * 80 + 2 * US
    (row,) = result.collectives.itertuples()
    assert row.ideal_ps == row.time_ps == expected


SMALL = ("send", "flows", "all_to_all_v")  # which need more than their bytes
OPERATIONS = [(op, name) for op, known in ALGORITHMS.items() if op not in SMALL for name in known]
CROWDED = [
    (WIDE, "all_reduce", "recursive_doubling"),
    (WIDE, "all_reduce", "halving_doubling"),
    (RAILS, "all_to_all", "bruck"),
]


@pytest.mark.parametrize(("op", "algorithm"), OPERATIONS)
@pytest.mark.parametrize("size", [10_000, 300_000, 3_000_000])
@pytest.mark.parametrize("fabric", [{**STAR, "hosts_per_leaf": 8}, WIDE, RAILS], ids=["star", "wide", "rails"])
def test_alone_an_operation_takes_its_ideal_time(fabric: Any, size: int, op: str, algorithm: str) -> None:
    """To the picosecond, but where packets meet between switches, if only for as long as a fast link takes them.

    Of 9 ranks the ninth is folded in while another already sends to the same one; Bruck's messages to the next ranks
    cross the rails, where two share a link to the spine.
    """
    network = build_scenario(collective("barrier", 2, 0), fabric).topology.build()
    layout = Layout(network.server_of, network.rail_of)
    schedule = plan(Request(op=op, ranks=len(network.hosts), bytes=size, layout=layout), algorithm)
    columns = (getattr(schedule, name).tolist() for name in ("source", "target", "channel", "bytes"))
    rows = [(*row, tuple(schedule.predecessors(i).tolist())) for i, row in enumerate(zip(*columns, strict=True))]
    (carried,) = play_core(Scenario(op, network, one(rows), control="none")).carried
    took = (carried.end_ps or 0) - (carried.start_ps or 0)
    assert carried.admitted.floor_ps <= carried.admitted.ideal_ps(took) <= took
    if size < 3_000_000 or (fabric, op, algorithm) not in CROWDED:
        assert carried.admitted.alone_ps == (pytest.approx(took, rel=0.01) if fabric is WIDE else took)


def test_data_that_waits_makes_room_for_acks() -> None:
    """Two hosts send to a third, which sends, too: at its port the ACKs of what it sends go before the data."""
    packets = 50
    pairs = [(0, 2), (1, 2), (2, 0)]
    trace = flows(3, pairs, packets * 4096)
    result = netsim.simulate(trace, {**STAR, "hosts_per_leaf": 3, "control_class": "strict"}, transport="none")
    expected = ((2 * packets + 1) * FULL + packets * 64) * 80 + 2 * US
    (row,) = result.collectives.itertuples()
    assert row.ideal_ps == row.time_ps == expected


@pytest.mark.parametrize("number", range(16))
@pytest.mark.parametrize("fabric", [STAR, RAILS], ids=["star", "rails"])
def test_alone_many_flows_take_their_ideal_time(fabric: Any, number: int) -> None:
    """Through relays, over several queue pairs, in packets large and small, ACKs apart or not: nearly all to the ps."""
    draw = random.Random(f"flows {number}")
    more = {"servers": draw.choice([3, 5])} if fabric is RAILS else {"hosts_per_leaf": draw.randint(3, 12)}
    fabric = {**fabric, **more, "rate": draw.choice(["25Gb/s", "400Gb/s"]), "delay": draw.choice(["100ns", "5us"])}
    fabric["control_class"] = draw.choice(["strict", "shared"])
    network = build_scenario(collective("barrier", 2, 0), fabric).topology.build()
    rows: list[Row] = []
    for _ in range(draw.choice([30, 100])):
        source, target = draw.sample(range(len(network.hosts)), 2)
        before = [i for i, row in enumerate(rows) if source in row[:2]]  # what it has received or sent
        after = tuple(draw.sample(before, 1)) if before and draw.random() < 0.3 else ()
        rows.append((source, target, 0, draw.randint(1, 300_000), after))
    settings = {"payload": draw.choice([1024, 4096, 65536]), "queue_pairs": draw.choice([1, 3]), "split": True}
    settings["timeout_ps"] = 10**15
    (carried,) = play_core(Scenario("flows", network, one(rows), control="none", **settings)).carried
    took = (carried.end_ps or 0) - (carried.start_ps or 0)
    assert carried.admitted.alone_ps == pytest.approx(took, rel=0.003)


@settings(deadline=None, max_examples=12)
@given(st.integers(0, 499))
def test_random_runs_keep_the_laws(number: int) -> None:
    result = case(number).run()
    assert result is None or [breach for law in LAWS for breach in law(result)] == []


@pytest.mark.parametrize(
    ("op", "algorithm", "routing", "gpus", "rate"),
    [
        ("broadcast", "ring", {}, 4, "400Gb/s"),
        ("all_reduce", "tree", {"queue_pairs": 3}, 2, "800Gb/s"),
        ("reduce", "ring", {}, 8, "400Gb/s"),
    ],
)
def test_an_operation_of_many_packets_is_played_finely(
    op: str, algorithm: str, routing: dict[str, Any], gpus: int, rate: str
) -> None:
    """Trains as long as a good part of a message changed the order in which NICs send: 12 and 3 % off."""
    fabric = {**RAILS, "servers": 13, "gpus_per_server": gpus, "rate": rate, "delay": "1us"}
    trace = collective(op, 13 * gpus, 1 << 24, algorithm)
    result = netsim.simulate(trace, fabric, transport="none", routing={"kind": "ecmp", **routing})
    assert 1 <= slowdown(result) <= 1.01
