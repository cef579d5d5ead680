"""The tables of per-packet routing: what a switch may choose from, and where in a route its choice begins and ends."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from netsim.core.state import dtypes
from netsim.core.state.growth import with_rows
from netsim.core.state.world import World
from netsim.core.switch.per_packet_routing import MODES

LONG_AGO = -(1 << 61)  # ps


@dataclass(frozen=True)
class PerPacketRouting:
    """How switches choose: one of MODES with its settings, and from what.

    Candidates of switch s (counted from 0) towards host h are links[first[g] : first[g + 1]] with
    g = group_of[s * hosts + h], u4; dtypes.NONE where there are none. in_turn is for spray, gap_ps and slots
    for flowlet, entropies for reps.
    """

    mode: str
    group_of: Any = field(repr=False)
    first: Any = field(repr=False)
    links: Any = field(repr=False)
    in_turn: bool = False
    gap_ps: int = 0
    slots: int = 1
    entropies: int = 1


def with_per_packet_routing(world: World, routing: PerPacketRouting) -> World:
    """The same world, its switches choosing per packet."""
    groups = np.zeros(len(routing.first) - 1, dtypes.ECMP_GROUP)
    groups["first"], groups["count"] = routing.first[:-1], np.diff(routing.first)
    settings = world.settings[0]
    settings["per_packet_routing"] = MODES[routing.mode]
    settings["event_driven"] |= routing.in_turn or routing.mode in (
        "flowlet",
        "adaptive",
    )  # order of all arrivals counts
    settings["in_turn"], settings["gap"], settings["slots"] = routing.in_turn, routing.gap_ps, routing.slots
    settings["entropies"], has_metadata = routing.entropies, routing.mode == "reps"
    settings["timestamped"] |= has_metadata
    switches = len(world.nodes) - int(settings["hosts"])
    flowlets = np.zeros(switches * routing.slots if routing.mode == "flowlet" else 0, dtypes.FLOWLET)
    flowlets["at"] = LONG_AGO
    return world._replace(
        ecmp_group_of=np.asarray(routing.group_of, "u4"),
        ecmp_groups=groups,
        ecmp_links=np.asarray(routing.links, "u4"),
        flowlets=flowlets,
        packet_metadata=np.zeros(len(world.packet_pool), dtypes.PACKET_METADATA)
        if has_metadata
        else world.packet_metadata,
    )


def with_spray_segments(world: World, first: int, paths: Any, is_scale_up: Any) -> World:
    """Ways of the connections first, first + 1, ... whose routes are `paths`: NVLink first, then the network."""
    if not world.settings[0]["per_packet_routing"]:
        return world
    start, links = np.asarray(paths.first, "i8"), np.asarray(paths.links)
    count = first + len(start) - 1
    world = with_rows(world, spray_segments=count, entropy_cache=count * dtypes.CACHE)
    ways = world.spray_segments[first:count]
    ways["outward"] = np.add.reduceat(is_scale_up[links].astype("i8"), start[:-1])
    leaves = np.minimum(start[:-1] + ways["outward"], start[1:] - 1)
    ways["source"], ways["target"] = world.links["source"][links[leaves]], world.links["target"][links[start[1:] - 1]]
    return world
