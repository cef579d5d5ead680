"""The built-in topology files are what their names say, and state everything."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from netsim.config import builtin_inputs
from netsim.topology import TOPOLOGIES, Topology
from netsim.units import FROM_FILE, parse_time

G = 10**9
SPEEDS = {100: 1_000_000, 400: 500_000}  # Gb/s and ps of the links that are built-in
EXPECTED = {  # hosts, bisection, delay of a network link
    **{f"fat_tree_k{k}_{g}g": (k**3 // 4, k**3 // 8 * g * G, SPEEDS[g]) for k in (4, 8, 16) for g in SPEEDS},
    **{f"leaf_spine_32_{over}to1": (32, 16 * 100 * G // over, SPEEDS[100]) for over in (1, 2, 4)},
    **{f"rail_optimized_{gpus}": (gpus, gpus // 2 * 400 * G, SPEEDS[400]) for gpus in (16, 128, 1024)},
}


def document(name: str) -> dict[str, Any]:
    return tomllib.loads(builtin_inputs.path("topologies", name).read_text(encoding="utf-8"))


def load(name: str) -> Topology:
    fields = document(name)
    return TOPOLOGIES[fields["kind"]].model_validate(fields, context=FROM_FILE)


def test_names() -> None:
    assert set(builtin_inputs.names("topologies")) == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_they_are_what_their_names_say(name: str) -> None:
    hosts, bisection, delay = EXPECTED[name]
    network = load(name).build()
    assert len(network.hosts) == hosts
    assert network.bisection_bps() == bisection
    assert {link.delay_ps for link in network.links if link.kind != "nvlink"} == {delay}


@pytest.mark.parametrize("name", EXPECTED)
def test_the_comment_on_top_agrees_with_the_fields(name: str) -> None:
    comment = builtin_inputs.path("topologies", name).read_text(encoding="utf-8").splitlines()[0]
    network, fields = load(name).build(), document(name)
    links = [link for link in network.links if link.kind != "nvlink"]
    assert int(re.findall(r"([\d,]+) (?:hosts|GPUs)", comment)[0].replace(",", "")) == len(network.hosts)
    assert {int(rate) * G for rate in re.findall(r"(\d+) ?Gb/s", comment)} == {link.rate_bps for link in links}
    for delay in re.findall(r"(\d+ ?[un]s) per link", comment):
        assert {link.delay_ps for link in links} == {parse_time(delay)}
    for number, key in re.findall(r"(\d+) (servers|leaves|spines)\b", comment):
        assert int(number) == fields[key]
    for ratio in re.findall(r"(\d+) to 1", comment):
        assert int(ratio) == fields.get("oversubscription", fields.get("hosts_per_leaf", 0) // fields.get("spines", 1))


def test_the_readme_says_the_delays_of_the_files_it_runs() -> None:
    """The comparison on top of the README, and how long the links of its two fabrics are said to be."""
    text = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    told, command = re.search(r"links of (\d+ ns) on\s+both.*?netsim compare ([^\n]+)", text, re.DOTALL).groups()  # type: ignore[union-attr]
    named = re.findall(r"--on (\w+)", command)
    assert len(named) == 2
    assert {parse_time(told)} == {EXPECTED[name][2] for name in named}


@pytest.mark.parametrize("name", EXPECTED)
def test_nothing_is_hidden_in_the_code(name: str) -> None:
    """Every field that says something is written in the file; what is left out is empty, or said per kind of link."""
    topology = load(name)
    unsaid = set(type(topology).model_fields) - set(document(name))
    per_link = {"nic", "spine", "tor", "agg", "core", "leaf"}
    assert unsaid - {"name", "shared_buffer", "queue"} <= per_link
