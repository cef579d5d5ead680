"""What probably limited a run, told from what its links carried: where it is too large to be explained by packets."""

import math

import numpy as np
from numpy.typing import NDArray

from netsim.report.load import Load
from netsim.report.text import counted, microseconds, percent, times
from netsim.result import Result
from netsim.result.reason import Reason, ReasonKind, reason
from netsim.topology import Network
from netsim.transport.registry import REGISTRY
from netsim.units import format_rate, format_size

# Where one answer ends and the next begins. They sort clear cases; near a border both answers are partly true.
LINK_BOUND = 0.6  # of the time: a link needed for longer sets the pace
NEARLY = 0.98  # of the most needed link: as good as equal
MORE_THAN_HOSTS = 1.05  # a tier needed longer than any host's link cannot carry what the hosts send
FAN_IN = 2  # senders to one host at once
LOPSIDED = 1.5  # an incast's receiver has so much more to take than any sender has to give
OFTEN_LOST = 0.05  # of all packets: sending them again takes longer than their share
AS_IF_IDLE = 1.25  # times the ideal: no congestion worth the name


def estimate_of(result: Result) -> Reason:
    """Estimate what limited a run from the load of its links and what they marked, paused and lost."""
    load = Load(result)
    if load.busy_ps == 0 or not load.needed_ps.any():
        return reason(ReasonKind.NOTHING, "nothing was sent.", estimated=True)
    worst = int(np.argmax(load.needed_ps))
    share = float(load.needed_ps[worst]) / load.busy_ps
    return _losses_at(load) or (_by_a_link(load, worst) if share >= LINK_BOUND else _by_no_link(load, worst))


def slowdown_of(result: Result) -> float:
    """Time over ideal time, all collectives together; NaN where no ideal is known."""
    known = result.collectives[result.collectives["ideal_ps"] > 0]
    ideal = float(known["ideal_ps"].sum())
    return float(known["time_ps"].sum()) / ideal if ideal else math.nan


def _at(load: Load, kind: str, link: int | None, how: str) -> Reason:
    """A reason that says what it rests on, and what was lost."""
    share = 0.0 if link is None else float(load.needed_ps[link]) / load.busy_ps
    name = None if link is None else load.network.link_name(link)
    says = f"{how}{_losses(load.result)} (Estimated from what links carried; netsim explain follows the packets.)"
    return reason(kind, says, name, share=share, estimated=True)


def _by_a_link(load: Load, worst: int) -> Reason:
    needed = load.needed_ps
    at_host = load.leaves_host | load.enters_host
    host_most = float(needed[at_host].max())
    if host_most >= NEARLY * needed[worst]:
        worst = int(np.argmax(np.where(at_host, needed, 0.0)))
        return _incast(load, worst) or _at(load, ReasonKind.HOST_LINK, worst, f"it {_needed(load, worst)}.")
    return _slower_link(load, worst) or _oversubscription(load, worst, host_most) or _collision(load, worst)


def _incast(load: Load, link: int) -> Reason | None:
    """Many send to one: the receiver's link is needed much longer than any sender's."""
    most_sent = float(load.needed_ps[load.leaves_host].max())
    at_once = load.at_once(link)
    senders = load.through(link)["src"].nunique()
    if not load.enters_host[link] or at_once < FAN_IN or load.needed_ps[link] < LOPSIDED * most_sent:
        return None
    host = load.network.node_name(int(load.network.target[link]))
    how = f"{counted(senders, 'rank')} send to {host}, up to {at_once} at once, and its link {_needed(load, link)}."
    return _at(load, ReasonKind.INCAST, link, how)


def _slower_link(load: Load, link: int) -> Reason | None:
    """One host alone sends over it, and could send faster."""
    flows, network = load.through(link), load.network
    if flows["source"].nunique() != 1:
        return None
    leaves = network.rate_bps[network.source == int(flows["source"].iloc[0])]
    slower = int(network.rate_bps[link]) < int(leaves.max(initial=0))
    return _at(load, ReasonKind.SLOWER_LINK, link, f"it {_needed(load, link)}.") if slower else None


