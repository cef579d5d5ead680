"""PXN: NVLink to the GPU on the target's rail, then the rail switch; never the spine."""

import pytest

from netsim.routing import Ecmp, Single
from netsim.topology import Network, NetworkBuilder, RailOptimized

RAILS = RailOptimized(servers=3, gpus_per_server=4).build()


def way(network: Network, source: int, target: int, pxn: bool = True) -> list[str]:
    """The names of the nodes on a route."""
    route = Ecmp(pxn=pxn).routes(network, [source], [target], [0], 1).of(0)
    return [network.node_name(network.links[route[0]].source)] + [
        network.node_name(network.links[link].target) for link in route
    ]


@pytest.mark.parametrize(
    ("source", "target", "nodes"),
    [
        (0, 3, ["gpu0", "nvswitch0", "gpu3"]),  # the same server
        (1, 5, ["gpu1", "rail1", "gpu5"]),  # the same rail
        (0, 7, ["gpu0", "nvswitch0", "gpu3", "rail3", "gpu7"]),  # receive locally, send remotely
        (11, 4, ["gpu11", "nvswitch2", "gpu8", "rail0", "gpu4"]),
    ],
)
def test_ways(source: int, target: int, nodes: list[str]) -> None:
    assert way(RAILS, source, target) == nodes


def test_without_pxn_other_rails_are_reached_over_a_spine() -> None:
    first, rail, spine, other, last = way(RAILS, 0, 7, pxn=False)
    assert (first, rail, other, last) == ("gpu0", "rail0", "rail3", "gpu7")
    assert spine.startswith("spine")


def test_all_to_all_leaves_the_spine_empty() -> None:
    pairs = [(s, t) for s in range(12) for t in range(12) if s != t]
    source, target = zip(*pairs, strict=True)
    routes = Single().routes(RAILS, source, target, [0] * len(pairs), 1)
    assert {RAILS.kinds[link] for link in routes.links} == {"nvlink", "rail"}
    direct = Single(pxn=False).routes(RAILS, source, target, [0] * len(pairs), 1)
    assert "spine" in {RAILS.kinds[link] for link in direct.links}


def servers_on_one_tor(nvlink: bool) -> Network:
    """Two servers of two GPUs, all on one ToR."""
    builder = NetworkBuilder("one tor")
    gpus = [builder.host(f"gpu{i}", i // 2, i % 2) for i in range(4)]
    insides = [builder.switch(f"nvswitch{s}", "nvswitch") for s in range(2)]
    tor = builder.switch("tor0", "tor")
    for number, gpu in enumerate(gpus):
        builder.connect(gpu, tor, 10**11, 0, "tor")
        if nvlink:
            builder.connect(gpu, insides[number // 2], 10**12, 0, "nvlink")
    return builder.build()


def test_pxn_is_not_used_where_it_spares_nothing() -> None:
    assert way(servers_on_one_tor(nvlink=True), 0, 3) == ["gpu0", "tor0", "gpu3"]


def test_nvlink_is_preferred_inside_a_server_even_when_the_network_is_as_short() -> None:
    assert way(servers_on_one_tor(nvlink=True), 0, 1) == ["gpu0", "nvswitch0", "gpu1"]


def test_servers_without_nvlink_use_the_network() -> None:
    assert way(servers_on_one_tor(nvlink=False), 0, 1) == ["gpu0", "tor0", "gpu1"]
