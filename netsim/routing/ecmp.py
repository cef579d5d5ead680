"""Ecmp: every switch hashes the connection to one of its equally short links."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from netsim.routing.base import Connections, Routing
from netsim.routing.hashing import hash64
from netsim.routing.plane import Ints


class Ecmp(Routing):
    """Equal-cost multi-path per connection (RFC 2992): all packets of a connection take the same route.

    The hash is salted with the switch's number; with one hash for all, a tier that has split the connections would
    leave the next one nothing to split (polarisation).
    """

    kind: Literal["ecmp"] = "ecmp"

    def choose(self, seed: int, node: Ints, connections: Connections, count: NDArray[np.int64]) -> NDArray[np.int64]:
        """hash64(seed, node, source, target, channel) modulo the number of links."""
        hashed = hash64(seed, node, connections.source, connections.target, connections.channel)
        return (hashed % count.astype(np.uint64)).astype(np.int64)
