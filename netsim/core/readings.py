"""What is read off a World from outside: queue lengths over time, counters of links, packets still under way."""

from typing import Any

import numpy as np

from netsim.core.tables import World
from netsim.core.words import ACK

FIRST_INTERVAL_PS = 4_000_000  # a look cuts a window of the core in two: not more often than every few windows
MOST_LOOKS = 128  # then every other is forgotten and the interval doubles: pictures need no more


class QueueSamples:
    """Bytes in every queue that has packets waiting, at regular times: often in a short run, seldom in a long one."""

    def __init__(self, world: World) -> None:
        self._settings, self._album = world.settings, world.samples
        self._taken: list[Any] = []
        row = self._settings[0]
        row["next_look"], row["look_every"], row["most_looks"] = 0, FIRST_INTERVAL_PS, MOST_LOOKS

    @property
    def interval_ps(self) -> int:
        """The time from one look to the next."""
        return int(self._settings[0]["look_every"])

    def collect(self) -> None:
        """Take what the core has noted; if those are too many looks, it looks half as often from now on."""
        row = self._settings[0]
        self._taken.append(self._album[: row["samples"]].copy())
        row["samples"] = 0
        if row["looks"] > row["most_looks"]:
            self._thin_out(row)

    def _thin_out(self, row: Any) -> None:
        """Look half as often, and forget every other look so far."""
        row["looks"] //= 2
        row["look_every"] *= 2
        every = int(row["look_every"])
        self._taken = [samples[samples["at"] % every == 0] for samples in self._taken]
        row["next_look"] = -(-int(row["next_look"]) // every) * every

    def columns(self) -> dict[str, Any]:
        """time_ps, link, bytes."""
        self.collect()
        taken = np.concatenate(self._taken)
        return {"time_ps": taken["at"], "link": taken["link"], "bytes": taken["bytes"]}


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
