"""The estimate of what limits a run: one clear case of each kind, worked out by hand, and its numbers."""

import math
from typing import Any

import pytest

from netsim.config.scenario import Scenario
from netsim.report.bottleneck import estimate_of, slowdown_of
from netsim.report.load import Load
from netsim.result import Result
from netsim.topology import LeafSpine
from tests.outcomes import US, Flow, result_of, scenario_of

MB = 4096 * 250  # bytes in 250 full packets: 83.2 us at 100 Gb/s, headers included
MB_PS = 83_200_000


def run(flows: list[Flow], ideal: int = 0, scenario: Scenario | None = None, **totals: Any) -> Result:
    end = max(flow[4] for flow in flows)
    operation = {"op": "flows", "bytes": 1, "end_ps": end, "ideal_ps": ideal or end}
    return result_of(scenario or scenario_of(routing="single"), flows, [operation], **totals)


def test_a_link_needs_the_time_of_what_crosses_it() -> None:
    load = Load(run([(0, 1, MB, 0, 100 * US), (0, 2, 2 * MB, 0, 300 * US), (3, 2, 1, 0, -1)]))
    names = [load.network.link_name(link) for link in range(len(load.network.links))]
    needed = dict(zip(names, load.needed_ps.tolist(), strict=True))
    assert needed["host0->tor0"] == pytest.approx(3 * MB_PS)
    assert needed["tor0->host1"] == pytest.approx(MB_PS)
    assert needed["tor0->agg0"] == pytest.approx(2 * MB_PS)
    assert needed["host3->tor1"] == 0  # it never arrived
    first = names.index("host0->tor0")
    assert load.through(first)["dst"].tolist() == [1, 2]
    assert load.at_once(first) == 2


def test_flows_one_after_the_other_are_not_at_once() -> None:
    load = Load(run([(0, 1, MB, 0, 100), (0, 2, MB, 100, 200), (0, 3, MB, 150, 250)]))
    link = [load.network.link_name(link) for link in range(len(load.network.links))].index("host0->tor0")
    assert load.at_once(link) == 2


def test_ranks_are_looked_for_where_they_were_placed() -> None:
    placement = {"kind": "list", "order": [9, 4, *range(4), *range(10, 16), *range(5, 9)]}
    load = Load(result_of(scenario_of(placement=placement), [(0, 1, MB, 0, 100 * US)]))
    busy = {load.network.link_name(int(link)) for link in load.needed_ps.nonzero()[0]}
    assert {"host9->tor4", "tor2->host4"} <= busy


def test_time_without_collectives_is_not_counted() -> None:
    operations = [{"op": "send", "bytes": 1, "start_ps": start, "end_ps": end} for start, end in
                  [(0, 50), (10, 20), (40, 60), (200, 210), (205, 220)]]  # fmt: skip
    assert Load(result_of(scenario_of(), [], operations)).busy_ps == 60 + 20


def test_host_link() -> None:
    found = estimate_of(run([(0, 2, MB, 0, 90 * US)]))
    assert found.kind == "host link"
    assert "at host0->tor0: it needs 83.20 us for 1,040 KB, 92 % of the time." in found.text


def test_incast() -> None:
    found = estimate_of(run([(source, 15, MB, 0, (source + 1) * 90 * US) for source in range(10)]))
    assert found.kind == "incast"
    assert found.link == "tor7->host15"
    assert "10 ranks send to host15, up to 10 at once, and its link needs 832.00 us" in found.text
    assert "92 % of the time." in found.text


def test_everybody_to_everybody_is_no_incast() -> None:
    flows = [(s, t, MB, 0, 1300 * US) for s in range(16) for t in range(16) if s != t]
    assert estimate_of(run(flows)).kind != "incast"


def test_collision_on_one_link() -> None:
    """Hosts 0 and 1 share tor0->agg0 under `single`, and nobody else sends: the tier as a whole has room."""
    found = estimate_of(run([(0, 4, MB, 0, 170 * US), (1, 6, MB, 0, 170 * US), (14, 15, MB, 0, 90 * US)]))
    assert "at tor0->agg0: shared by up to 2 flows at once, it needs 166.40 us" in found.text
    assert found.kind == "path collision"


