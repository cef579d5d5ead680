"""A World made from a Network: every link idle, no connection yet. And how its tables grow, between two advances."""

from typing import Any

import numpy as np

from netsim.core import tables
from netsim.core.egress import GROUP
from netsim.core.rings import FIRST_SIZE
from netsim.core.tables import NEVER, World
from netsim.topology.network import Network
from netsim.units import picoseconds_per_byte

STRIDE = 8  # links of a route that fit before `hops` is laid out anew
SIZE_CLASSES = 64
CHANCE = 1 << 30  # Pmax is held in these units


def new_world(network: Network, *, header: int, ack: int, tick_ps: int, seed: int, gain: float) -> World:
    """The network at rest. Sizes in bytes; `gain` is DCTCP's g."""
    kinds, kind_of = _kinds(network)
    nodes, inbound, outbound, port_of = _nodes(network)
    hosts = len(network.hosts)
    ports = int((nodes["last_out"] - nodes["first_out"])[hosts:].max(initial=1))
    links, inboxes, air_used = _links(network, kind_of, ports)
    settings = np.zeros(1, tables.SETTINGS)
    row = settings[0]
    row["hosts"], row["stride"], row["header"], row["ack"] = hosts, STRIDE, header, ack
    row["window"] = _window(kinds, min(ack, header + 1))
    row["timeout"], row["tick"] = NEVER, tick_ps
    row["next_tick"], row["air_used"], row["seed"] = NEVER, air_used, np.int64(np.uint64(seed % 2**64).astype(np.int64))
    row["controls"]["dctcp"]["gain"] = round(gain * 65536)
    return World(
        settings=settings,
        links=links,
        kinds=kinds,
        nodes=nodes,
        hosts=np.zeros(hosts, tables.HOST),
        inbound=inbound,
        outbound=outbound,
        port_of=port_of,
        due=np.full(len(links), NEVER, "i8"),
        wake=np.full(len(nodes), NEVER, "i8"),
        wakes=np.full((len(nodes) >> GROUP) + 1, NEVER, "i8"),
        air=np.zeros(4 * air_used + (1 << 16), tables.PACKET),
        blocks=np.full(SIZE_CLASSES, -1, "i8"),
        inboxes=inboxes,
        busy=np.zeros(ports + 1, "u4"),
        nodes_due=np.zeros(len(nodes) + 1, "i8"),
        hops=np.zeros(STRIDE, "u4"),
        connections=np.zeros(0, tables.CONNECTION),
        messages=np.zeros(0, tables.MESSAGE),
        heirs=np.zeros(0, "u4"),
        flows=np.zeros(0, tables.FLOW),
        parts=np.zeros(0, tables.PART),
        collectives=np.zeros(0, tables.COLLECTIVE),
        finished=np.zeros(64, tables.FINISHED),
    )


def _kinds(network: Network) -> tuple[Any, Any]:
    """One row for every different (rate, delay, buffer, ECN), and the row of each link."""
    columns = np.stack(
        [
            network.rate_bps,
            network.delay_ps,
            network.buffer_bytes,
            network.kmin,
            network.kmax,
            np.rint(np.asarray(network.pmax) * CHANCE).astype("i8"),
        ]
    ).astype("i8")
    different, kind_of = np.unique(columns, axis=1, return_inverse=True)
    kinds = np.zeros(different.shape[1], tables.KIND)
    for kind, (rate, delay, buffer, kmin, kmax, chance) in zip(kinds, different.T.tolist(), strict=True):
        kind["ps"], kind["per_bytes"] = picoseconds_per_byte(rate)
        kind["delay"], kind["buffer"], kind["mark_from"], kind["mark_all"] = delay, buffer, kmin, kmax
        kind["mark_chance"], kind["strict"] = chance, network.control_class == "strict"
    return kinds, kind_of.reshape(-1)


def _window(kinds: Any, smallest: int) -> int:
    """No link is faster than its delay plus its smallest packet: so long are nodes independent of each other."""
    return int((kinds["delay"] + -(-smallest * kinds["ps"] // kinds["per_bytes"])).min())


def _nodes(network: Network) -> tuple[Any, Any, Any, Any]:
    """Per node its ranges of `inbound` and `outbound` (link numbers in order); per link its number at its source."""
    count = len(network.hosts) + len(network.switches)
    source, target = np.asarray(network.source), np.asarray(network.target)
    outbound, inbound = np.argsort(source, kind="stable"), np.argsort(target, kind="stable")
    nodes = np.zeros(count, tables.NODE)
    everyone = np.arange(count)
    nodes["first_out"] = np.searchsorted(source[outbound], everyone)
    nodes["last_out"] = np.searchsorted(source[outbound], everyone, side="right")
    nodes["first_in"] = np.searchsorted(target[inbound], everyone)
    nodes["last_in"] = np.searchsorted(target[inbound], everyone, side="right")
    port_of = np.empty(len(source), "u4")
    port_of[outbound] = np.arange(len(source)) - nodes["first_out"][source[outbound]]
    return nodes, inbound.astype("u4"), outbound.astype("u4"), port_of


def _links(network: Network, kind_of: Any, ports: int) -> tuple[Any, Any, int]:
    """Link rows and inboxes, with small rings laid out one after the other in the air; and how much air they take."""
    links = np.zeros(len(network.links), tables.LINK)
    links["kind"], links["source"], links["target"] = kind_of, network.source, network.target
    inboxes = np.zeros(ports, tables.RING)
    start = 0
    for rings in (links["wire"], links["payload"], links["control"], links["turns"], inboxes):
        rings["start"] = start + FIRST_SIZE * np.arange(len(rings))
        rings["mask"] = FIRST_SIZE - 1
        start += FIRST_SIZE * len(rings)
    return links, inboxes, start


def with_rows(world: World, **rows: int) -> World:
    """The same world with tables of at least so many rows; what is in them stays."""
    larger = {}
    for name, needed in rows.items():
        table = getattr(world, name)
        if len(table) < needed:
            grown = np.zeros(max(needed, len(table) * 3 // 2), table.dtype)
            grown[: len(table)] = table
            larger[name] = grown
    return world._replace(**larger) if larger else world


def with_more_air(world: World) -> World:
    """Twice as much room for packets."""
    return with_rows(world, air=2 * len(world.air))
