"""Per-packet routing in the twin: a switch looks at all its links each time, and walks the network to judge them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from netsim.topology.network import SCALE_UP, Network
from tests.reference.scenarios.networks import distances, nearer
from tests.reference.state.records import Connection, Packet, mix

if TYPE_CHECKING:
    from tests.reference.twin import Twin

DRAW, SLOT, PATH, ENTROPY = 1 << 32, 2 << 32, 3 << 32, 4 << 32
KEPT = 8  # entropies


@dataclass(frozen=True)
class PerPacket:
    """How switches choose: spray, flowlet, adaptive or reps; the rest is for one of these."""

    mode: str
    in_turn: bool = False
    gap_ps: int = 0
    slots: int = 1
    entropies: int = 1


class PerPacketRouting:
    """Chooses the next link of packets that come to switches."""

    def __init__(self, twin: Twin, how: PerPacket) -> None:
        self.twin, self.how = twin, how
        self.came: Counter[int] = Counter()  # packets by link
        self.turns: Counter[tuple[int, ...]] = Counter()  # by links to choose from
        self.flowlets: dict[tuple[int, int], tuple[int, int]] = {}  # by node and slot: last packet at, its draw
        self.candidates = cache(lambda node, goal: candidates(twin.network, node, goal))

    def steer(self, packet: Packet, node: int) -> None:
        """Put the link of its choice into the packet's path."""
        network, ingress, hop = self.twin.network, packet.path[packet.hop - 1], packet.hop
        self.came[ingress] += 1
        if network.links[packet.path[hop]].kind == SCALE_UP:
            return
        outside = [link for link in packet.connection.route if network.links[link].kind != SCALE_UP]
        goal = network.links[outside[0]].source if packet.message is None else network.links[outside[-1]].target
        good = self.candidates(node, goal)
        draw = mix(self.twin.seed, DRAW + ingress, self.came[ingress])
        chosen = good[0] if len(good) == 1 else self.choose(packet, node, good, draw)
        self.twin.totals["rerouted"] += chosen != packet.path[hop]
        packet.path = (*packet.path[:hop], chosen, *packet.path[hop + 1 :])

    def ways(self, route: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Every way that a packet of the connection may take."""
        links = self.twin.network.links
        inside = [link for link in route if links[link].kind == SCALE_UP]
        if len(inside) == len(route):
            return [route]
        begun, goal = [route[: len(inside) + 1]], links[route[-1]].target
        for _ in range(len(inside) + 1, len(route)):
            begun = [(*way, link) for way in begun for link in self.candidates(links[way[-1]].target, goal)]
        return begun

    def choose(self, packet: Packet, node: int, good: list[int], draw: int) -> int:
        if self.how.mode == "adaptive":
            load = {link: self.twin.ports[link].waiting() for link in good}
            best = [link for link in good if load[link] == min(load.values())]
            self.twin.totals["avoided_a_queue"] += len(best) < len(good)
            return best[draw % len(best)]
        if self.how.mode == "flowlet":
            return good[self.flowlet(packet, node, draw) % len(good)]
        if self.how.mode == "reps":
            side = 2 * (node - len(self.twin.network.hosts)) + (packet.message is None)
            return good[mix(self.twin.seed, PATH + side, (packet.connection.number << 16) + packet.entropy) % len(good)]
        if self.how.in_turn:
            self.turns[tuple(good)] += 1
            return good[(self.turns[tuple(good)] - 1) % len(good)]
        return good[draw % len(good)]

    def entropy_of(self, connection: Connection) -> int:
        """The entropy of the packet that a connection sends: the oldest good one, else a new one."""
        self.twin.totals["reused"] += len(connection.cached_entropies) > 0
        if connection.cached_entropies:
            return connection.cached_entropies.pop(0)
        return mix(self.twin.seed, ENTROPY + connection.number, connection.sent) % self.how.entropies

    def recycle(self, ack: Packet) -> None:
        """Keep the entropy that an ACK brings back, if nothing on its way was marked."""
        if not ack.marked:
            ack.connection.cached_entropies = [*ack.connection.cached_entropies, ack.entropy][-KEPT:]

    def flowlet(self, packet: Packet, node: int, draw: int) -> int:
        """The draw of the flowlet that this packet belongs to."""
        key = 2 * packet.connection.number + (packet.message is None)
        slot = mix(self.twin.seed, SLOT, key) % self.how.slots
        at, drawn = self.flowlets.get((node, slot), (-(1 << 60), draw))
        if self.twin.now - at > self.how.gap_ps:
            self.twin.totals["new_flowlets"] += at > 0
            drawn = draw
        self.flowlets[node, slot] = (self.twin.now, drawn)
        return drawn


def candidates(network: Network, node: int, goal: int) -> list[int]:
    """The links on a shortest way from a switch to a host, outside servers."""
    return [link.number for link in nearer(network, node, goal, distances(network, goal, outside=True))]
