"""A shared buffer with a dynamic threshold: its law, and what is refused."""

from functools import cache
from typing import Any

import pytest

import netsim
from tests.inputs import refusal
from tests.traffic import flows

PACKET = 4160  # bytes on the wire
SIZE = 600 * PACKET
STAR: dict[str, Any] = {"kind": "leaf_spine", "leaves": 1, "spines": 1, "hosts_per_leaf": 16, "ecn": "off"}


@cache
def crowd(ports: int, alpha: float, trim: bool = False, pfc: str = "off") -> netsim.Result:
    """Sixteen hosts, of which three each send 8 MB without control to each of some of the others, all at once."""
    pairs = [(15 - (3 * port + k), port) for port in range(ports) for k in range(3)]
    fabric = STAR | {"shared_buffer": {"size": SIZE, "alpha": alpha}, "trim": trim, "pfc": pfc}
    transport = {"control": "none", "recovery": "selective_repeat"} if trim else {"control": "none"}
    return netsim.simulate(flows(16, pairs, 4_000_000), fabric, transport=transport)


@pytest.mark.parametrize("alpha", [0.125, 0.5, 1, 3.3])
@pytest.mark.parametrize("ports", [1, 2, 4])
def test_congested_ports_take_the_share_of_choudhury_and_hahne(ports: int, alpha: float) -> None:
    """n alpha / (1 + n alpha) of the buffer, to within a packet for each port; one port alone never takes more."""
    result = crowd(ports, alpha)
    share = SIZE * ports * alpha / (1 + ports * alpha)
    assert result.scenario.topology.shared_buffer.most_of(ports) == pytest.approx(share)
    assert result.links["max_queue_bytes"].max() <= SIZE * alpha / (1 + alpha)
    assert share - ports * PACKET < result.summary["max_shared_buffer_bytes"] < share + ports * PACKET
    assert result.summary["drops"] > 0


@pytest.mark.parametrize("how", [{"trim": True}, {"pfc": "on"}])
def test_one_congested_port_is_held_to_its_share_with_trimming_too(how: dict[str, Any]) -> None:
    result = crowd(1, 0.125, **how)
    share = SIZE * 0.125 / 1.125
    assert 0 < result.summary["max_shared_buffer_bytes"] <= SIZE
    if "trim" in how:
        assert share - PACKET < result.links["max_queue_bytes"].max() <= share
        assert result.summary["trims"] > 0
    assert result.summary["drops"] == 0


def test_flow_control_stops_senders_by_what_is_left() -> None:
    """Three ingress ports fill 3 alpha / (1 + 3 alpha) of a small pool, the rest of what comes stands in headrooms."""
    fabric = STAR | {"pfc": {"xoff": "1MB", "xon": "900KB"}, "buffer": "2MB"}
    pairs = [(1, 0), (2, 0), (3, 0)]
    runs = {}
    for size in (64 * PACKET, 256 * PACKET):
        shared = fabric | {"shared_buffer": {"size": size, "alpha": 0.5}}
        runs[size] = netsim.simulate(flows(16, pairs, 4_000_000), shared, transport="none").summary
        assert size * 0.6 - 3 * PACKET < runs[size]["max_shared_buffer_bytes"] <= size * 0.6 + PACKET
        assert runs[size]["drops"] == 0 < runs[size]["pauses"]
    assert runs[64 * PACKET]["pauses"] != runs[256 * PACKET]["pauses"]
    alone = netsim.simulate(flows(16, pairs, 4_000_000), fabric, transport="none").summary
    assert "max_shared_buffer_bytes" not in alone


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"alpha": 0}, "alpha"),
        ({"alpha": -1}, "alpha"),
        ({"alpha": 5000}, "alpha"),
        ({"alpha": 1e-6}, "no packet of 4160 B; give a larger alpha"),
        ({"size": "0B"}, "size"),
        ({"size": 17 * PACKET - 1}, "holds no packet for each of 17 ports; give at least 70720 B"),
        ({"size": "unlimited"}, "size"),
        ({"share": 1}, "share"),
    ],
)
def test_a_bad_buffer_is_refused_in_one_line(change: dict[str, Any], words: str) -> None:
    fabric = STAR | {"shared_buffer": {"size": "16MB", "alpha": 1} | change}
    assert words in refusal(netsim.simulate, "incast16", fabric, transport={"control": "none"})


def test_what_is_no_buffer_is_refused_and_off_is_off() -> None:
    assert "no shared buffer" in refusal(netsim.load_topology, STAR | {"shared_buffer": "16MB"})
    off = netsim.load_topology(STAR | {"shared_buffer": "off"})
    assert off == netsim.load_topology(STAR)
    assert netsim.load_topology(STAR | {"shared_buffer": {"size": "16MB"}}) != off


def test_a_scenario_says_its_buffer_again() -> None:
    result = crowd(1, 0.5)
    text = result.scenario.to_toml()
    assert '[topology.shared_buffer]\nsize = "2496KB"\nalpha = 0.5' in text
    assert "shared_buffer" not in netsim.simulate("incast16", STAR).scenario.to_toml()
