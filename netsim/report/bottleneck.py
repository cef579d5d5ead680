"""What limited a run, told in one sentence with the numbers it rests on."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netsim.report.load import Load
from netsim.report.text import counted, microseconds, percent, times
from netsim.result import Result
from netsim.topology import Network
from netsim.units import format_rate, format_size

# Where one answer ends and the next begins. They sort clear cases; near a border both answers are partly true.
LINK_BOUND = 0.6  # of the time: a link needed for longer sets the pace
NEARLY = 0.98  # of the most needed link: as good as equal
MORE_THAN_HOSTS = 1.05  # a tier needed longer than any host's link cannot carry what the hosts send
FAN_IN = 3  # senders to one host at once: two may be chance
LOPSIDED = 1.5  # an incast's receiver has so much more to take than any sender has to give
AS_IF_IDLE = 1.25  # times the ideal: no congestion worth the name


@dataclass(frozen=True)
class Bottleneck:
    """The cause in a few words, and the numbers that show it."""

    cause: str
    how: str

    @property
    def text(self) -> str:
        """Both as a sentence."""
        return f"Limited by {self.cause}: {self.how}"


def bottleneck_of(result: Result) -> Bottleneck:
    """Find what limited a run: latency, a host's link, a shared link, an incast, oversubscription or losses."""
    load = Load.of(result)
    if load.busy_ps == 0 or not load.needed_ps.any():
        return Bottleneck("nothing", "nothing was sent.")
    worst = int(np.argmax(load.needed_ps))
    share = float(load.needed_ps[worst]) / load.busy_ps
    bottleneck = _by_a_link(load, worst) if share >= LINK_BOUND else _by_no_link(load, worst)
    return Bottleneck(bottleneck.cause, f"{bottleneck.how}{_losses(result)}")


def slowdown_of(result: Result) -> float:
    """Time over ideal time, all collectives together; NaN where no ideal is known."""
    known = result.collectives[result.collectives["ideal_ps"] > 0]
    ideal = float(known["ideal_ps"].sum())
    return float(known["time_ps"].sum()) / ideal if ideal else math.nan


def _by_a_link(load: Load, worst: int) -> Bottleneck:
    needed = load.needed_ps
    at_host = load.leaves_host | load.enters_host
    host_most = float(needed[at_host].max())
    if host_most >= NEARLY * needed[worst]:
        at_end = np.where(at_host, needed, 0.0)
        return _incast(load, int(np.argmax(at_end))) or _host_link(load, int(np.argmax(at_end)))
    return _oversubscription(load, worst, host_most) or _collision(load, worst)


def _incast(load: Load, link: int) -> Bottleneck | None:
    """Many send to one: the receiver's link is needed much longer than any sender's."""
    most_sent = float(load.needed_ps[load.leaves_host].max())
    at_once = load.at_once(link)
    senders = load.through(link)["src"].nunique()
    if not load.enters_host[link] or at_once < FAN_IN or load.needed_ps[link] < LOPSIDED * most_sent:
        return None
    host = load.network.node_name(int(load.network.target[link]))
    return Bottleneck(
        "incast",
        f"{counted(senders, 'rank')} send to {host}, up to {at_once} at once, and its link {_needed(load, link)}.",
    )


def _host_link(load: Load, link: int) -> Bottleneck:
    return Bottleneck("host link bandwidth", f"{_named(load, link)} {_needed(load, link)}.")


def _oversubscription(load: Load, link: int, host_most: float) -> Bottleneck | None:
    """Even if it were spread evenly, the traffic would keep these links busy for longer than any host's link."""
    means = [(float(load.needed_ps[links].mean()), place) for links, place in _siblings(load.network, link)]
    even, place = max(means)
    if even <= MORE_THAN_HOSTS * host_most:
        return None
    return Bottleneck(
        "oversubscription",
        f"{place} are on average needed {percent(even / load.busy_ps)} of the time (host links at most "
        f"{percent(host_most / load.busy_ps)}); the busiest, {_named(load, link)}, {_needed(load, link)}.",
    )


def _siblings(network: Network, link: int) -> list[tuple[NDArray[np.intp], str]]:
    """The links that could share the traffic of `link`: those at the same edge switch, and those of the whole tier."""
    source, target = int(network.source[link]), int(network.target[link])
    tiers = network.tier_of(source), network.tier_of(target)
    alike = np.array([(network.tier_of(each.source), network.tier_of(each.target)) == tiers for each in network.links])
    groups = [(np.flatnonzero(alike), f"all {tiers[0]}->{tiers[1]} links")]
    edges = set(network.target[network.source < len(network.hosts)].tolist())
    if source in edges:
        of_edge = np.flatnonzero(alike & (network.source == source))
        groups.append((of_edge, f"the {counted(len(of_edge), 'link')} from {network.node_name(source)} up"))
    if target in edges:
        of_edge = np.flatnonzero(alike & (network.target == target))
        groups.append((of_edge, f"the {counted(len(of_edge), 'link')} down to {network.node_name(target)}"))
    return groups


def _collision(load: Load, link: int) -> Bottleneck:
    tier, _ = _siblings(load.network, link)[0]
    even = float(load.needed_ps[tier].mean()) / load.busy_ps
    at_once = load.at_once(link)
    shared = f", shared by up to {counted(at_once, 'flow')} at once," if at_once else ""
    why = f"{load.result.scenario.routing.kind} collision".replace("ecmp", "ECMP")
    return Bottleneck(
        why,
        f"one link is overloaded, {_named(load, link)}{shared or ','} {_needed(load, link)}; "
        f"the mean link of its tier is needed {percent(even)}.",
    )


def _by_no_link(load: Load, worst: int) -> Bottleneck:
    slowdown = slowdown_of(load.result)
    share = percent(float(load.needed_ps[worst]) / load.busy_ps)
    busiest = f"the most needed link, {_named(load, worst)}, is needed {share} of the time"
    against = "" if math.isnan(slowdown) else f"operations take {times(slowdown)} their time on an idle network, and "
    if math.isnan(slowdown) or slowdown < AS_IF_IDLE:
        return Bottleneck("idle-network latency", f"{against}{busiest}.")
    if load.result.summary["retransmitted_packets"]:
        behind = _by_a_link(load, worst)
        return Bottleneck(
            "losses and time-outs", f"{against}{busiest}. The overload behind them is {behind.cause}: {behind.how}"
        )
    return Bottleneck(
        "passing congestion",
        f"{against}{busiest}, so no single link holds up all operations.",
    )


def _needed(load: Load, link: int) -> str:
    needed = float(load.needed_ps[link])
    amount = format_size(round(needed * int(load.network.rate_bps[link]) / 8e12))
    return f"needs {microseconds(needed)} us for {amount}, {percent(needed / load.busy_ps)} of the time"


def _named(load: Load, link: int) -> str:
    return f"{load.network.link_name(link)} ({format_rate(int(load.network.rate_bps[link]))})"


def _losses(result: Result) -> str:
    again, drops = result.summary["retransmitted_packets"], result.summary["drops"]
    if not again and not drops:
        return ""
    sent = max(1, int(result.flows["packets"].sum()))
    return f" {counted(drops, 'packet')} dropped, {again:,} sent again ({percent(again / sent)})."
