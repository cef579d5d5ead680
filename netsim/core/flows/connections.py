"""Connections by (source host, target host, channel): made when first asked for, with route, window and control."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from netsim.core.flows.admission import start_controls
from netsim.core.flows.route_times import lay_routes, times_of
from netsim.core.state.dtypes import MOST_HOPS, NEVER, NONE
from netsim.core.state.growth import with_rows, with_scoreboard
from netsim.core.state.sack_scoreboard import FIRST_SCOREBOARD
from netsim.core.state.world import World
from netsim.core.switch.ecmp_tables import with_spray_segments
from netsim.transport.fixed_point import ONE, WIDEST
from netsim.transport.registry import REGISTRY
from netsim.transport.settings import IB_ACK_TIMEOUT_10_PS, IB_ACK_TIMEOUT_14_PS

MOST_RETRIES = (1 << 31) - 1
SPREAD = 256  # transmissions by which a packet on another path may be overtaken, at least
MOST_CLASSES = 8  # of traffic, as in IEEE 802.1Q


class Paths(Protocol):
    """Routes of many connections: links[first[i] : first[i + 1]] is the route of number i."""

    first: Any
    links: Any


@dataclass(frozen=True)
class Sender:
    """What every new connection gets: control, window in packets or "bdp", time-out in ps or "auto", payload bytes.

    round_trip: over the longest path of the network, ps; 0 where no control wants it.
    """

    control: str
    window: int | str
    timeout: int | str
    payload: int
    scale_up_payload: int
    retries: int = (1 << 31) - 1
    selective: tuple[int | str, int | str] = ("auto", 3)  # packets: window and tolerance of selective repeat
    round_trip: int = 0


class Connections:
    """The numbers of connections, and the making of new ones.

    route(source, target, channel) -> Paths takes and gives arrays; is_scale_up bool[links]: the link stays in a server.
    """

    def __init__(self, hosts: int, route: Callable[..., Paths], is_scale_up: Any, sender: Sender) -> None:
        self._hosts, self._route, self._is_scale_up, self._sender = hosts, route, is_scale_up, sender
        self._keys = np.zeros(0, "i8")  # sorted
        self._numbers = np.zeros(0, "u4")
        self.channel = np.zeros(0, "i8")

    def numbers(
        self, world: World, source: Any, target: Any, channel: Any, traffic_class: int = 0
    ) -> tuple[World, Any]:
        """The connections from source[i] to target[i] on channel[i] as u4[n]; the world with the new ones in it.

        Each traffic class has its own. The same may be asked for twice: one host may stand for two members of a group.
        """
        of_class = np.asarray(channel, "i8") * MOST_CLASSES + traffic_class
        keys = (of_class * self._hosts + source) * self._hosts + target
        once, where, which = np.unique(keys, return_index=True, return_inverse=True)
        if len(once) < len(keys):  # one host may stand for two members of a group
            some = [np.asarray(each)[where] for each in (source, target, channel)]
            world, numbers = self.numbers(world, some[0], some[1], some[2], traffic_class)
            return world, numbers[which]
        at = np.searchsorted(self._keys, keys)
        known = (
            self._keys[np.minimum(at, len(self._keys) - 1)] == keys if len(self._keys) else np.zeros(len(keys), bool)
        )
        numbers = np.empty(len(keys), "u4")
        numbers[known] = self._numbers[at[known]]
        new = np.flatnonzero(~known)
        if len(new):  # numbered in the order in which they are asked for
            numbers[new] = len(self._keys) + np.arange(len(new))
            some = [np.asarray(each)[new] for each in (source, target, channel)]
            world = self._make(world, some[0], some[1], some[2], traffic_class)
            longer = np.concatenate([self._keys, keys[new]])
            order = np.argsort(longer, kind="stable")
            self._keys = longer[order]
            self._numbers = np.concatenate([self._numbers, numbers[new]])[order]
        return world, numbers

    def _make(self, world: World, source: Any, target: Any, channel: Any, traffic_class: int) -> World:
        first, count = len(self.channel), len(source)
        self.channel = np.concatenate([self.channel, np.asarray(channel, "i8")])
        paths = self._route(source, target, channel)
        start, length = np.asarray(paths.first[:-1]), np.diff(paths.first)
        links = np.asarray(paths.links)
        stride = int(world.settings[0]["stride"])
        world = with_rows(world, connections=first + count, hops=(first + count) * stride)
        world.settings[0]["connections"] = first + count
        if world.settings[0]["telemetered"]:
            world = with_rows(world, last_telemetry=(first + count) * MOST_HOPS)
        world = _with_stride(world, int(length.max()), first)
        lay_routes(world, first, np.asarray(paths.first, "i8"), links)
        world = with_spray_segments(world, first, paths, self._is_scale_up)
        rows = world.connections[first : first + count]
        inside = np.logical_and.reduceat(self._is_scale_up[links], start)
        rows["source"], rows["length"] = source, length
        rows["egress"] = links[start] + traffic_class * int(world.settings[0]["ports"])  # see link/priorities.py
        rows["back"] = links[start + length - 1] ^ 1
        rows["payload"] = np.where(inside, self._sender.scale_up_payload, self._sender.payload)
        for name in ("sending", "acking", "receiving", "last"):
            rows[name] = NONE
        rows["last_progress_at"] = NEVER
        rows["control"] = REGISTRY[self._sender.control].code
        idle, slowest, drain, apart = times_of(world, first, count)
        rows["cwnd"] = self._windows(idle, slowest)
        world = self._with_repairs(world, first, count, bdp=-(-idle // slowest), ahead=-(-apart // slowest))
        rows["timeout"] = self._timeouts(
            idle, _times(drain, int(world.settings[0]["classes"])), bool(world.settings[0]["lossless"])
        )
        rows["max_retries"] = self._patience(rows["timeout"])
        start_controls(world, first, first + count, idle, np.where(inside, idle, self._sender.round_trip or idle))
        return world

    def _windows(self, idle: Any, slowest: Any) -> Any:
        """Fixed point. "bdp": as many full packets as fit into the idle round trip at the slowest place of the way."""
        if self._sender.window != "bdp":
            return int(self._sender.window) * ONE
        if REGISTRY[self._sender.control].traits.unlimited:
            return WIDEST
        return np.minimum(-(-idle // slowest) * ONE, WIDEST)

    def _with_repairs(self, world: World, first: int, count: int, bdp: Any, ahead: Any) -> World:
        """With selective repeat: what its ends keep of packets in their window, room for a few of them at first.

        ahead: packets by which one on the shortest way comes before one on the longest, even on an idle network.
        """
        if not world.settings[0]["selective"]:
            return world
        limit, tolerance = self._sender.selective
        used = int(world.progress[0]["scoreboard_used"])
        world = with_rows(world, sack_state=first + count)
        world = with_scoreboard(world, used + (FIRST_SCOREBOARD + 1) * count)
        world.progress[0]["scoreboard_used"] = used + (FIRST_SCOREBOARD + 1) * count
        sack = world.sack_state[first : first + count]
        sack["limit"] = NEVER if limit == "auto" else limit
        sack["reordering"] = np.maximum(SPREAD, bdp // 4) + ahead if tolerance == "auto" else tolerance
        sack["start"], sack["mask"] = used + FIRST_SCOREBOARD * np.arange(count), FIRST_SCOREBOARD - 1
        sack["bitmap_start"] = used + FIRST_SCOREBOARD * count + np.arange(count)
        return world

    def _timeouts(self, idle: Any, drain: Any, is_lossless: bool) -> Any:
        """Picoseconds. "auto": the round trip with every queue full both ways, so that no packet under way times out.

        Where a queue has no limit there is no such time: then InfiniBand's ack timeout with code 10. A pause has no
        limit either, and loses nothing: then code 14, the default of perftest.
        """
        if self._sender.timeout != "auto":
            return int(self._sender.timeout)
        if is_lossless:
            return IB_ACK_TIMEOUT_14_PS
        return np.where(drain < NEVER, idle + drain, IB_ACK_TIMEOUT_10_PS)

    def _patience(self, timeouts: Any) -> Any:
        """Time-outs in a row that a connection survives: the retry count; with "auto" it goes on for as long as a NIC.

        That is with a time-out as long as perftest's. A short one says little: queues that others fill take longer.
        """
        retries = self._sender.retries
        if self._sender.timeout != "auto":
            return retries
        return np.minimum((retries + 1) * -(-IB_ACK_TIMEOUT_14_PS // timeouts) - 1, MOST_RETRIES)


def _times(drain: Any, classes: int) -> Any:
    """Every queue of a link is emptied before the lowest class has its turn; NEVER stays what it is."""
    limited = drain < NEVER
    return np.where(limited, np.where(limited, drain, 0) * classes, NEVER)


def _with_stride(world: World, longest: int, used: int) -> World:
    """Room for routes of `longest` links: the routes so far are laid out anew where the stride must grow."""
    stride = int(world.settings[0]["stride"])
    if longest <= stride:
        return world
    wider = 1 << (longest - 1).bit_length()
    hops = np.zeros(len(world.connections) * wider, "u4")
    hops.reshape(-1, wider)[:used, :stride] = world.hops[: used * stride].reshape(used, stride)
    world.settings[0]["stride"] = wider
    return world._replace(hops=hops)
