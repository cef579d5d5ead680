"""NetworkBuilder and Ecn: the pieces, and the mistakes they refuse."""

from typing import Any

import pytest
from pydantic import ValidationError

from netsim.topology import NO_ECN, Ecn, FatTree, NetworkBuilder
from netsim.units import UNLIMITED


def pair() -> tuple[NetworkBuilder, int, int]:
    build = NetworkBuilder("pair")
    return build, build.host("a"), build.switch("tor0", "tor")


def test_buffer_and_marks_belong_to_the_switch_end() -> None:
    build, host, tor = pair()
    up = build.connect(host, tor, 10**11, 10**6, "tor", 50_000, Ecn(kmin=1_000, kmax=2_000, pmax=0.5))
    links = build.build().links
    assert (links[up].buffer_bytes, links[up].ecn_kmin_bytes) == (UNLIMITED, UNLIMITED)
    down = links[up ^ 1]
    assert (down.buffer_bytes, down.ecn_kmin_bytes, down.ecn_kmax_bytes, down.ecn_pmax) == (50_000, 1_000, 2_000, 0.5)


def test_two_cables_may_lie_side_by_side() -> None:
    build, host, tor = pair()
    assert [build.connect(host, tor, 10**11, 0, "tor") for _ in range(2)] == [0, 2]
    assert build.build().graph.number_of_edges("a", "tor0") == 2


def test_hosts_come_before_switches() -> None:
    build, _, _ = pair()
    with pytest.raises(ValueError, match="add all hosts first"):
        build.host("late")


def test_names_are_used_once() -> None:
    build, _, _ = pair()
    with pytest.raises(ValueError, match="two nodes are called 'a'"):
        build.switch("a", "tor")


@pytest.mark.parametrize(
    ("ends", "rate", "delay", "said"),
    [
        ((0, 0), 1, 0, "two different nodes"),
        ((0, 9), 1, 0, "0..1"),
        ((0, 1), 0, 0, "above zero"),
        ((0, 1), 1, -1, "zero or more"),
    ],
)
def test_impossible_cables(ends: tuple[int, int], rate: int, delay: int, said: str) -> None:
    build, _, _ = pair()
    with pytest.raises(ValueError, match=said):
        build.connect(*ends, rate, delay, "tor")


@pytest.mark.parametrize("value", ["off", None, False])
def test_ecn_can_be_off(value: Any) -> None:
    assert FatTree(k=4, ecn=value).ecn == NO_ECN


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"kmin": "90KB", "kmax": "80KB"}, "kmin .* is above kmax"),
        ({"pmax": 0}, "pmax"),
        ({"pmax": 1.5}, "pmax"),
        ({"kmid": 3}, "kmid"),
        ("on", 'write a table .* or "off"'),
    ],
)
def test_ecn_mistakes(value: Any, said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        FatTree(k=4, ecn=value)
