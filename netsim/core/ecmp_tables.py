"""The tables of per-packet routing: what a switch may choose from, and where in a route its choice begins and ends."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from netsim.core import tables
from netsim.core.growth import with_rows
from netsim.core.per_packet_routing import MODES
from netsim.core.world_tables import World

LONG_AGO = -(1 << 61)  # ps


@dataclass(frozen=True)
class Steering:
    """How switches choose: one of MODES with its settings, and from what.

    Candidates of switch s (counted from 0) towards host h are links[first[g] : first[g + 1]] with
    g = group_of[s * hosts + h], u4; tables.NONE where there are none. in_turn is for spray, gap_ps and slots
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


def with_steering(world: World, steering: Steering) -> World:
    """The same world, its switches choosing per packet."""
    groups = np.zeros(len(steering.first) - 1, tables.GROUP)
    groups["first"], groups["count"] = steering.first[:-1], np.diff(steering.first)
    settings = world.settings[0]
    settings["steering"], settings["coupled"] = MODES[steering.mode], 1
    settings["in_turn"], settings["gap"], settings["slots"] = steering.in_turn, steering.gap_ps, steering.slots
    settings["entropies"], is_noted = steering.entropies, steering.mode == "reps"
    settings["timestamped"] |= is_noted
    switches = len(world.nodes) - int(settings["hosts"])
    flowlets = np.zeros(switches * steering.slots if steering.mode == "flowlet" else 0, tables.FLOWLET)
    flowlets["at"] = LONG_AGO
    return world._replace(
        group_of=np.asarray(steering.group_of, "u4"),
        groups=groups,
        group_links=np.asarray(steering.links, "u4"),
        flowlets=flowlets,
        notes=np.zeros(len(world.packet_pool), tables.NOTE) if is_noted else world.notes,
    )


def with_ways(world: World, first: int, paths: Any, is_scale_up: Any) -> World:
    """Ways of the connections first, first + 1, ... whose routes are `paths`: NVLink first, then the network."""
    if not world.settings[0]["steering"]:
        return world
    start, links = np.asarray(paths.first, "i8"), np.asarray(paths.links)
    count = first + len(start) - 1
    world = with_rows(world, ways=count, cache=count * tables.CACHE)
    ways = world.ways[first:count]
    ways["outward"] = np.add.reduceat(is_scale_up[links].astype("i8"), start[:-1])
    leaves = np.minimum(start[:-1] + ways["outward"], start[1:] - 1)
    ways["source"], ways["target"] = world.links["source"][links[leaves]], world.links["target"][links[start[1:] - 1]]
    return world
