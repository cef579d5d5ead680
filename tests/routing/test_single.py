"""Single: the lowest link number at every switch."""

from netsim.routing import Single
from netsim.topology import FatTree


def test_the_first_of_equal_links_is_taken() -> None:
    network = FatTree(k=4).build()
    route = Single().routes(network, [3], [15], [5], 99).of(0)
    assert [network.link_name(link) for link in route] == [
        "host3->tor1",
        "tor1->agg0",
        "agg0->core0",
        "core0->agg6",
        "agg6->tor7",
        "tor7->host15",
    ]