def test_collision_is_called_after_ecmp() -> None:
    flows = [(source, (source + 8) % 16, MB, 0, 260 * US) for source in range(16)]
    assert estimate_of(run(flows, 90 * US, scenario_of(seed=1))).kind == "ECMP collision"


def test_oversubscription() -> None:
    """Eight hosts of leaf 0 send to leaf 1 over two links: even spread evenly, each is needed four times as long."""
    flows = [(source, source + 8, MB, 0, 350 * US) for source in range(8)]
    found = estimate_of(run(flows, 90 * US, scenario_of("leaf_spine_32_4to1", routing="ecmp")))
    assert found.kind == "oversubscription"
    assert "the 2 links from leaf0 up are on average needed 95 % of the time (host links at most 24 %)" in found.text


def test_latency() -> None:
    found = estimate_of(run([(0, 15, 64, 0, 12 * US)], ideal=12 * US))
    assert found.kind == "latency"
    assert "operations take 1.00 x their time on an idle network" in found.text
    assert "0.1 % of the time" in found.text


def test_losses() -> None:
    found = estimate_of(run([(0, 15, MB, 0, 4000 * US)], ideal=100 * US, retransmitted_packets=125))
    assert found.kind == "loss recovery"
    assert "it lost most packets, and needs 0.00 us for 0 B, 0 % of the time." in found.text
    assert found.link == "tor0->host1", "number 3, which dropped"
    assert "2 packets dropped, 125 retransmitted (50 %)." in found.text
    assert found.estimated


def slow_for_no_link(**links: int) -> Result:
    """Two flows one after the other that take twice their time while no link is needed for a quarter of it."""
    flows = [(0, 15, MB, 0, 400 * US), (1, 14, MB, 400 * US, 800 * US)]
    result = run(flows, 400 * US)
    for name in ("drops", "ecn_marks", "pauses_sent", "trims"):
        result.links[name] = links.get(name, 0)
    return result


def test_without_a_mark_or_a_loss_the_limit_is_the_senders() -> None:
    found = estimate_of(slow_for_no_link())
    assert (found.kind, found.link) == ("rate limit", None), "DCQCN holds senders back by a rate"


def test_a_link_that_marked_is_to_blame_where_none_is_needed_for_long() -> None:
    found = estimate_of(slow_for_no_link(ecn_marks=1))
    assert (found.kind, found.link) == ("passing congestion", "tor0->agg0")
    assert "shared by up to 1 flow at once, it needs 166.40 us for 2,080 KB, 21 % of the time" in found.text


def test_one_flow_over_a_slower_link_collides_with_nobody() -> None:
    scenario = scenario_of(LeafSpine(leaves=2, hosts_per_leaf=8, spines=2, rate="100Gb/s", spine={"rate": "50Gb/s"}))
    found = estimate_of(result_of(scenario, [(0, 8, MB, 0, 170 * US)]))
    assert found.kind == "slower link"
    assert found.link in ("leaf0->spine0", "leaf0->spine1")


def test_nothing_sent() -> None:
    assert estimate_of(result_of(scenario_of(), [], [])).text == "Limited by nothing: nothing was sent."


def test_too_many_connections_fall_back_to_what_links_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netsim.report.load.MOST_ROUTED", 0)
    load = Load(run([(0, 2, MB, 0, 90 * US)]))
    assert load.needed_ps.tolist() == [pytest.approx(number * 80_000) for number in range(96)]
    assert load.at_once(0) == 1, "what its host sends"
    assert load.through(40).empty, "between switches"
    assert estimate_of(load.result).text


def test_slowdown_of_a_whole_run() -> None:
    assert slowdown_of(run([(0, 1, MB, 0, 90 * US)], ideal=45 * US)) == 2.0
    unknown = [{"op": "send", "bytes": 1, "end_ps": 5, "ideal_ps": 0}]
    assert math.isnan(slowdown_of(result_of(scenario_of(), [], unknown)))
