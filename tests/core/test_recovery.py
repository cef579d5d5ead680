"""Loss recovery as a user meets it: published figures of NDP, wires that lose on every kind of topology, mistakes.

V1 and V2 are those of uet-htsim and csg-htsim: 100 Gb/s, 1 us per link, 490 packets of 4086 + 64 bytes per flow,
trimming, queues of 145,250 bytes.
"""

from __future__ import annotations

from typing import Any

import pytest

import netsim
from netsim.errors import InputError
from netsim.traces import Operation, Trace
from tests.traffic import flows

MICROSECOND = 10**6
TRIMMING = {"base": "fat_tree_k4_100g", "buffer": 145_250, "trim": True}
FLOW = 490 * 4086
SENDERS = 15


def received_by(pairs: list[tuple[int, int]]) -> netsim.Result:
    return netsim.simulate(flows(16, pairs, FLOW), TRIMMING, transport="ndp", packet={"payload": "4086B"})


def test_one_flow_over_six_links() -> None:
    last_ack_us = int(received_by([(0, 8)]).flows["acked_ps"].max()) / MICROSECOND
    assert 176.2 <= last_ack_us <= 177.8


def test_incast_is_received_at_line_rate() -> None:
    """EQDS 2470.4 us, RCCC 2464.4 us with 762 trims; no receiver is faster than 15 x 490 packets at line rate."""
    result = received_by([(sender, 0) for sender in range(1, SENDERS + 1)])
    last_ack_us = int(result.flows["acked_ps"].max()) / MICROSECOND
    floor_us = SENDERS * 490 * 4150 * 80 / MICROSECOND
    assert floor_us < int(result.flows["delivered_ps"].max()) / MICROSECOND
    assert 2464.4 * 0.97 <= last_ack_us <= 2470.4 * 1.03
    assert 762 / 2 <= result.summary["trims"] <= 762 * 2
    assert result.summary["retransmitted_packets"] == result.summary["trims"]
    assert result.summary["drops"] == 0


TOPOLOGIES = ["fat_tree_k4_100g", "leaf_spine_32_4to1", "rail_optimized_16"]
TRANSPORTS: list[dict[str, Any]] = [
    {"control": "none"},
    {"control": "dctcp"},
    {"control": "dcqcn"},
    {"control": "window", "recovery": "selective_repeat"},
    {"control": "ndp"},
]


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize("transport", TRANSPORTS, ids=lambda each: "+".join(each.values()))
@pytest.mark.parametrize("loss", [1e-5, 1e-3, 5e-2])
def test_everything_arrives_over_wires_that_lose(topology: str, transport: dict[str, Any], loss: float) -> None:
    everyone = tuple(range(16))
    operations = (
        Operation("all_to_all", "world", everyone, 1 << 20),
        Operation("all_reduce", "world", everyone, 1 << 18),
    )
    result = netsim.simulate(
        Trace("both", 16, {}, operations),
        {"base": topology, "loss": loss, "trim": "ndp" in transport.values()},
        transport=transport,
    )
    summary = result.summary
    assert (result.flows["delivered_ps"] > 0).all()
    assert (result.flows["acked_ps"] > result.flows["delivered_ps"]).all()
    assert summary["lost"] == result.links["lost"].sum()
    assert summary["packets_dropped"] + summary["acks_dropped"] == summary["lost"] + summary["drops"]
    hops = summary["packet_hops"]
    share = 1.0 if topology != "rail_optimized_16" else result.links.query("kind != 'nvlink'")["packets"].sum() / hops
    assert abs(summary["lost"] - hops * share * loss) <= 6 * (hops * share * loss) ** 0.5 + 6  # six standard deviations


def test_nvlink_loses_nothing_unless_told_to() -> None:
    network = netsim.load_topology({"base": "rail_optimized_16", "loss": 0.01}).build()
    assert {link.kind for link in network.links if link.loss == 0} == {"nvlink"}
    network = netsim.load_topology({"base": "rail_optimized_16", "nvlink": {"loss": 0.01}}).build()
    assert {link.kind for link in network.links if link.loss > 0} == {"nvlink"}


@pytest.mark.parametrize(
    ("topology", "transport", "hint"),
    [
        ({"trim": True}, {"control": "dctcp"}, "selective_repeat"),
        ({"trim": True, "control_class": "shared"}, {"control": "ndp"}, "strict"),
        ({"loss": 1.0}, {"control": "dctcp"}, ""),
        ({}, {"control": "ndp", "recovery": "go_back_n"}, "selective_repeat"),
        ({}, {"recovery": "selective_repeat", "selective_repeat": {"window": 7}}, ""),
    ],
)
def test_settings_that_do_not_fit_are_refused_in_a_line(
    topology: dict[str, Any], transport: dict[str, Any], hint: str
) -> None:
    with pytest.raises(InputError) as caught:
        netsim.simulate(flows(16, [(0, 8)], 1), {"base": "fat_tree_k4_100g", **topology}, transport=transport)
    assert hint in str(caught.value)
    assert "\n" not in str(caught.value)
