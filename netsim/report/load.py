"""What each link had to carry: the flows of a result laid over the routes they took."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from netsim.profile.timing import covered
from netsim.result import Result
from netsim.topology import Network

MOST_ROUTED = 200_000  # connections whose routes are worked out again; about a second
PS_PER_SECOND = 1e12


@dataclass(frozen=True, eq=False)
class Load:
    """The time in ps that each link needs for what was delivered over it, each byte once; the least the run could take.

    Bytes retransmitted are not counted, so a link stands out for what was asked of it, not for what was wasted on it.
    """

    result: Result

    @cached_property
    def network(self) -> Network:
        """The network of the result, built again."""
        return self.result.scenario.topology.build()

    @cached_property
    def flows(self) -> pd.DataFrame:
        """The flows that arrived, with the hosts they join."""
        flows = self.result.flows[self.result.flows["delivered_ps"] >= 0].reset_index(drop=True)
        scenario = self.result.scenario
        host = np.array(
            scenario.placement.hosts(scenario.trace.ranks, len(self.network.hosts), scenario.seed), np.int32
        )
        return flows.assign(source=host[flows["src"]], target=host[flows["dst"]])

    @cached_property
    def _over(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Which flow crosses which link: two columns, a row of `flows` and a link.

        Empty for too many connections, and where a connection has no one route.
        """
        ends = self.flows[["source", "target", "channel"]]
        pairs, member = np.unique(ends.to_numpy(np.int64), axis=0, return_inverse=True)
        scenario = self.result.scenario
        if not (0 < len(pairs) <= MOST_ROUTED and scenario.routing.is_fixed):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        source, target, channel = pairs.T
        routes = scenario.routing.routes(self.network, source, target, channel, scenario.seed)
        hops = np.diff(routes.first)[member.reshape(-1)]
        row = np.repeat(np.arange(len(self.flows)), hops)
        step = np.arange(len(row)) - np.repeat(np.cumsum(hops) - hops, hops)
        return row, routes.links[routes.first[:-1][member.reshape(-1)][row] + step].astype(np.int64)

    @cached_property
    def needed_ps(self) -> NDArray[np.float64]:
        """The time each link needs, f8[L]."""
        row, link = self._over
        if not len(row):  # not routed again: what the links sent, acknowledgements included
            return self.result.links["bytes"].to_numpy(float) * 8 * PS_PER_SECOND / self.network.rate_bps
        packet = self.result.scenario.packet
        server = self.network.server_of
        inside = server[self.flows["source"]] == server[self.flows["target"]]
        payload = np.where(inside, packet.scale_up_payload, packet.payload)
        wire = self.flows["bytes"].to_numpy(float) + np.ceil(self.flows["bytes"] / payload) * packet.header
        carried = np.bincount(link, weights=wire.to_numpy()[row], minlength=len(self.network.links))
        return carried * 8 * PS_PER_SECOND / self.network.rate_bps

    def through(self, link: int) -> pd.DataFrame:
        """The flows that crossed a link; where the routes were not worked out, those of the host at one of its ends."""
        row, crossed = self._over
        if len(row):
            return self.flows.take(row[crossed == link])
        source, target = int(self.network.source[link]), int(self.network.target[link])
        return self.flows[(self.flows["source"] == source) | (self.flows["target"] == target)]

    def at_once(self, link: int) -> int:
        """The most flows that were under way over a link at one time."""
        flows = self.through(link)
        times = np.concatenate([flows["start_ps"], flows["delivered_ps"]])
        steps = np.repeat([1, -1], len(flows))
        order = np.lexsort((steps, times))  # at one instant the old flow ends before the new one starts
        return int(np.cumsum(steps[order]).max(initial=0))

    @cached_property
    def busy_ps(self) -> int:
        """How long anything was being sent: the time covered by the collectives, without the computing between them."""
        collectives = self.result.collectives
        return int(covered(collectives["start_ps"].to_numpy(), collectives["end_ps"].to_numpy()))

    @cached_property
    def leaves_host(self) -> NDArray[np.bool_]:
        """Links that start at a host, b[L]."""
        return np.asarray(self.network.source < len(self.network.hosts))

    @cached_property
    def enters_host(self) -> NDArray[np.bool_]:
        """Links that end at a host, b[L]."""
        return np.asarray(self.network.target < len(self.network.hosts))
