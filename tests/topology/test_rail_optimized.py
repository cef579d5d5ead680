"""RailOptimized: two ports per GPU, one rail switch per place, spines by oversubscription."""

import pytest
from pydantic import ValidationError

from netsim.topology import RailOptimized


def test_each_gpu_has_nvlink_and_a_rail() -> None:
    network = RailOptimized(servers=3, gpus_per_server=4).build()
    for gpu in network.hosts:
        assert (gpu.server, gpu.rail) == divmod(gpu.number, 4)
        out = {i.kind: network.node_name(i.target) for i in network.links if i.source == gpu.number}
        assert out == {"nvlink": f"nvswitch{gpu.server}", "rail": f"rail{gpu.rail}"}


def test_nvlink_is_that_of_an_h100_server_and_the_network_what_all_kinds_have() -> None:
    of = {link.kind: (link.rate_bps, link.delay_ps) for link in RailOptimized(servers=2).build().links}
    assert of == {"nvlink": (3_600 * 10**9, 300_000), "rail": (100 * 10**9, 10**6), "spine": (100 * 10**9, 10**6)}


def test_part_of_nvlink_can_change() -> None:
    of = {link.kind: link for link in RailOptimized(servers=2, nvlink={"rate": "7.2Tb/s"}).build().links}
    assert (of["nvlink"].rate_bps, of["nvlink"].delay_ps) == (7_200 * 10**9, 300_000)


@pytest.mark.parametrize(
    ("oversubscription", "spine", "spines"), [(1, "100Gb/s", 8), (4, "100Gb/s", 2), (1, "200Gb/s", 4)]
)
def test_spines_carry_what_the_oversubscription_asks(oversubscription: int, spine: str, spines: int) -> None:
    topology = RailOptimized(servers=8, oversubscription=oversubscription, spine={"rate": spine})
    counts = topology.build().counts()
    assert (counts["switches.spine"], counts["links.spine"]) == (spines, 2 * 8 * spines)


def test_a_fraction_of_a_spine_is_refused() -> None:
    with pytest.raises(ValidationError, match=r"no whole number of spine cables.*divides evenly"):
        RailOptimized(servers=2, oversubscription=4)
