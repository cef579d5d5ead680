"""A fabric as the report draws it: tiers of nodes, nodes in groups few enough to tell apart, and its links' figures."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netsim.result import Result
from netsim.topology.network import SCALE_UP, Network

MOST_GROUPS = 32  # of one tier, side by side: on a page 900 pixels wide each has some 25 pixels
LINK_COLUMNS = (  # column of `links` and of the page
    "bytes", "packets", "drops", "lost", "trims", "ecn_marks", "pauses_sent", "paused_ps", "max_queue_bytes",
)  # fmt: skip

Numbers = NDArray[np.int64]


def fabric_of(result: Result, network: Network) -> dict[str, Any]:
    """Nodes, tiers from the bottom up, and links as columns, each in the order of its number."""
    levels = levels_of(network)
    names = [network.node_name(node) for node in range(len(network.hosts) + len(network.switches))]
    tier_names = ["host", *dict.fromkeys(each.tier for each in network.switches)]
    rows = np.array([tier_names.index(network.tier_of(node)) for node in range(len(names))])
    height = {tier: levels[rows == tier].mean() for tier in range(len(tier_names))}
    tiers, group_of = [], np.zeros(len(names), np.int64)
    for tier in sorted(height, key=lambda each: (height[each], each)):
        nodes = np.flatnonzero(rows == tier)
        units = _units(network) if tier_names[tier] == "host" else np.arange(len(nodes))
        groups = group(units)
        group_of[nodes] = groups
        members = [[names[node] for node in nodes[groups == each]] for each in range(int(groups.max(initial=-1)) + 1)]
        tiers.append({"name": tier_names[tier], "nodes": nodes.tolist(), "labels": _labels(members)})
    return {"names": names, "tiers": tiers, "group": group_of.tolist(), "links": _links(result, network)}


def levels_of(network: Network) -> Numbers:
    """How many links each node is away from the nearest host; a switch inside a server lies below the hosts: -1."""
    hosts, nodes = len(network.hosts), len(network.hosts) + len(network.switches)
    level = np.where(np.arange(nodes) < hosts, 0, nodes)
    inside = np.array([kind == SCALE_UP for kind in network.kinds], bool)
    outside = ~inside & (network.source != network.target)
    for _ in range(nodes):
        reached = level.copy()
        np.minimum.at(reached, network.target[outside], level[network.source[outside]] + 1)
        if (reached == level).all():
            break
        level = reached
    below = np.setdiff1d(network.target[inside], network.target[outside])
    level[below[below >= hosts]] = -1
    return level


def group(units: Numbers) -> Numbers:
    """The group of each node, counted from 0: neighbours together, whole units, at most MOST_GROUPS groups."""
    numbers = np.unique(units, return_inverse=True)[1].reshape(-1)
    count = int(numbers.max(initial=-1)) + 1
    return numbers // max(1, -(-count // MOST_GROUPS))


def _units(network: Network) -> Numbers:
    """What holds hosts together: their server; where each is a server of its own, the switch it hangs from.

    Few hosts stand alone.
    """
    if len(network.hosts) <= MOST_GROUPS:
        return np.arange(len(network.hosts))
    if network.has_servers:
        return network.server_of.astype(np.int64)
    unit = np.zeros(len(network.hosts), np.int64)
    from_host = network.source < len(network.hosts)
    unit[network.source[from_host][::-1]] = network.target[from_host][::-1]  # of several the first
    return unit


def _labels(members: Sequence[Sequence[str]]) -> list[str]:
    """A short label for each group: "5" or "0-7" where names are a word and a number, else the names themselves."""
    parted = [[re.fullmatch(r"(.*?)(\d+)", name) for name in names] for names in members]
    words = {found[1] if found else None for names in parted for found in names}
    if None in words or len(words) != 1:
        return [names[0] if len(names) == 1 else f"{names[0]} +{len(names) - 1}" for names in members]
    numbers = [[found[2] for found in names if found] for names in parted]
    return [each[0] if len(each) == 1 else f"{each[0]}\u2013{each[-1]}" for each in numbers]


def _links(result: Result, network: Network) -> dict[str, Any]:
    links = result.links
    columns = {name: links[name].tolist() for name in LINK_COLUMNS}
    columns |= {
        "busy": links["busy_fraction"].round(5).tolist(),
        "mean_queue": links["mean_queue_bytes"].round(1).tolist(),
    }
    ends = {"source": network.source.tolist(), "target": network.target.tolist()}
    kinds = list(dict.fromkeys(network.kinds))
    rates = sorted(set(links["rate_bps"]))
    return (
        columns
        | ends
        | {"kinds": kinds, "kind": [kinds.index(each) for each in network.kinds]}
        | {"rates_bps": [int(each) for each in rates], "rate": [rates.index(each) for each in links["rate_bps"]]}
    )
