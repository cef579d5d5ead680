"""In scenarios built with one known cause, that cause is named, with its link; and parts add up everywhere."""

import pytest

from netsim.config import build_scenario
from netsim.core.observe import packet_tracer
from netsim.core.observe.packet_tracer import PacketTracer
from netsim.explain import KINDS, explain, together
from netsim.explain.text import collective_text, explained_text
from netsim.simulation import simulate
from tests.explain.known import KNOWN, flows, leaf_spine, trace_of, uplinks

EXPECTED = {  # the share of the lost time that each cause takes at least, most of that as what, at which of some links
    "ECMP collision": (0.9, "queueing", lambda scenario: uplinks(scenario, [0, 1], [4, 5])),
    "oversubscription": (0.9, "queueing", lambda scenario: uplinks(scenario, list(range(8)), list(range(8, 16)))),
    "incast": (0.99, "queueing", lambda _: ["leaf0->host0"]),
    "straggler": (0.99, "compute", lambda _: [None]),
    "loss recovery": (0.9, "retransmission", lambda _: ["leaf0->spine0"]),
    "PFC spreading": (0.9, "pause", lambda _: ["leaf1->host4"]),
}


@pytest.mark.parametrize("kind", KNOWN)
def test_the_known_cause_is_named_with_its_link(kind: str) -> None:
    build, number = KNOWN[kind]
    scenario = build()
    every = explain(scenario)
    each = every[number]
    worst = each.attributions[0]
    share, part, links = EXPECTED[kind]
    assert worst.kind == kind
    assert worst.ps >= share * each.lost_ps
    assert worst.parts_ps.most_common(1)[0][0] == part
    assert worst.link in links(scenario)
    assert worst.flows == 2 or kind != "ECMP collision"
    assert worst.rank == (3 if kind == "straggler" else None)
    assert f"({kind})" in collective_text(each)
    assert all(sum(other.parts_ps.values()) == other.time_ps for other in every)


@pytest.mark.parametrize(("senders", "rounds"), [(2, 0), (6, 0), (2, 5), (4, 3), (6, 20)])
def test_queueing_of_an_incast_in_closed_form(senders: int, rounds: int) -> None:
    """N senders of P = rounds N packets each (0: one), served in turn: all of N - 1 others go before the last."""
    packets = rounds * senders or 1
    trace = trace_of(8, flows(*((host, 0, packets * 4096) for host in range(1, senders + 1))))
    scenario = build_scenario(trace, leaf_spine(1, 8, 1, buffer="unlimited"), transport="none")
    (each,) = explain(scenario)
    serialisation_ps = 4160 * 80  # at 100 Gb/s
    assert each.parts_ps["queueing"] == (senders - 1) * packets * serialisation_ps
    assert each.parts_ps["propagation"] == 2_000_000
    assert each.parts_ps["pause"] == each.parts_ps["throttling"] == each.parts_ps["retransmission"] == 0
    assert sum(each.parts_ps.values()) == each.time_ps


SETTINGS = [
    ("perm16", "fat_tree_k4_100g", {}),
    ("perm16", "fat_tree_k4_100g", {"routing": "spray", "transport": {"recovery": "selective_repeat"}}),
    ("all_to_all_16", "leaf_spine_32_4to1", {"transport": "roce"}),
    ("all_to_all_16", "leaf_spine_32_4to1", {"transport": "ndp"}),
    ("incast16", "fat_tree_k4_100g", {"transport": "swift"}),
    ("incast16", "fat_tree_k4_100g", {"transport": "none"}),
    ("incast16", "fat_tree_k4_100g", {"transport": "dcqcn"}),
    ("incast16", "fat_tree_k4_100g", {"transport": "hpcc"}),
    ("incast16", "fat_tree_k4_100g", {"transport": "timely"}),
    ("ring_all_reduce_16", "rail_optimized_16", {}),
    ("tree_all_reduce_16", "leaf_spine_32_2to1", {}),
    ("deepseek_v3_decode_16", "rail_optimized_16", {}),
]


@pytest.mark.parametrize(("trace", "topology", "settings"), SETTINGS)
def test_parts_sum_to_the_measured_time_of_every_collective(trace: str, topology: str, settings: dict) -> None:
    scenario = build_scenario(trace, topology, **settings)
    every, measured = explain(scenario), simulate(scenario).collectives
    assert [each.number for each in every] == measured["id"].tolist()
    assert [each.time_ps for each in every] == measured["time_ps"].tolist()
    for each in every:
        assert list(each.parts_ps) == list(KINDS)
        assert all(type(ps) is int and ps >= 0 for ps in each.parts_ps.values())
        assert sum(each.parts_ps.values()) == each.time_ps
        blamed = sum(each.parts_ps[kind] for kind in KINDS if kind not in ("propagation", "serialisation"))
        assert each.lost_ps == blamed, "a part that an idle network has not goes without blame"
    assert sum(together(every).parts_ps.values()) == int(measured["time_ps"].sum())
    assert explained_text(every).count("of the lost time is") >= 1


def test_what_is_forgotten_on_the_way_was_not_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[int] = []
    keep = PacketTracer.keep
    monkeypatch.setattr(packet_tracer, "FIRST_ROWS", 1000)
    monkeypatch.setattr(
        PacketTracer, "keep", lambda *given, **more: (kept.append(sum(map(len, given[1]))), keep(*given, **more))
    )
    scenario = build_scenario("deepseek_v3_decode_16", "rail_optimized_16")
    whole = explain(scenario)
    assert kept == []
    assert explain(scenario, many_rows=5_000) == whole
    assert len(kept) > 10
    assert max(kept) < 20_000


def test_only_one_is_explained_where_only_one_is_asked_for() -> None:
    scenario = build_scenario("deepseek_v3_decode_16", "rail_optimized_16")
    assert [each.number for each in explain(scenario, collective=7)] == [7]
