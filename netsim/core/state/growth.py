"""How the tables of a World grow, between two advances."""

import numpy as np

from netsim.core.state.dtypes import MOST_HOPS
from netsim.core.state.memory import aligned_zeros
from netsim.core.state.sack_scoreboard import SCOREBOARD_PER_USED
from netsim.core.state.world import World


def with_rows(world: World, **rows: int) -> World:
    """The same world with tables of at least so many rows; what is in them stays."""
    larger = {}
    for name, needed in rows.items():
        table = getattr(world, name)
        if len(table) < needed:
            grown = aligned_zeros(max(needed, len(table) * 3 // 2), table.dtype)
            grown[: len(table)] = table
            larger[name] = grown
    return world._replace(**larger) if larger else world


def with_scoreboard(world: World, used: int) -> World:
    """The same world with room for what selective repeat knows of packets, of which so many entries will be in use."""
    needed = 2 * SCOREBOARD_PER_USED * used + int(world.settings[0]["pool_reserve"])
    if len(world.sack_scoreboard) >= needed:
        return world
    grown, kept = np.zeros(needed, "u4"), int(world.progress[0]["scoreboard_used"])
    grown[:kept] = world.sack_scoreboard[:kept]
    return world._replace(sack_scoreboard=grown)


def with_room(world: World) -> World:
    """The same world after a visit to one more node might have needed more room than there was."""
    used = int(world.progress[0]["scoreboard_used"])
    if (
        world.settings[0]["selective"]
        and len(world.sack_scoreboard) < SCOREBOARD_PER_USED * used + world.settings[0]["pool_reserve"]
    ):
        return with_scoreboard(world, used)
    return with_larger_packet_pool(world)


def with_larger_packet_pool(world: World) -> World:
    """Twice as much room for packets, and for their metadata. Only what is in use is copied."""
    settings = world.settings[0]
    rows = {"packet_pool": 1}
    if settings["timestamped"]:
        rows["packet_metadata"] = 1
    if settings["telemetered"]:
        rows["telemetry"] = MOST_HOPS
    larger = {}
    for name, each in rows.items():
        table, used = getattr(world, name), int(world.progress[0]["pool_used"]) * each
        larger[name] = np.zeros(2 * len(table), table.dtype)
        larger[name][:used] = table[:used]
    return world._replace(**larger)
