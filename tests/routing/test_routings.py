"""What holds for every routing on every kind of network: routes chain, are shortest, and are the same each time."""

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

from netsim.routing import ROUTINGS, Routes, Routing, Single, base
from netsim.topology import FatTree, Network, NetworkBuilder
from tests.inputs import refusal
from tests.topology.examples import EXAMPLES

NETWORKS = {name: topology.build() for name, (topology, _, _) in EXAMPLES.items()}


@pytest.fixture(params=NETWORKS)
def network(request: pytest.FixtureRequest) -> Network:
    return NETWORKS[request.param]


@pytest.fixture(params=ROUTINGS)
def routing(request: pytest.FixtureRequest) -> Routing:
    return ROUTINGS[request.param](pxn=False)


def all_pairs(network: Network) -> list[tuple[int, int]]:
    hosts = range(len(network.hosts))
    return [(source, target) for source in hosts for target in hosts if source != target]


def routes_of(routing: Routing, network: Network, pairs: list[tuple[int, int]], seed: int = 1) -> Routes:
    source, target = zip(*pairs, strict=True)
    return routing.routes(network, source, target, np.zeros(len(pairs)), seed)


def shortest(network: Network) -> dict[tuple[int, int], int]:
    """Links between all pairs of hosts, by networkx, on a graph where hosts can start and end but not forward."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    hosts = len(network.hosts)
    for link in network.links:
        tail = f"from {link.source}" if link.source < hosts else str(link.source)
        graph.add_edge(tail, f"to {link.target}" if link.target < hosts else str(link.target))
    lengths = {source: nx.single_source_shortest_path_length(graph, f"from {source}") for source in range(hosts)}
    return {(source, target): lengths[source][f"to {target}"] for source, target in all_pairs(network)}


def test_every_pair_gets_a_shortest_route_of_chained_links(routing: Routing, network: Network) -> None:
    pairs, best = all_pairs(network), shortest(network)
    routes = routes_of(routing, network, pairs)
    assert len(routes) == len(pairs)
    for number, (source, target) in enumerate(pairs):
        links = [network.links[link] for link in routes.of(number)]
        assert (links[0].source, links[-1].target) == (source, target)
        assert all(here.target == there.source for here, there in pairwise(links))
        assert len(links) == best[source, target]


def test_columns_have_the_promised_types(routing: Routing, network: Network) -> None:
    routes = routes_of(routing, network, [(0, 1), (1, 0)])
    assert (str(routes.first.dtype), str(routes.links.dtype)) == ("int64", "int32")
    assert (routes.first[0], routes.first[-1]) == (0, len(routes.links))


def test_the_same_seed_gives_the_same_routes(routing: Routing) -> None:
    network = NETWORKS["fat_tree 2 to 1"]
    again = FatTree(k=8, oversubscription=2).build()
    one, two = (routes_of(routing, each, all_pairs(network), seed=7) for each in (network, again))
    assert (one.links == two.links).all()


def test_a_route_does_not_depend_on_who_else_is_routed(routing: Routing, monkeypatch: pytest.MonkeyPatch) -> None:
    network = NETWORKS["rail_optimized"]
    pairs = all_pairs(network)
    together = routes_of(routing, network, pairs)
    monkeypatch.setattr(base, "BLOCK", 7)
    in_blocks = routes_of(routing, network, pairs)
    assert (together.first == in_blocks.first).all()
    assert (together.links == in_blocks.links).all()
    alone = [routes_of(routing, network, [pair]).of(0) for pair in pairs[::9]]
    assert alone == [together.of(number) for number in range(0, len(pairs), 9)]


def test_no_connections_give_no_routes(routing: Routing, network: Network) -> None:
    routes = routing.routes(network, [], [], [], 1)
    assert (len(routes), len(routes.links)) == (0, 0)


def test_hosts_that_nothing_joins_are_named(routing: Routing) -> None:
    builder = NetworkBuilder("islands")
    hosts = [builder.host(name) for name in ("a", "b", "c", "d")]
    for number, pair in enumerate((hosts[:2], hosts[2:])):
        tor = builder.switch(f"tor{number}", "tor")
        for host in pair:
            builder.connect(host, tor, 10**11, 0, "tor")
    assert "islands: nothing joins b and c" in refusal(routes_of, routing, builder.build(), [(0, 1), (1, 2)])


def chain(spine: bool) -> Network:
    """Host b has a port on both ToRs; a is on the left one, c on the right one; a spine may join the ToRs."""
    builder = NetworkBuilder("chain")
    a, b, c = (builder.host(name) for name in "abc")
    left, right = builder.switch("left", "tor"), builder.switch("right", "tor")
    for host, tor in ((a, left), (b, left), (b, right), (c, right)):
        builder.connect(host, tor, 10**11, 0, "tor")
    if spine:
        top = builder.switch("top", "spine")
        builder.connect(left, top, 10**11, 0, "spine")
        builder.connect(top, right, 10**11, 0, "spine")
    return builder.build()


def test_hosts_do_not_forward(routing: Routing) -> None:
    assert "nothing joins a and c" in refusal(routes_of, routing, chain(spine=False), [(0, 2)])


def test_hosts_do_not_forward_where_a_spine_is_no_longer(routing: Routing) -> None:
    network = chain(spine=True)
    routes = routing.routes(network, [0] * 50, [2] * 50, range(50), 1)
    for number in range(50):
        names = [network.link_name(link) for link in routes.of(number)]
        assert names == ["a->left", "left->top", "top->right", "right->c"]


@pytest.mark.parametrize(
    ("pair", "said"),
    [((0, 0), "host0 cannot send to itself"), ((0, 16), "no host 16; hosts are 0..15"), ((-1, 0), "no host -1")],
)
def test_impossible_connections(routing: Routing, pair: tuple[int, int], said: str) -> None:
    assert said in refusal(routes_of, routing, NETWORKS["fat_tree"], [(1, 2), pair])


def test_routings_know_their_names_and_refuse_unknown_keys() -> None:
    for name, kind in ROUTINGS.items():
        assert kind().kind == name
        with pytest.raises(ValueError, match="colour"):
            kind.model_validate({"colour": "red"})


def test_single_takes_the_first_of_equal_links() -> None:
    network = NETWORKS["fat_tree"]
    route = Single().routes(network, [3], [15], [5], 99).of(0)
    names = ["host3->tor1", "tor1->agg0", "agg0->core0", "core0->agg6", "agg6->tor7", "tor7->host15"]
    assert [network.link_name(link) for link in route] == names
