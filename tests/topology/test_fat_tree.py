"""FatTree: htsim's numbering, tiers, overrides, and mistakes."""

from typing import Any

import pytest
from pydantic import ValidationError

from netsim.topology import FatTree
from tests.topology.cables import ups


@pytest.mark.parametrize("k", [4, 8])
def test_cabling_is_htsims(k: int) -> None:
    network, half = FatTree(k=k).build(), k // 2
    for h in range(k**3 // 4):
        assert ups(network, f"host{h}") == [f"tor{h // half}"]
    for t in range(k * half):
        pod = t // half
        assert ups(network, f"tor{t}") == [f"agg{pod * half + j}" for j in range(half)]
    for a in range(k * half):
        j = a % half
        assert ups(network, f"agg{a}") == [f"core{j + half * each}" for each in range(half)]


def test_oversubscription_thins_what_is_above_the_tor() -> None:
    network = FatTree(k=8, oversubscription=4).build()
    assert network.counts() | {"switches.tor": 32, "switches.agg": 8, "switches.core": 4} == network.counts()
    assert ups(network, "tor5") == ["agg1"]
    assert ups(network, "agg3") == ["core0", "core1", "core2", "core3"]


def test_two_tiers_join_every_tor_to_every_core() -> None:
    network = FatTree(k=6, tiers=2).build()
    assert len(network.hosts) == 18
    assert all(ups(network, f"tor{t}") == ["core0", "core1", "core2"] for t in range(6))


def test_a_tier_can_differ() -> None:
    tree = FatTree(k=4, core={"rate": "400Gb/s", "delay": "2us", "buffer": "1MiB"}, agg={"ecn": "off"})
    of = {link.kind: link for link in tree.build().links if link.source >= 16}
    assert [(kind, of[kind].rate_bps, of[kind].delay_ps) for kind in ("tor", "agg", "core")] == [
        ("tor", 10**11, 10**6),
        ("agg", 10**11, 10**6),
        ("core", 4 * 10**11, 2 * 10**6),
    ]
    assert (of["core"].buffer_bytes, of["tor"].buffer_bytes) == (1 << 20, 416_000)
    assert (of["agg"].ecn_kmin_bytes, of["core"].ecn_kmin_bytes) == (1 << 60, 83_200)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"k": 5}, "(?s)^1 .*\\nk\\n.*5 ports are not.*take an even k"),
        ({"k": 0}, "take an even k"),
        ({"k": 8, "oversubscription": 3}, "take a divisor of 4"),
        ({"k": 4, "oversubscription": 0}, "oversubscription"),
        ({"k": 4, "tiers": 4}, "tiers"),
        ({"k": 4, "tiers": 2, "agg": {"rate": "1Gb/s"}}, "leave agg out"),
        ({"k": 4, "rate": "0Gb/s"}, "(?s)rate.*is zero"),
        ({"k": 4, "buffer": 0}, "buffer"),
        ({"k": 4, "core": {"speed": "1Gb/s"}}, "core.speed"),
        ({"k": 4, "control_class": "loose"}, "control_class"),
        ({}, "k"),
    ],
)
def test_mistakes_name_the_field_and_the_mend(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        FatTree(**fields)
