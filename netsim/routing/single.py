"""Single: always the equally short link of the lowest number, so that every route is known beforehand."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from netsim.routing.base import ConnectionBatch, Routing
from netsim.routing.shortest_paths import Ints


class Single(Routing):
    """One path only: what a fabric without multi-path routing does, and handy for tests."""

    kind: Literal["single"] = "single"

    def choose(
        self, seed: int, node: Ints, connections: ConnectionBatch, count: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """The first candidate."""
        return np.zeros_like(count)
