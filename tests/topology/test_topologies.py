"""What holds for every topology; a new line in TOPOLOGIES must have a row in examples.py."""

from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytest
from pydantic import ValidationError

import netsim
from netsim import topology
from netsim.config.builtin_inputs import names
from netsim.topology import TOPOLOGIES, Host, Network, Switch, Topology
from netsim.topology.builder import NetworkBuilder
from netsim.units import UNLIMITED
from tests.topology.examples import EXAMPLES, G

DEFAULTS = ("rate", "delay", "buffer", "ecn", "control_class", "pfc", "trim", "shared_buffer", "loss")


@pytest.fixture(params=EXAMPLES, scope="module")
def network(request: pytest.FixtureRequest) -> Network:
    return EXAMPLES[request.param][0].build()


def test_every_kind_is_registered() -> None:
    modules = [import_module(f"netsim.topology.{file.stem}") for file in Path(topology.__file__).parent.glob("*.py")]
    kinds = {each for module in modules for each in vars(module).values() if isinstance(each, type)}
    assert {kind for kind in kinds if issubclass(kind, Topology)} - {Topology} == set(TOPOLOGIES.values())


def test_every_kind_has_an_example() -> None:
    assert {name.split()[0] for name in EXAMPLES} == set(TOPOLOGIES)
    assert all(topology.kind == name.split()[0] for name, (topology, _, _) in EXAMPLES.items())


@pytest.mark.parametrize("name", EXAMPLES)
def test_counts_and_bisection(name: str) -> None:
    topology, counts, bisection = EXAMPLES[name]
    network = topology.build()
    assert network.counts() | counts == network.counts()
    assert network.bisection_bps() == bisection


@pytest.mark.parametrize("cables", [1, 2, 3])
def test_parallel_cables_add_up_in_the_bisection(cables: int) -> None:
    builder = NetworkBuilder("pair of switches")
    hosts = [builder.host(f"host{number}") for number in range(4)]
    left, right = builder.switch("left", "tor"), builder.switch("right", "tor")
    for host, switch in zip(hosts, (left, left, right, right), strict=True):
        builder.connect(host, switch, rate_bps=400 * G, delay_ps=1, kind="tor")
    for _ in range(cables):
        builder.connect(left, right, rate_bps=100 * G, delay_ps=1, kind="spine")
    assert builder.build().bisection_bps() == cables * 100 * G


def test_links_come_in_opposite_pairs(network: Network) -> None:
    for number, link in enumerate(network.links):
        back = network.links[number ^ 1]
        assert link.number == number
        assert (link.source, link.target, link.kind) == (back.target, back.source, back.kind)
        assert (link.rate_bps, link.delay_ps) == (back.rate_bps, back.delay_ps)


def test_nodes_are_numbered_hosts_first_and_named_once(network: Network) -> None:
    nodes: list[Host | Switch] = [*network.hosts, *network.switches]
    assert [node.number for node in nodes] == list(range(len(nodes)))
    assert len({node.name for node in nodes}) == len(nodes)
    assert network.node_name(len(nodes) - 1) == nodes[-1].name
    assert network.tier_of(0) == "host"
    assert network.tier_of(len(network.hosts)) == network.switches[0].tier


def test_hosts_drop_and_mark_nothing_and_switches_have_the_stated_queues(network: Network) -> None:
    for link in network.links:
        if link.source < len(network.hosts) or link.kind == "nvlink":
            assert (link.buffer_bytes, link.ecn_kmin_bytes, link.ecn_kmax_bytes) == (UNLIMITED, UNLIMITED, UNLIMITED)
        else:
            assert (link.buffer_bytes, link.ecn_kmin_bytes, link.ecn_kmax_bytes) == (416_000, 83_200, 332_800)


def test_columns_say_what_the_links_say(network: Network) -> None:
    rows = zip(network.source, network.target, network.rate_bps, network.delay_ps, network.kinds, strict=True)
    links = [(link.source, link.target, link.rate_bps, link.delay_ps, link.kind) for link in network.links]
    assert [tuple(row) for row in rows] == links
    queues = zip(network.buffer_bytes, network.kmin, network.kmax, network.pmax, strict=True)
    stated = [(i.buffer_bytes, i.ecn_kmin_bytes, i.ecn_kmax_bytes, i.ecn_pmax) for i in network.links]
    assert [tuple(row) for row in queues] == stated
    dtypes = [str(each.dtype) for each in (network.source, network.rate_bps, network.pmax)]
    assert dtypes == ["int32", "int64", "float64"]
    with pytest.raises(ValueError, match="read-only"):
        network.source[0] = 1


def test_graph_edges_are_keyed_by_link_number(network: Network) -> None:
    edges = {key: (source, target) for source, target, key in network.graph.edges(keys=True)}
    assert {key: "->".join(ends) for key, ends in edges.items()} == {
        link.number: network.link_name(link.number) for link in network.links
    }


def test_servers_are_contiguous_and_rails_count_from_zero(network: Network) -> None:
    for before, host in pairwise(network.hosts):
        assert (host.server, host.rail) in {(before.server, before.rail + 1), (before.server + 1, 0)}
    assert network.has_servers == ("nvlink" in network.kinds)


@pytest.mark.parametrize("name", EXAMPLES)
def test_blueprints_are_frozen_hashable_and_refuse_unknown_keys(name: str) -> None:
    topology = EXAMPLES[name][0]
    with pytest.raises(ValidationError, match="frozen"):
        topology.rate = 1  # type: ignore[misc]
    again = type(topology).model_validate(topology.model_dump(mode="json", exclude_none=True))
    assert again == topology
    assert hash(again) == hash(topology)
    with pytest.raises(ValidationError, match="colour"):
        type(topology).model_validate(topology.model_dump() | {"colour": "red"})


def test_what_is_not_stated_is_the_same_for_every_kind() -> None:
    for name in DEFAULTS:
        assert len({str(kind.model_fields[name].default) for kind in TOPOLOGIES.values()}) == 1


def test_shipped_fabrics_of_one_rate_have_the_same_delay_buffer_and_marks() -> None:
    """Of the network between servers; whatever the kind."""
    of_rate: dict[int, set[tuple[int, ...]]] = {}
    for name in names("topologies"):
        for link in netsim.load_topology(name).build().links:
            if link.kind != "nvlink" and link.buffer_bytes < UNLIMITED:
                stated = (link.delay_ps, link.buffer_bytes, link.ecn_kmin_bytes, link.ecn_kmax_bytes)
                of_rate.setdefault(link.rate_bps, set()).add(stated)
    assert of_rate == {100 * G: {(10**6, 416_000, 83_200, 332_800)}, 400 * G: {(5 * 10**5, 832_000, 166_400, 665_600)}}
