"""Queue pairs for the twin: rows on several channels in place of one, and their flows as one again."""

from collections import Counter
from collections.abc import Sequence

from netsim.topology.network import SCALE_UP, Network
from tests.reference.scenarios.networks import Row

Ends = tuple[int, int, int]


class Pairs:
    """Spreads the rows of one collective after the other over `count` queue pairs per connection."""

    def __init__(self, network: Network, count: int, *, split: bool, payload: int) -> None:
        self.network, self.count, self.split, self.payload = network, count, split, payload
        self.sent: Counter[Ends] = Counter()  # messages so far, by connection

    def spread(self, rows: Sequence[Row], hosts: Sequence[int]) -> Sequence[Row]:
        """The rows as they go over queue pairs; position p is host hosts[p]."""
        if self.count == 1:
            return rows
        spread: list[Row] = []
        pieces_of: list[tuple[int, ...]] = []  # by old row
        for source, target, channel, size, after in rows:
            shares = self.shares((hosts[source], hosts[target], channel), size)
            pieces_of.append(tuple(range(len(spread), len(spread) + len(shares))))
            waits = [piece for row in after for piece in (pieces_of[row] if row < len(pieces_of) else ())]
            spread += [(source, target, channel * self.count + pair, share, tuple(waits)) for pair, share in shares]
        return spread

    def shares(self, ends: Ends, size: int) -> list[tuple[int, int]]:
        """Queue pair and bytes of each piece of a message."""
        if self.is_inside(*ends[:2]):
            return [(0, size)]
        if not self.split:
            self.sent[ends] += 1
            return [((self.sent[ends] - 1) % self.count, size)]
        packets = [min(self.payload, size - first) for first in range(0, size, self.payload)]
        shares, taken = [], 0
        for pair in range(self.count):
            mine = len(packets) // self.count + (pair < len(packets) % self.count)
            shares.append((pair, sum(packets[taken : taken + mine])))
            taken += mine
        return [share for share in shares if share[1]]

    def is_inside(self, source: int, target: int) -> bool:
        """Whether NVLink joins both hosts."""
        hosts = self.network.hosts
        return hosts[source].server == hosts[target].server and any(x.kind == SCALE_UP for x in self.network.links)
