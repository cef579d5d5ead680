"""LeafSpine: the layout of htsim's leaf_spine_tiny.topo (32 hosts, 8 per leaf, 2 cables up: 4 to 1)."""

from fractions import Fraction

import pytest
from pydantic import ValidationError

from netsim.topology import LeafSpine


def test_tiny() -> None:
    tiny = LeafSpine(leaves=4, spines=2, hosts_per_leaf=8)
    network = tiny.build()
    names = [network.link_name(link) for link in range(0, len(network.links), 2)]
    assert names == [f"host{h}->leaf{h // 8}" for h in range(32)] + [
        f"leaf{i}->spine{j}" for i in range(4) for j in (0, 1)
    ]
    assert tiny.oversubscription == 4


def test_oversubscription_follows_from_the_rates() -> None:
    assert LeafSpine(leaves=2, spines=3, hosts_per_leaf=8).oversubscription == Fraction(8, 3)
    assert LeafSpine(leaves=2, spines=2, hosts_per_leaf=8, spine={"rate": "400Gb/s"}).oversubscription == 1


@pytest.mark.parametrize("field", ["leaves", "spines", "hosts_per_leaf"])
def test_nothing_can_be_zero(field: str) -> None:
    with pytest.raises(ValidationError, match=field):
        LeafSpine(**{"leaves": 1, "spines": 1, "hosts_per_leaf": 1, field: 0})
