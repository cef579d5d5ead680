"""Cost proxies of a design: switches, ports, cables and optics counted, and priced where a user gives prices."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from netsim.config import read_document, validated
from netsim.errors import InputError
from netsim.report.text import NOTHING
from netsim.topology import Link, Network
from netsim.topology.network import SCALE_UP
from netsim.units import rate_text

OPTICS_PER_CABLE = 2  # a transceiver at either end
SAME = 0.01  # of a time, or of a price times a time: closer than this is no difference
CENTS_BELOW = 100  # smaller prices are shown with two digits
_PRICED = ("switch", "port", "cable", "optic")
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Price = Amount | dict[str, Amount]  # one for all, or by tier ("spine") or rate ("400Gb/s"); "other" for the rest


class Prices(BaseModel):
    """What one of each costs, in the user's own numbers and `currency`; what is not named costs nothing.

    `optical` names the kinds of links that run over optics; by default all cables between two switches.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    currency: str = ""
    switch: Price = 0.0
    port: Price = 0.0
    cable: Price = 0.0
    optic: Price = 0.0
    optical: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """What a design is made of, what belongs to servers (NVLink and its switches) left out; `total` None: no prices."""

    switches: int
    ports: int
    cables: int
    optics: int
    total: float | None = None
    currency: str = ""


Names = tuple[str, ...]  # what a price may be given for: a tier, or a kind of link and its rate
Bill = list[tuple[str, Names, int]]  # what ("switch", "port", "cable", "optic"), of which names, how many


def cost_of(network: Network, prices: Prices | None = None, where: str = "") -> Cost:
    """Count a network's switches, switch ports in use, cables and optics (2 per optical cable), and price them.

    `where` is the file of the prices; InputError names it where they leave something without a price.
    """
    bill = _bill(network, prices or Prices())
    switches, ports, cables, optics = (sum(each[2] for each in bill if each[0] == what) for what in _PRICED)
    counted = Cost(switches, ports, cables, optics)
    if prices is None:
        return counted
    total = sum(number * _price(getattr(prices, what), what, names, where) for what, names, number in bill)
    return replace(counted, total=total, currency=prices.currency)


def _bill(network: Network, prices: Prices) -> Bill:
    tiers = Counter(switch.tier for switch in network.switches if switch.tier != "nvswitch")
    outside = [link for link in network.links[::2] if link.kind != SCALE_UP]
    cables = Counter((link.kind, rate_text(link.rate_bps), _switch_ends(network, link)) for link in outside)
    bill: Bill = [("switch", (tier,), number) for tier, number in tiers.items()]
    for (kind, rate, ends), number in cables.items():
        is_optical = ends == 2 if prices.optical is None else kind in prices.optical
        optics = number * OPTICS_PER_CABLE if is_optical else 0
        bill += [
            ("port", (kind, rate), number * ends),
            ("cable", (kind, rate), number),
            ("optic", (kind, rate), optics),
        ]
    return [each for each in bill if each[2]]


def _switch_ends(network: Network, link: Link) -> int:
    hosts = len(network.hosts)
    return int(link.source >= hosts) + int(link.target >= hosts)


def read_prices(path: Path) -> Prices:
    """Read a file of prices. Raises InputError."""
    return validated(Prices, read_document(path))


def _price(price: float | dict[str, float], what: str, names: Names, where: str) -> float:
    if not isinstance(price, dict):
        return price
    found = [price[name] for name in (*names, "other") if name in price]
    if not found:
        hint = f"add one of {', '.join(names)}, other"
        raise InputError(f"{what} has no price that fits {' at '.join(names)}", where=where, hint=hint)
    return found[0]


def cost_rows(costs: Sequence[Cost]) -> list[list[str]]:
    """Rows for a table with a column per design; the price last, where there is one."""
    names = {"switches": "switches", "ports": "switch ports in use", "cables": "cables", "optics": "optics"}
    rows = [[text, *(f"{getattr(cost, name):,}" for cost in costs)] for name, text in names.items()]
    if any(cost.total is not None for cost in costs):
        money = costs[0].currency
        totals = [NOTHING if cost.total is None else f"{cost.total:,.0f}" for cost in costs]
        rows.append([f"price{f', {money}' if money else ''}", *totals])
    return rows


def price_verdict(
    names: Sequence[str], times_ps: Sequence[float], costs: Sequence[Cost], fastest: Sequence[int]
) -> str:
    """Which design is cheapest, what the fastest costs against it, which does most for its price; "" without prices.

    fastest: the fastest design, and after it those whose time differs from its by nothing that counts.
    """
    totals = [cost.total for cost in costs if cost.total is not None]
    if len(totals) < len(names) or len(names) < 2:
        return ""
    best, cheapest = fastest[0], min(range(len(names)), key=lambda each: (totals[each], each not in fastest, each))
    if len(set(totals)) == 1:
        return f"All cost the same, {_money(costs[best])}."
    if best == cheapest:
        return f"{names[best]} is the cheapest too ({_money(costs[best])})."
    both = f"({_money(costs[best])} against {_money(costs[cheapest])})"
    if cheapest in fastest:
        return f"{names[best]} is dearer than {names[cheapest]} {both}, and no faster."
    says = f"{names[best]} is faster and dearer than {names[cheapest]} {both}"
    spent = [time * total for time, total in zip(times_ps, totals, strict=True)]
    most = min(range(len(names)), key=lambda each: spent[each])
    other = best if most != best else cheapest
    if not spent[most] or spent[other] / spent[most] < 1 + SAME:
        return f"{says}."
    return (
        f"{says}. For its price {names[most]} does most, {spent[other] / spent[most]:.2f} x what {names[other]} does."
    )


def _money(cost: Cost) -> str:
    total = cost.total or 0.0
    return f"{total:,.{2 if total < CENTS_BELOW else 0}f} {cost.currency}".rstrip()
