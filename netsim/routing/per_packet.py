"""PerPacket: what routings have in common that let switches choose a link for every packet."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from netsim.routing.base import ConnectionBatch, Routing
from netsim.routing.ecmp import hashed
from netsim.routing.shortest_paths import Ints


class PerPacket(Routing):
    """Switches choose per packet, data or ACK. A connection's NIC and its NVLink leg are those of its hashed route."""

    @property
    def settings(self) -> dict[str, Any]:
        """What the core must know beside the kind."""
        return {}

    @property
    def is_fixed(self) -> bool:
        """Never."""
        return False

    def choose(
        self, seed: int, node: Ints, connections: ConnectionBatch, count: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """As ecmp does."""
        return hashed(seed, node, connections, count)