def _oversubscription(load: Load, link: int, host_most: float) -> Reason | None:
    """Even if it were spread evenly, the traffic would keep these links busy for longer than any host's link."""
    means = [(float(load.needed_ps[links].mean()), place) for links, place in _siblings(load.network, link)]
    even, place = max(means)
    if even <= MORE_THAN_HOSTS * host_most:
        return None
    how = (
        f"{place} are on average needed {percent(even / load.busy_ps)} of the time (host links at most "
        f"{percent(host_most / load.busy_ps)}); this one, the busiest, {_needed(load, link)}."
    )
    return _at(load, ReasonKind.OVERSUBSCRIPTION, link, how)


def _siblings(network: Network, link: int) -> list[tuple[NDArray[np.intp], str]]:
    """The links that could share the traffic of `link`: those at the same edge switch, and those of the whole tier."""
    source, target = int(network.source[link]), int(network.target[link])
    tiers = network.tier_of(source), network.tier_of(target)
    equal = np.array([(network.tier_of(each.source), network.tier_of(each.target)) == tiers for each in network.links])
    groups = [(np.flatnonzero(equal), f"all {tiers[0]}->{tiers[1]} links")]
    edges = set(network.target[network.source < len(network.hosts)].tolist())
    for node, ends, place in ((source, network.source, "from {} up"), (target, network.target, "down to {}")):
        if node in edges:
            of_edge = np.flatnonzero(equal & (ends == node))
            groups.append((of_edge, f"the {counted(len(of_edge), 'link')} {place.format(network.node_name(node))}"))
    return groups


def _collision(load: Load, link: int) -> Reason:
    tier, _ = _siblings(load.network, link)[0]
    even = float(load.needed_ps[tier].mean()) / load.busy_ps
    at_once = load.at_once(link)
    shared = f"shared by up to {counted(at_once, 'flow')} at once, " if at_once else ""
    how = f"{shared}it {_needed(load, link)}; the mean link of its tier is needed {percent(even)}."
    collision = ReasonKind.collision_under(load.result.scenario.routing.kind)
    return _at(load, ReasonKind.PASSING_CONGESTION if at_once == 1 else collision, link, how)


def _losses_at(load: Load) -> Reason | None:
    """The link that lost most, where much had to be retransmitted."""
    links, flows = load.result.links, load.result.flows
    lost = (links["drops"] + links["lost"] + links["trims"]).to_numpy()
    again = load.result.summary["retransmitted_packets"] / max(1, int(flows["packets"].sum()))
    if again < OFTEN_LOST or not lost.any():
        return None
    worst = int(np.argmax(lost))
    return _at(load, ReasonKind.LOSS_RECOVERY, worst, f"it lost most packets, and {_needed(load, worst)}.")


def _by_no_link(load: Load, worst: int) -> Reason:
    """No link was busy for most of the time: latency, a link that marked or paused, or a sender's own limit."""
    links, slowdown = load.result.links, slowdown_of(load.result)
    against = "" if math.isnan(slowdown) else f"operations take {times(slowdown)} their time on an idle network, and "
    busiest = f"{against}the most needed link, {_named(load, worst)}, {_needed(load, worst)}."
    if math.isnan(slowdown) or slowdown < AS_IF_IDLE:
        return _at(load, ReasonKind.LATENCY, None, busiest)
    slowed = (links["ecn_marks"] + links["pauses_sent"] + links["trims"]).to_numpy() > 0
    if slowed.any():
        return _by_a_link(load, int(np.argmax(np.where(slowed, load.needed_ps, -1.0))))
    control = REGISTRY[load.result.scenario.transport.control]
    limit = ReasonKind.RATE_LIMIT if control.limits_by_rate else ReasonKind.WINDOW_LIMIT
    return _at(load, limit, None, busiest)


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
    return f" {counted(drops, 'packet')} dropped, {again:,} retransmitted ({percent(again / sent)})."
