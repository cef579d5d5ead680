"""Which links could have carried what one link did: those at the same step of another path of the same length."""

import numpy as np
from numpy.typing import NDArray

from netsim.topology import Network


class Alternatives:
    """Links of equal cost, found by counting steps."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self._hosts = len(network.hosts)
        self._steps: dict[int, NDArray[np.int64]] = {}

    def of(self, link: int, source: int, target: int) -> NDArray[np.int64]:
        """Links on shortest paths from one host to another that are as far along as `link`, which is one of them.

        That alone if it is on none; no path goes through a third host.
        """
        network = self.network
        out, back = self._from(source), self._from(target)
        step = int(out[network.source[link]])
        same = (out[network.source] == step) & (step + 1 + back[network.target] == out[target]) & (step >= 0)
        inner = (network.source >= self._hosts) | (network.source == source)
        inner &= (network.target >= self._hosts) | (network.target == target)
        found = np.flatnonzero(same & inner & (back[network.target] >= 0))
        return found if link in found else np.array([link])

    def _from(self, host: int) -> NDArray[np.int64]:
        """Steps from a host to each node, there and back alike; -1 where there is no way."""
        if host not in self._steps:
            source, target = self.network.source, self.network.target
            steps = np.full(self._hosts + len(self.network.switches), -1, np.int64)
            steps[host], reached, step = 0, np.array([host]), 0
            while len(reached):
                step += 1
                following = np.unique(target[np.isin(source, reached)])
                following = following[steps[following] < 0]
                steps[following] = step
                reached = following[following >= self._hosts]
            self._steps[host] = steps
        return self._steps[host]
