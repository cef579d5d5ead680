"""Where the members of a group sit: which server, which rail."""

from dataclasses import dataclass

import numpy as np

from netsim.collectives.schedule import Int32s
from netsim.errors import InputError


@dataclass(frozen=True, eq=False, slots=True)
class Layout:
    """The server and the rail of each member of a group, position by position.

    `server` and `rail` are i4[n]; a server is an NVLink domain, a rail is the index of the NIC within it.
    """

    server: Int32s
    rail: Int32s

    def __post_init__(self) -> None:
        object.__setattr__(self, "server", np.asarray(self.server, dtype=np.int32))
        object.__setattr__(self, "rail", np.asarray(self.rail, dtype=np.int32))
        if self.server.ndim != 1 or self.server.shape != self.rail.shape:
            what = f"server has shape {self.server.shape} and rail {self.rail.shape}"
            raise InputError(what, where="layout", hint="give one server and one rail per member")

    @classmethod
    def flat(cls, ranks: int) -> "Layout":
        """Every member is a server of its own, on rail 0."""
        return cls(np.arange(ranks, dtype=np.int32), np.zeros(ranks, dtype=np.int32))

    def __len__(self) -> int:
        return len(self.server)

    def rails(self) -> Int32s:
        """The rails in use, ascending."""
        return np.unique(self.rail)

    def servers(self) -> list[Int32s]:
        """The members (positions) of each server by rail; servers in the order in which the group names them."""
        _, first, number = np.unique(self.server, return_index=True, return_inverse=True)
        place = np.argsort(np.argsort(first))[number]
        members = np.lexsort((np.arange(len(self)), self.rail, place)).astype(np.int32)
        return np.split(members, np.cumsum(np.bincount(place))[:-1])

    def spans_servers(self) -> bool:
        """More than one server, and some server holds several members."""
        count = len(np.unique(self.server))
        return 1 < count < len(self)


def chains(layout: Layout, channel: int) -> list[Int32s]:
    """The walk of a channel through each server: it enters on the channel's own rail and goes on in rail order.

    A server without a member on that rail is entered at the next higher rail it has. That is NCCL's alignment of
    channels to NICs: channel c uses NIC c mod rails in every server (connect.cc, search.cc).
    """
    rails = layout.rails()
    entry = rails[channel % len(rails)]
    return [_from_rail(members, layout.rail[members], entry) for members in layout.servers()]


def _from_rail(members: Int32s, rails: Int32s, entry: np.int32) -> Int32s:
    start = int(np.searchsorted(rails, entry)) % len(members)
    return np.roll(members, -start)
