"""Dropped copies of what has arrived are no flow's losses. Who looked first may decide, and here it is said where.

The core asks the sender what it has heard of when a switch drops a packet; within a window the two may stand up to
two windows apart. The twin knows both times, so it tells how few and how many drops the core may have counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from netsim.topology import Network
    from tests.reference.state.records import Connection, Flow


@dataclass(frozen=True)
class Between:
    """A count that may be any of these: equal to each of them."""

    least: int
    most: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, int) and self.least <= other <= self.most

    __hash__ = None  # type: ignore[assignment]


def apart_ps(network: Network) -> int:
    """How far apart a switch and a host may stand: two visits of two windows, of the shortest delay and 64 bytes."""
    return 4 * min(link.delay_ps + 64 * 8 * 10**12 // link.rate_bps for link in network.links)


Counted = tuple[int, int, int]  # the least it may be, what it is here, the most


def dropped(connection: Connection, flow: Flow, network: Network) -> Counted:
    """The drops that count as this flow's, by when its sender heard of what."""
    mine = [(sequence, at) for whose, sequence, at in connection.drops if whose is flow]
    apart = apart_ps(network)
    least = sum(_acked(connection, at + apart) <= sequence for sequence, at in mine)
    most = sum(_acked(connection, at - apart) <= sequence for sequence, at in mine)
    return least, flow.dropped, most


def together(counts: list[Counted]) -> int | Between:
    """The sum of counts: a number, unless it depends on who looked first."""
    least, here, most = (sum(each) for each in zip(*counts, strict=True))
    return here if least == most else Between(least, most)


def _acked(connection: Connection, at: int) -> int:
    return max((acked for when, acked in connection.advances if when <= at), default=0)
