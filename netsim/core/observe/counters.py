"""What is read off a World from outside: queue lengths over time, counters of links, packets still under way."""

from typing import Any

import numpy as np

from netsim.core.state.packet_header import ACK
from netsim.core.state.world import World

FIRST_INTERVAL_PS = 4_000_000  # a sample cuts a window of the core in two: not more often than every few windows
MOST_SAMPLE_TIMES = 128  # then every other is forgotten and the interval doubles: pictures need no more


QUEUE_COLUMNS = ("time_ps", "link", "bytes", "sent_bytes", "ecn_marks", "drops", "paused_ps")  # from sent_bytes so far


class QueueSamples:
    """Bytes in every queue that has packets waiting, at regular times: often in a short run, seldom in a long one.

    The times are counted from when something first begins.
    """

    def __init__(self, world: World) -> None:
        self._settings, self._progress, self._sample_buffer = world.settings[0], world.progress[0], world.samples
        self._taken: list[Any] = []
        self._settings["sample_interval"], self._settings["max_sample_times"] = FIRST_INTERVAL_PS, MOST_SAMPLE_TIMES

    @property
    def interval_ps(self) -> int:
        """The time from one sample to the next."""
        return int(self._settings["sample_interval"])

    def collect(self) -> None:
        """Take what the core has sampled; if those are too many times, it samples half as often from now on."""
        self._taken.append(self._sample_buffer[: self._progress["samples"]].copy())
        self._progress["samples"] = 0
        if self._progress["sample_times"] > self._settings["max_sample_times"]:
            self._thin_out()

    def _thin_out(self) -> None:
        """Sample half as often, and forget every other time so far."""
        self._progress["sample_times"] //= 2
        self._settings["sample_interval"] *= 2
        every, first = int(self._settings["sample_interval"]), int(self._progress["first_sample_at"])
        self._taken = [samples[(samples["at"] - first) % every == 0] for samples in self._taken]
        self._progress["next_sample_at"] += (first - int(self._progress["next_sample_at"])) % every

    def columns(self) -> dict[str, Any]:
        """time_ps, link, bytes; what each link had sent, marked, dropped, been paused by then; classes in one row."""
        self.collect()
        taken = np.concatenate(self._taken)
        names = {"time_ps": "at", "ecn_marks": "marks"}
        columns = {name: taken[names.get(name, name)] for name in QUEUE_COLUMNS}
        return columns if self._settings["classes"] == 1 else _over_classes(columns, int(self._settings["ports"]))


def _over_classes(columns: dict[str, Any], ports: int) -> dict[str, Any]:
    """Rows of one time and one link added up; what is counted from the beginning is the same in each."""
    link = columns["link"] % ports
    order = np.lexsort((link, columns["time_ps"]))
    columns = {name: column[order] for name, column in (columns | {"link": link}).items()}
    at, link, held = columns["time_ps"], columns["link"], columns["bytes"]
    first = np.flatnonzero(np.concatenate([np.ones(min(1, len(at)), bool), (np.diff(at) != 0) | (np.diff(link) != 0)]))
    total = np.add.reduceat(held, first) if len(first) else held
    return {name: column[first] for name, column in columns.items()} | {"bytes": total}


def by_class(world: World, column: Any) -> Any:
    """A column of links or PFC states as one row per class of traffic, [classes, links]."""
    return column.reshape(int(world.settings[0]["classes"]), -1)


def busy_ps(world: World) -> Any:
    """Picoseconds each link has spent sending, to within a picosecond a packet."""
    ports = int(world.settings[0]["ports"])
    kinds = world.link_classes[world.links["link_class"][:ports]]
    return world.links["sent_bytes"][:ports] * kinds["ps"] // kinds["per_bytes"]


def packets_in_flight(world: World) -> tuple[int, int]:
    """Data packets and ACKs that are in some queue or on some wire."""
    packets = acks = 0
    for name in ("in_flight", "payload", "control"):
        rings = world.links[name]
        for ring in rings[rings["tail"] > rings["head"]]:
            indices = int(ring["start"]) + (np.arange(ring["head"], ring["tail"]) & int(ring["mask"]))
            packets += len(indices)
            acks += int(np.count_nonzero(world.packet_pool["meta"][indices] & ACK))
    return packets - acks, acks


def packets_sent(world: World) -> Any:
    """Packets each link has put on its wire, those that were lost there too."""
    return by_class(world, world.links["in_flight"]["tail"] + world.links["lost"])[0]
