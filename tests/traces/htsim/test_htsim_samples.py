"""The published matrices and topologies, where they are at hand, against counts made by other means."""

import pytest

from netsim.config import load_topology
from netsim.topology import FatTree, LeafSpine, Network
from netsim.traces import Trace, read
from tests.traces.sample_files import needs_samples, sample

pytestmark = needs_samples


def matrix(name: str) -> Trace:
    return read(sample("htsim", f"{name}.cm"))


def network(name: str) -> Network:
    return load_topology(*sample("htsim", f"{name}.topo")).build()


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
    trace = matrix(name)
    (operation,) = trace.operations
    assert (trace.name, trace.ranks, len(operation.flows), trace.notes) == (name, ranks, flows, ())
    assert {size for _, _, size in operation.flows} == {2_000_000}
    assert operation.turns == ()
    if name.startswith("perm"):
        ends = list(zip(*operation.flows, strict=True))
        assert sorted(ends[0]) == sorted(ends[1]) == list(range(ranks))


def test_incast_and_one() -> None:
    assert matrix("incast").operations[0].flows == tuple((node, 15, 2_000_000) for node in range(15))
    assert matrix("one").operations[0].flows == ((0, 13, 2_000_000),)


def test_one_to_one_is_the_fat_tree_with_the_same_numbers() -> None:
    found, same = network("fat_tree_128_1os"), FatTree(k=8).build()
    assert found.hosts == same.hosts
    assert found.switches == same.switches
    assert found.links == same.links


def test_four_to_one_above_the_aggregation_tier() -> None:
    found = network("fat_tree_128_4os")
    counts = {"hosts": 128, "switches.tor": 32, "switches.agg": 32, "switches.core": 4, "links.core": 64}
    assert found.counts() | counts == found.counts()
    assert found.bisection_bps() == 16 * 100 * 10**9  # a quarter of the 64 hosts' links


def test_leaf_spine() -> None:
    found = network("leaf_spine_tiny")
    same = LeafSpine(leaves=4, spines=2, hosts_per_leaf=8).build()
    assert (len(found.hosts), len(found.switches)) == (32, 6)
    assert [(link.source, link.target) for link in found.links] == [(link.source, link.target) for link in same.links]
    assert [link.rate_bps for link in found.links] == [link.rate_bps for link in same.links]
    assert [link.delay_ps for link in found.links] == [link.delay_ps for link in same.links]
