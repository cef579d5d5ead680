"""Networks that are too large are refused from closed forms, with their numbers, before anything of them is made."""

import tracemalloc
from pathlib import Path

import pytest

from netsim.cli import main
from netsim.config import load_topology
from netsim.errors import InputError
from netsim.routing.shortest_paths import MOST_DISTANCES, check_distances
from netsim.topology import TOPOLOGIES, FatTree, HtsimTree, LeafSpine, NetworkBuilder, RailOptimized
from netsim.topology.limits import MOST, Counts, check_counts
from tests.topology.examples import EXAMPLES

MORE = (
    LeafSpine(leaves=7, spines=5, hosts_per_leaf=3),
    FatTree(k=6, oversubscription=3),
    FatTree(k=8, tiers=2, oversubscription=4),
    RailOptimized(servers=6, gpus_per_server=4, oversubscription=3),
    HtsimTree(nodes=6, podsize=6, tor={"radix_down": 2, "radix_up": 4}, agg={"radix_down": 6, "bundle": 2}),
)


@pytest.mark.parametrize("topology", [*(example[0] for example in EXAMPLES.values()), *MORE], ids=str)
def test_the_closed_form_counts_what_is_built(topology: LeafSpine) -> None:
    network = topology.build()
    assert topology.counts == (len(network.hosts), len(network.switches), len(network.links) // 2)


TOO_LARGE = {
    "100,000 hosts, 200,000 switches and 10,000,100,000 cables": """
kind = "leaf_spine"
leaves = 100000
spines = 100000
hosts_per_leaf = 1
""",
    "16,000 hosts, 802,008 switches and 6,432,000 cables": """
kind = "rail_optimized"
servers = 2000
rate = "400Gb/s"
[spine]
rate = "1Gb/s" # meant 1 Tb/s
""",
    "250,000,000 hosts, 1,250,000 switches and 750,000,000 cables": 'kind = "fat_tree"\nk = 1000\n',
    "50,000,000 hosts, 15,000 switches and 100,000,000 cables": 'kind = "fat_tree"\nk = 10000\ntiers = 2\n',
    "makes 10^36 hosts, 10^18 switches and 10^36 cables": f"""
kind = "leaf_spine"
leaves = {10**18}
spines = {10**18}
hosts_per_leaf = {10**18}
""",
    "131,072 hosts, 131,073 switches and 262,144 cables": """
Nodes 131072
Tiers 2
Podsize 131072
Tier 0
Downlink_speed_Gbps 100
Radix_Up 1
Radix_Down 1
Downlink_Latency_ns 1
Tier 1
Radix_Down 131072
Downlink_speed_Gbps 100
Downlink_Latency_ns 1
""",
}


@pytest.mark.parametrize("numbers", TOO_LARGE)
def test_what_is_too_large_is_refused_with_its_numbers_and_takes_no_memory(numbers: str, tmp_path: Path) -> None:
    path = tmp_path / "f.toml"
    path.write_text(TOO_LARGE[numbers])
    tracemalloc.start()
    try:
        with pytest.raises(InputError) as caught:
            load_topology(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert numbers.split(" and ")[0] in str(caught.value)
    assert "131,072 hosts, 65,536 switches and 524,288 cables at most" in str(caught.value)
    assert peak < 4 << 20  # reading a file takes one


def test_every_kind_has_a_closed_form() -> None:
    assert all("counts" in vars(kind) for kind in TOPOLOGIES.values())


@pytest.mark.parametrize("number", range(3))
def test_the_largest_pass_and_one_more_does_not(number: int) -> None:
    check_counts(MOST)
    with pytest.raises(InputError, match="at most"):
        check_counts(Counts(*(most + (place == number) for place, most in enumerate(MOST))))


def test_a_builder_refuses_one_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, most in (("MOST_HOSTS", 2), ("MOST_SWITCHES", 1), ("MOST_CABLES", 2)):
        monkeypatch.setattr(f"netsim.topology.limits.{name}", most)
    builder = NetworkBuilder("pair")
    hosts = [builder.host(name) for name in "ab"]
    with pytest.raises(InputError, match="makes 3 hosts"):
        builder.host("c")
    switch = builder.switch("s", "tor")
    with pytest.raises(InputError, match="2 switches"):
        builder.switch("t", "tor")
    for host in hosts:
        builder.connect(host, switch, rate_bps=1, delay_ps=1, kind="tor")
    with pytest.raises(InputError, match="3 cables"):
        builder.connect(hosts[0], switch, rate_bps=1, delay_ps=1, kind="tor")


def test_tables_of_distances_that_would_fill_the_memory_are_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    network = FatTree(k=4).build()  # 16 hosts, 20 switches
    check_distances(network)
    monkeypatch.setattr("netsim.routing.shortest_paths.MOST_DISTANCES", 36 * 16 - 1)
    with pytest.raises(InputError, match="36 hosts and switches, each with its distance to 16 hosts, make 576"):
        check_distances(network)
    assert main(["run", "perm16", "--on", "fat_tree_k4_100g"]) == 2
    assert "make 576; routing takes 575 at most" in capsys.readouterr().err
    assert MOST_DISTANCES > 16_384 * (16_384 + 2048 + 8 + 2048), "16,384 GPUs in servers of eight"
