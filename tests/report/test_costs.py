"""Costs: what is counted, by hand on small fabrics; prices by one number, by tier, by rate."""

from pathlib import Path

import pytest

from netsim.config import load_topology
from netsim.errors import InputError
from netsim.report.costs import Cost, Prices, cost_of, cost_rows, price_verdict, read_prices
from tests.inputs import refusal, saved


def cost(name: str, **prices: object) -> Cost:
    return cost_of(load_topology(name).build(), Prices(**prices) if prices else None, "prices.toml")


def test_a_fat_tree_is_counted() -> None:
    """k = 4: 20 switches of 4 ports, 16 cables to hosts, 32 between switches; two optics in each of those."""
    assert cost("fat_tree_k4_100g") == Cost(switches=20, ports=80, cables=48, optics=64)


def test_what_belongs_to_servers_is_left_out() -> None:
    """16 GPUs on 8 rails of 2, 2 spines: 16 + 8 * 2 cables, and neither NVLink nor its switches."""
    found = cost("rail_optimized_16")
    counts = load_topology("rail_optimized_16").build().counts()
    assert found.switches == counts["switches.rail"] + counts["switches.spine"] == 10
    assert found.cables == 16 + 8 * 2
    assert found.ports == 16 + 2 * 8 * 2
    assert found.optics == 2 * 8 * 2


def test_prices() -> None:
    assert cost("fat_tree_k4_100g", switch=1000).total == 20_000
    assert cost("fat_tree_k4_100g", port=10, cable=1, optic=0.5, currency="kEUR").total == 800 + 48 + 32
    assert cost("fat_tree_k4_100g", switch={"core": 5, "other": 2}).total == 4 * 5 + 16 * 2
    assert cost("fat_tree_k4_100g", optic={"100Gb/s": 3}).total == 64 * 3
    assert cost("fat_tree_k4_100g", optic=3, optical=["core", "tor"]).optics == 2 * (16 + 16)


def test_a_price_that_is_missing_is_named() -> None:
    with pytest.raises(InputError, match=r"^prices.toml: optic has no price that fits .* at 100Gb/s; add one of "):
        cost("fat_tree_k4_100g", optic={"400Gb/s": 3})


def test_a_file_of_prices(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    found = read_prices(saved(path, 'currency = "EUR"\nswitch = { spine = 2.5, other = 1 }\noptical = ["spine"]\n'))
    assert (found.currency, found.switch, found.optical) == ("EUR", {"spine": 2.5, "other": 1}, ("spine",))
    said = refusal(read_prices, saved(path, "switch = 1\noptics = 3\n"))
    assert "prices.toml, line 2: unknown key 'optics'; did you mean 'optic'?" in said
    assert "line 1: switch = -1 is not" in refusal(read_prices, saved(path, "switch = -1\n"))


def test_rows_show_a_price_only_where_there_is_one() -> None:
    assert cost_rows([Cost(1, 2, 3, 4)])[-1] == ["optics", "4"]
    assert cost_rows([Cost(1, 2, 3, 4, 1234.4, "EUR")])[-1] == ["price, EUR", "1,234"]


@pytest.mark.parametrize(
    ("times", "prices", "fastest", "says"),
    [
        ([10, 20], [100, 100], [0], "All cost the same, 100 EUR."),
        ([10, 20], [100, 200], [0], "a is the cheapest too (100 EUR)."),
        ([10, 10], [200, 100], [0, 1], "a is dearer than b (200 EUR against 100 EUR), and no faster."),
        ([10, 20], [200, 100], [0], "a is faster and dearer than b (200 EUR against 100 EUR)."),
        ([10, 30], [200, 100], [0], "than b (200 EUR against 100 EUR). For its price a does most, 1.50 x what b does."),
        ([10, 30, 11], [200, 100, 110], [0], "against 100 EUR). For its price c does most, 1.65 x what a does."),
        ([10, 20], [5, 0], [0], "(5.00 EUR against 0.00 EUR)."),
        ([10, 20], [None, None], [0], ""),
        ([10], [5], [0], ""),
    ],
)
def test_the_verdict_on_prices(times: list[float], prices: list[float], fastest: list[int], says: str) -> None:
    """Work per price is 1 / (time * price): 1 / 2000 against 1 / 3000; or against 1 / 1210, 1.65 times as much."""
    costs = [Cost(0, 0, 0, 0, price, "EUR") for price in prices]
    assert price_verdict("abc"[: len(times)], times, costs, fastest).endswith(says)
