"""What is read off a World from outside: queue lengths over time, counters of links, packets still under way."""

from typing import Any

import numpy as np

from netsim.core.tables import World
from netsim.core.words import ACK

FIRST_INTERVAL_PS = 4_000_000  # a look cuts a window of the core in two: not more often than every few windows
MOST_LOOKS = 128  # then every other is forgotten and the interval doubles: pictures need no more


class QueueSamples:
    """Bytes in every queue that has packets waiting, at regular times: often in a short run, seldom in a long one."""

    def __init__(self) -> None:
        self.interval_ps = FIRST_INTERVAL_PS
        self.next_at = 0
        self._looks = 0
        self._taken: list[tuple[int, Any, Any]] = []

    def take(self, world: World, until: int) -> None:
        """Look at all queues at `next_at`, before anything of that instant happens in the core."""
        links = world.links
        waiting = links["payload"]["tail"] > links["payload"]["head"]
        which = np.flatnonzero(waiting)
        sent = np.where(links["free_at"][which] <= self.next_at, links["leaving"][which], 0)
        if len(which) or (self._taken and len(self._taken[-1][1])):
            self._taken.append((self.next_at, which.astype("u4"), links["backlog"][which] - sent))
        self.next_at += self.interval_ps
        moves_at = min(int(world.wakes.min()), int(world.settings[0]["next_tick"]))
        if moves_at < self.next_at:
            self._looks += 1  # only these: how often an idle network is looked at depends on who stops the clock
        if not len(which):  # nothing will wait before the next packet moves, and nobody acts before `until`
            quiet_until = min(moves_at, until)
            self.next_at = max(self.next_at, -(-quiet_until // self.interval_ps) * self.interval_ps)
        if self._looks > MOST_LOOKS:
            self._thin_out()

    def _thin_out(self) -> None:
        """Look half as often from now on, and forget every other look so far."""
        self._looks //= 2
        self.interval_ps *= 2
        self._taken = [sample for sample in self._taken if sample[0] % self.interval_ps == 0]
        self.next_at = -(-self.next_at // self.interval_ps) * self.interval_ps

    def columns(self) -> dict[str, Any]:
        """time_ps, link, bytes."""
        counts = [len(which) for _, which, _ in self._taken]
        return {
            "time_ps": np.repeat(np.array([at for at, _, _ in self._taken], "i8"), counts),
            "link": np.concatenate([np.zeros(0, "u4"), *(which for _, which, _ in self._taken)]),
            "bytes": np.concatenate([np.zeros(0, "i8"), *(held for _, _, held in self._taken)]),
        }


def busy_ps(world: World) -> Any:
    """Picoseconds each link has spent sending, to within a picosecond a packet."""
    kinds = world.kinds[world.links["kind"]]
    return world.links["sent_bytes"] * kinds["ps"] // kinds["per_bytes"]


def under_way(world: World) -> tuple[int, int]:
    """Data packets and ACKs that are in some queue or on some wire."""
    packets = acks = 0
    for name in ("wire", "payload", "control"):
        rings = world.links[name]
        for ring in rings[rings["tail"] > rings["head"]]:
            places = int(ring["start"]) + (np.arange(ring["head"], ring["tail"]) & int(ring["mask"]))
            packets += len(places)
            acks += int(np.count_nonzero(world.air["state"][places] & ACK))
    return packets - acks, acks


def packets_sent(world: World) -> Any:
    """Packets each link has put on its wire, those that were lost there too."""
    return world.links["wire"]["tail"] + world.links["lost"]
