"""Ecmp: every switch hashes the connection to one of its equally short links."""

from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from netsim.routing.base import ConnectionBatch, Routing
from netsim.routing.hashing import hash64
from netsim.routing.shortest_paths import Ints

MOST_QUEUE_PAIRS = 128  # NCCL's limit of NCCL_IB_QPS_PER_CONNECTION


class Ecmp(Routing):
    """Equal-cost multi-path per connection (RFC 2992): all packets of a queue pair take the same route.

    The hash is salted with the switch's number; with one hash for all, a tier that has split the connections would
    leave the next one nothing to split (polarisation). A connection may have several queue pairs: "round_robin" gives
    each whole messages in turn, "split" gives each its share of every message (Meta, SIGCOMM 2024, found
    the first to be better).
    """

    kind: Literal["ecmp"] = "ecmp"
    queue_pairs: Annotated[int, Field(ge=1, le=MOST_QUEUE_PAIRS)] = 1
    spread: Literal["round_robin", "split"] = "round_robin"

    @property
    def queue_pairs_per_connection(self) -> int:
        """As chosen."""
        return self.queue_pairs

    @property
    def splits_messages(self) -> bool:
        """As chosen."""
        return self.spread == "split"

    def choose(
        self, seed: int, node: Ints, connections: ConnectionBatch, count: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """hash64(seed, node, source, target, channel) modulo the number of links."""
        return hashed(seed, node, connections, count)


def hashed(seed: int, node: Ints, connections: ConnectionBatch, count: NDArray[np.int64]) -> NDArray[np.int64]:
    """Hash every connection at its node to one of `count` links, i8[n]."""
    drawn = hash64(seed, node, connections.source, connections.target, connections.channel)
    return (drawn % count.astype(np.uint64)).astype(np.int64)
