"""The published matrices and topologies, where they are at hand, against counts made by other means."""

from __future__ import annotations

from pathlib import Path

import pytest

from netsim.config import load_topology
from netsim.topology import FatTree, LeafSpine
from netsim.traces import read


def _samples() -> Path | None:
    for parent in Path(__file__).resolve().parents:
        folder = parent / "shared" / "samples" / "htsim"
        if folder.is_dir():
            return folder
    return None


SAMPLES = _samples() or Path()
pytestmark = pytest.mark.skipif(_samples() is None, reason="the published files are not part of the repository")


@pytest.mark.parametrize(
    ("name", "ranks", "flows"),
    [
        ("one", 16, 1),
        ("incast", 16, 15),
        ("perm_16n_16c_2MB", 16, 16),
        ("perm_32n_32c_2MB", 32, 32),
        ("perm_1024n_1024c_0u_2000000b", 1024, 1024),
    ],
)
def test_matrices(name: str, ranks: int, flows: int) -> None:
    trace = read(SAMPLES / f"{name}.cm")
    (operation,) = trace.operations
    assert (trace.name, trace.ranks, len(operation.flows), trace.notes) == (name, ranks, flows, ())
    assert {size for _, _, size in operation.flows} == {2_000_000}
    assert operation.turns == ()
    if name.startswith("perm"):
        ends = list(zip(*operation.flows, strict=True))
        assert sorted(ends[0]) == sorted(ends[1]) == list(range(ranks))


def test_incast_and_one() -> None:
    assert read(SAMPLES / "incast.cm").operations[0].flows == tuple((node, 15, 2_000_000) for node in range(15))
    assert read(SAMPLES / "one.cm").operations[0].flows == ((0, 13, 2_000_000),)


def test_one_to_one_is_the_fat_tree_with_the_same_numbers() -> None:
    network, same = load_topology(SAMPLES / "fat_tree_128_1os.topo").build(), FatTree(k=8).build()
    assert network.hosts == same.hosts
    assert network.switches == same.switches
    assert network.links == same.links


def test_four_to_one_above_the_aggregation_tier() -> None:
    network = load_topology(SAMPLES / "fat_tree_128_4os.topo").build()
    counts = {"hosts": 128, "switches.tor": 32, "switches.agg": 32, "switches.core": 4, "links.core": 64}
    assert network.counts() | counts == network.counts()
    assert network.bisection_bps() == 16 * 100 * 10**9  # a quarter of the 64 hosts' links


def test_leaf_spine() -> None:
    network = load_topology(SAMPLES / "leaf_spine_tiny.topo").build()
    same = LeafSpine(leaves=4, spines=2, hosts_per_leaf=8).build()
    assert (len(network.hosts), len(network.switches)) == (32, 6)
    assert [(link.source, link.target) for link in network.links] == [(link.source, link.target) for link in same.links]
    assert [link.rate_bps for link in network.links] == [link.rate_bps for link in same.links]
    assert [link.delay_ps for link in network.links] == [link.delay_ps for link in same.links]
