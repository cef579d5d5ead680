"""The packet trace of a run as columns; what each link sent; when links were paused."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from netsim.core.observe.packet_trace import REFUSED
from netsim.core.state.dtypes import NEVER
from netsim.core.state.packet_header import ACK, BYTES, CONNECTION, HOP, INGRESS
from netsim.core.state.world import World
from netsim.core.switch.per_packet_routing import FLOWLET

Column = Any  # of integers

SHORT = 1 << 16  # keys below it are sorted digit by digit
STOPS, GOES_ON = -2, -1  # labels of a PAUSE and a RESUME in the packet trace


class Rows:
    """Packets at queues: a row for each that a link began to send, or (began_at = REFUSED) that found no room there.

    Times in ps: came_at that queue, began_at its first bit left, sent_at its last bit, arrived_at the far end. Rows of
    one link are in order of time.
    """

    def __init__(self, world: World, packet_trace: Any) -> None:
        ports = int(world.settings[0]["ports"])
        self.world, self.ports = world, ports
        self._pauses = packet_trace[packet_trace["header"] < 0]
        packets = packet_trace[packet_trace["header"] >= 0] if len(self._pauses) else packet_trace
        header, meta = packets["header"], packets["meta"]
        self.came_at, self.began_at = packets["came_at"].copy(), packets["began_at"].copy()
        self.connection, self.sequence = (header >> CONNECTION).astype("i4"), header & 0xFFFFFFFF
        self.link, self.bytes = (meta >> INGRESS).astype("i4"), ((meta >> BYTES) & 0xFFFFFF).astype("i4")
        self.hop, self.flags = ((meta >> HOP) & 0xFF).astype("u1"), (meta & 0xFF).astype("u1")
        kind = world.link_classes[world.links["link_class"][:ports]]
        self.ps, self.per_bytes = kind["ps"], kind["per_bytes"]  # per link
        self.sent_at = self.began_at + self._time_to_send()
        self.arrived_at = self.sent_at + kind["delay"][self.link]
        self.longest_ps = longest_ps(world)
        self._lanes: dict[int, Lane] = {}
        self._narrowest: dict[int, tuple[int, int]] = {}
        self._sorted: dict[int, Column] = {}

    def _time_to_send(self) -> Column:
        """As core/link/wire.py has it, rounded up."""
        time = self.bytes * self.ps[self.link]
        return time if (self.per_bytes == 1).all() else -(-time // self.per_bytes[self.link])

    def row_of(self, link: int, connection: int) -> int:
        """The row of a link's gate for the class of a connection."""
        return link + int(self.world.connections["egress"][connection]) // self.ports * self.ports

    def route_of(self, connection: int) -> Column:
        """The links of a connection's route."""
        first = connection * int(self.world.settings[0]["stride"])
        return self.world.hops[first : first + int(self.world.connections["length"][connection])].astype("i8")

    def narrowest(self, connection: int) -> tuple[int, int]:
        """The link that limits a connection that is alone, and over how many like it packets are spread there."""
        if connection not in self._narrowest:
            ps_per_byte = self.ps / self.per_bytes
            steps = self._steps(connection)
            step = max(steps, key=lambda links: float(ps_per_byte[links].max()) / len(links))
            self._narrowest[connection] = int(step[np.argmax(ps_per_byte[step])]), len(step)
        return self._narrowest[connection]

    def _steps(self, connection: int) -> list[Column]:
        """The links of a route one by one; where switches choose per packet, all that they may choose from.

        Of those a flowlet takes one: here the one that most packets took.
        """
        world, route = self.world, self.route_of(connection)
        if not world.settings[0]["per_packet_routing"]:
            return list(route.reshape(-1, 1))
        way, hosts = world.spray_segments[connection], int(world.settings[0]["hosts"])
        steps = list(route[: int(way["outward"]) + 1].reshape(-1, 1))
        while (at := np.unique(world.links["target"][steps[-1]]).astype("i8"))[0] >= hosts:
            groups = world.ecmp_groups[world.ecmp_group_of[(at - hosts) * hosts + int(way["target"])]]
            chosen = [world.ecmp_links[each["first"] : each["first"] + each["count"]] for each in groups]
            steps.append(np.unique(np.concatenate(chosen)).astype("i8"))
        if world.settings[0]["per_packet_routing"] == FLOWLET:
            taken = np.bincount(self.link[self.of_connection(connection)], minlength=self.ports)
            steps = [links[[np.argmax(taken[links])]] for links in steps]
        return steps

    def of_connection(self, connection: int) -> Column:
        """The rows of one connection, link by link."""
        if connection not in self._sorted:
            bounds, order = self._by_connection
            mine = order[bounds[connection] : bounds[connection + 1]]
            self._sorted[connection] = mine[np.argsort(self.link[mine], kind="stable")]
        return self._sorted[connection]

    @cached_property
    def _by_connection(self) -> tuple[Column, Column]:
        return _grouped(self.connection, len(self.world.connections))

    @cached_property
    def _by_link(self) -> tuple[Column, Column]:
        return _grouped(self.link, self.ports)

    def lane(self, link: int) -> Lane:
        """The data that a link sent."""
        if link not in self._lanes:
            bounds, order = self._by_link
            rows = order[bounds[link] : bounds[link + 1]]
            self._lanes[link] = Lane(self, rows[(self.began_at[rows] != REFUSED) & ((self.flags[rows] & ACK) == 0)])
        return self._lanes[link]

    @cached_property
    def pauses(self) -> dict[int, tuple[Column, Column]]:
        """By row of a gate: when its sender stopped, and when it went on."""
        found: dict[int, tuple[Column, Column]] = {}
        row = self._pauses["meta"] >> INGRESS
        for each in np.unique(row).tolist():
            mine = self._pauses[row == each]
            at, stops = mine["came_at"], mine["header"] == STOPS  # they take turns
            began = at[stops] if stops[0] else np.concatenate([[0], at[stops]])
            ended = at[~stops] if not stops[-1] else np.concatenate([at[~stops], [NEVER]])
            found[each] = began, ended
        return found


