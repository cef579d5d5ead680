"""Ends runs that get nowhere: at the user's limit by the clock, or because packets are retransmitted in vain."""

import math
import time
from typing import Any

import numpy as np

from netsim.config.limits import Limits
from netsim.core.state.dtypes import NEVER
from netsim.simulation.deadlock import in_vain, out_of_patience, out_of_time
from netsim.units import PS_PER_SECOND

SLICE_PS = 10_000_000_000  # simulated time between two looks: so long at least nothing new has arrived
TIMES_OVER = 1000  # how often each packet under way has been sent since: no loss rate of a network that works
FEWEST_SENT = 1_000_000


def interrupt(fabric: Any) -> None:
    """Have the core of a fabric come back at once, from another thread, so that Python hears Ctrl-C."""
    fabric.world.progress[0]["interrupted"] = 1


class Watchdog:
    """Looks at a fabric: at the clock often, and at what has arrived at set simulated times, the same in every run.

    A run is ended where nothing that had not arrived before arrives anywhere for SLICE_PS, while as many packets are
    sent as would be TIMES_OVER all that are under way; or twice the retries that are set, where that is more. Silence
    is no sign: who waits for a time-out or for the end of a pause sends nothing, and a connection that gets no answer
    gives up by itself.
    """

    def __init__(self, limits: Limits, retries: int) -> None:
        self.next_ps = SLICE_PS
        self.time_limit_ps = NEVER if limits.time_ps is None else min(limits.time_ps, NEVER)
        self._wall_limit_s = math.inf if limits.wall_ps is None else limits.wall_ps / PS_PER_SECOND
        self._ends_at = time.monotonic() + self._wall_limit_s
        self._times_over = max(TIMES_OVER, 2 * (retries + 1))
        self._arrived, self._arrived_ps, self._sent, self._under_way = -1, 0, 0, 0

    def check_time(self, fabric: Any) -> None:
        """RunError past the limit of simulated time."""
        if fabric.env.now > self.time_limit_ps:
            raise out_of_time(fabric, self.time_limit_ps)

    def look_at_the_clock(self, fabric: Any) -> None:
        """RunError past the limit by the clock."""
        if time.monotonic() > self._ends_at:
            raise out_of_patience(fabric, self._wall_limit_s)

    def look(self, fabric: Any) -> None:
        """At simulated time `next_ps`: has anything new arrived? RunError if all that is sent is sent in vain."""
        world = fabric.world
        rows = world.connections[: int(world.settings[0]["connections"])]
        sack = world.sack_state[: len(rows)]
        arrived = int(rows["expected"].sum()) + int(sack["ahead"].sum())
        sent, under_way = int(rows["injected"].sum()), int(np.maximum(rows["next"] - rows["acked"], 0).sum())
        if arrived != self._arrived:
            self._arrived, self._arrived_ps, self._sent, self._under_way = arrived, self.next_ps, sent, under_way
        self._under_way = max(self._under_way, under_way)
        if sent - self._sent > max(FEWEST_SENT, self._times_over * self._under_way):
            raise in_vain(fabric, self._arrived_ps, sent - self._sent)
        self.next_ps = (max(self.next_ps, int(world.next_event_of_group.min())) // SLICE_PS + 1) * SLICE_PS
