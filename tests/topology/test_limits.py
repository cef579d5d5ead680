"""Networks that are too large are refused from closed forms, with their numbers, before anything of them is made."""

from pathlib import Path

import pytest

from netsim.cli import main
from netsim.config import load_topology
from netsim.routing.shortest_paths import MOST_DISTANCES, check_distances
from netsim.topology import TOPOLOGIES, FatTree, HtsimTree, LeafSpine, NetworkBuilder, RailOptimized
from netsim.topology.limits import MOST, Counts, check_counts
from tests.inputs import measured, refusal, saved
from tests.topology.examples import EXAMPLES
from tests.topology.test_htsim import block

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


def leaf_spine(switches: int, hosts: int) -> str:
    return f'kind = "leaf_spine"\nleaves = {switches}\nspines = {switches}\nhosts_per_leaf = {hosts}\n'


TOO_LARGE = {
    "100,000 hosts, 200,000 switches and 10,000,100,000 cables": leaf_spine(100_000, 1),
    "16,000 hosts, 802,008 switches and 6,432,000 cables": (
        'kind = "rail_optimized"\nservers = 2000\nrate = "400Gb/s"\nspine.rate = "1Gb/s"\n'  # meant 1 Tb/s
    ),
    "250,000,000 hosts, 1,250,000 switches and 750,000,000 cables": 'kind = "fat_tree"\nk = 1000\n',
    "50,000,000 hosts, 15,000 switches and 100,000,000 cables": 'kind = "fat_tree"\nk = 10000\ntiers = 2\n',
    "makes 10^36 hosts, 10^18 switches and 10^36 cables": leaf_spine(10**18, 10**18),
    "131,072 hosts, 131,073 switches and 262,144 cables": (
        "Nodes 131072\nTiers 2\nPodsize 131072\n" + block(0, 1, "Radix_Up 1") + block(1, 131_072)
    ),
}


@pytest.mark.parametrize("numbers", TOO_LARGE)
def test_what_is_too_large_is_refused_with_its_numbers_and_takes_no_memory(numbers: str, tmp_path: Path) -> None:
    said, peak = measured(refusal, load_topology, saved(tmp_path / "f.toml", TOO_LARGE[numbers]))
    assert numbers.split(" and ")[0] in said
    assert "131,072 hosts, 65,536 switches and 524,288 cables at most" in said
    assert peak < 4 << 20  # reading a file takes one


def test_every_kind_has_a_closed_form() -> None:
    assert all("counts" in vars(kind) for kind in TOPOLOGIES.values())


@pytest.mark.parametrize("number", range(3))
def test_the_largest_pass_and_one_more_does_not(number: int) -> None:
    check_counts(MOST)
    beyond = Counts(*(most + (place == number) for place, most in enumerate(MOST)))
    assert "at most" in refusal(check_counts, beyond)


def test_a_builder_refuses_one_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, most in (("MOST_HOSTS", 2), ("MOST_SWITCHES", 1), ("MOST_CABLES", 2)):
        monkeypatch.setattr(f"netsim.topology.limits.{name}", most)
    builder = NetworkBuilder("pair")
    hosts = [builder.host(name) for name in "ab"]
    assert "makes 3 hosts" in refusal(builder.host, "c")
    switch = builder.switch("s", "tor")
    assert "2 switches" in refusal(builder.switch, "t", "tor")
    cable = {"rate_bps": 1, "delay_ps": 1, "kind": "tor"}
    for host in hosts:
        builder.connect(host, switch, **cable)
    assert "3 cables" in refusal(builder.connect, hosts[0], switch, **cable)


def test_tables_of_distances_that_would_fill_the_memory_are_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    network = FatTree(k=4).build()  # 16 hosts, 20 switches
    check_distances(network)
    monkeypatch.setattr("netsim.routing.shortest_paths.MOST_DISTANCES", 36 * 16 - 1)
    said = "36 hosts and switches, each with its distance to 16 hosts, make 576"
    assert said in refusal(check_distances, network)
    assert main(["run", "perm16", "--on", "fat_tree_k4_100g"]) == 2
    assert "make 576; routing takes 575 at most" in capsys.readouterr().err
    assert MOST_DISTANCES > 16_384 * (16_384 + 2048 + 8 + 2048), "16,384 GPUs in servers of eight"