def longest_ps(world: World) -> int:
    """More than any packet takes from its first bit on a wire to its last at the far end, ps."""
    kinds, settings = world.link_classes, world.settings[0]
    largest = int(max(world.connections["payload"].max(initial=0) + settings["header_bytes"], settings["ack_bytes"]))
    return int((largest * kinds["ps"] // kinds["per_bytes"] + kinds["delay"]).max(initial=0)) + 2


def _grouped(keys: Column, count: int) -> tuple[Column, Column]:
    """Where each key's rows begin in an order of all rows; among equals the first stays first."""
    order = np.argsort(keys.astype("u2") if count <= SHORT else keys, kind="stable")
    return np.searchsorted(keys[order], np.arange(count + 1)), order


class Lane:
    """The data packets that one link sent, in order of time: `rows`, and their columns."""

    def __init__(self, rows: Rows, mine: Column) -> None:
        self.rows, self.came_at, self.began_at = mine, rows.came_at[mine], rows.began_at[mine]
        self.connection, self.bytes = rows.connection[mine], rows.bytes[mine]
        self._sums = np.concatenate([[0], np.cumsum(self.bytes, dtype="i8")])

    def bytes_sent(self, start_ps: int, end_ps: int) -> int:
        """Bytes of packets begun in start_ps <= t < end_ps."""
        first, last = np.searchsorted(self.began_at, [start_ps, end_ps])
        return int(self._sums[last] - self._sums[first])

    def sent(self, start_ps: int, end_ps: int) -> slice:
        """The packets begun in start_ps <= t < end_ps."""
        first, last = np.searchsorted(self.began_at, [start_ps, end_ps])
        return slice(int(first), int(last))
