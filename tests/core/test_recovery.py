"""Loss recovery as a user meets it: wires that lose on every kind of topology, mistakes (NDP's figures: validate)."""

from typing import Any

import pytest

import netsim
from netsim.traces import Operation, Trace
from tests.inputs import refusal
from tests.traffic import flows

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
    fabric = {"base": topology, "loss": loss, "trim": "ndp" in transport.values()}
    result = netsim.simulate(Trace("both", 16, {}, operations), fabric, transport=transport)
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
    fabric = {"base": "fat_tree_k4_100g", **topology}
    assert hint in refusal(netsim.simulate, flows(16, [(0, 8)], 1), fabric, transport=transport)
