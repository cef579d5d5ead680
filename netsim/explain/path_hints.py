"""A guess, made while packets pass by: since when the path through a packet has been on its connection.

netsim.explain.path walks backwards and so needs to remember. This goes forwards with what was sent last: a packet that
had to wait for the one before it, or for an answer, has the origin of that one or of what was answered; any other was
free to go when its turn came. A wrong guess costs time (see multi_pass.py), never truth.
"""

import numpy as np

from netsim.core.state.dtypes import NONE
from netsim.core.state.world import World
from netsim.explain.path_hints_kernel import ANSWERED, TOP, follow
from netsim.explain.trace_columns import Column

ANSWERS = 32  # under way to a sender that are remembered, of each connection; a power of two
MOST_PLACES = 1 << 24  # packets under way that are remembered, of all connections together
FIRST_PLACES, LAST_PLACES = 8, 4096  # and of each, powers of two
FIRST_NOTES = 1 << 16
MOST_NOTES = 1 << 23  # changes of an origin that are written down; then guessing ends


class Origins:
    """Reads the packet trace as it comes, and then says what it guesses."""

    def __init__(self) -> None:
        self._last = np.full((0, 5), -1, "i8")
        self._origins = np.zeros((0, LAST_PLACES), "i8")
        self._came = self._came_from = np.zeros((0, ANSWERS), "i8")
        self._notes, self._noted = np.zeros((FIRST_NOTES, 3), "i8"), 0

    def read(self, world: World, packet_trace: Column) -> None:
        """Rows of the packet trace, i8[n, 4], that follow those read before."""
        self._make_room(len(world.connections), len(packet_trace))
        kind = world.link_classes[world.links["link_class"]]
        of_links = (np.ascontiguousarray(kind[name]) for name in ("ps", "per_bytes", "delay"))
        more = (self._last, self._origins, self._came, self._came_from, self._notes)
        if self._noted >= 0:
            self._noted = int(follow(packet_trace, *of_links, *more, self._noted))

    def _make_room(self, connections: int, rows: int) -> None:
        if connections > len(self._last):
            count = max(connections, 2 * len(self._last))
            places = FIRST_PLACES
            while 2 * places <= LAST_PLACES and 2 * places * count <= MOST_PLACES:
                places *= 2
            self._last = _grown(self._last, (count, 5), -1)
            self._last[:, [ANSWERED, TOP]] = np.maximum(self._last[:, [ANSWERED, TOP]], 0)
            self._origins = _grown(self._origins[:, :places], (count, places), 0)
            self._came = _grown(self._came, (count, ANSWERS), -1)
            self._came_from = _grown(self._came_from, (count, ANSWERS), 0)
        if self._noted + rows > len(self._notes) < MOST_NOTES:
            size = min(MOST_NOTES, max(2 * len(self._notes), self._noted + rows))
            self._notes = _grown(self._notes, (size, 3), 0)

    def sort(self) -> None:
        """All has been read: get ready to answer, and forget the rest."""
        notes = self._notes[: max(self._noted, 0)]
        self._keys = (notes[:, 0] << 32) | notes[:, 1]
        order = np.argsort(self._keys, kind="stable")
        self._keys, self._since = self._keys[order], notes[order, 2]
        del self._last, self._origins, self._came, self._came_from, self._notes

    def of(self, connection: int, sequence: int) -> int:
        """Since when the path through that packet may have been on its connection, ps; -1: no idea."""
        assert sequence < NONE
        place = int(np.searchsorted(self._keys, (connection << 32) | sequence, side="right")) - 1
        if place < 0 or self._keys[place] >> 32 != connection:
            return -1
        return int(self._since[place])


def _grown(table: Column, shape: tuple[int, int], value: int) -> Column:
    grown = np.full(shape, value, "i8")
    grown[: len(table), : table.shape[1]] = table
    return grown
