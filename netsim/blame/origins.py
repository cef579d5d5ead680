"""A guess, made while packets pass by: since when the path through a packet has been on its connection.

netsim.blame.path walks backwards and so needs to remember. This goes forwards with what was sent last: a packet that
had to wait for the one before it, or for an answer, has the origin of that one or of what was answered; any other was
free to go when its turn came. A wrong guess costs time (see passes.py), never truth.
"""

from __future__ import annotations

import numpy as np

from netsim.blame.rows import Column
from netsim.core.tables import NONE
from netsim.core.world_tables import World
from netsim.kernel import entry

ANSWERS = 32  # under way to a sender that are remembered, of each connection; a power of two
MOST_PLACES = 1 << 24  # packets under way that are remembered, of all connections together
FIRST_PLACES, LAST_PLACES = 8, 4096  # and of each, powers of two
FIRST_NOTES = 1 << 16
MOST_NOTES = 1 << 23  # changes of an origin that are written down; then guessing ends
CAME, BEGAN, LABEL, STATE = range(4)  # columns of the journal
SENT, ORIGIN, TOLD, ANSWERED, TOP = range(5)  # columns of `last`


@entry
def follow(journal, ps, per_bytes, delay, last, origins, came, came_from, notes, noted):
    """Read rows of the journal. Returns how many `notes` (connection, sequence, origin) there are, -1 if too many.

    ps, per_bytes, delay: per link. last[c]: when the newest packet of connection c was sent, its origin, the one noted
    last, answers so far, and the end of what was sent. origins[c, sequence & mask]; came[c, n & mask] and came_from:
    when an answer arrives and the origin of what it answers.
    """
    mask, answers = origins.shape[1] - 1, came.shape[1] - 1
    for i in range(journal.shape[0]):
        label, state, began = journal[i, LABEL], journal[i, STATE], journal[i, BEGAN]
        if label < 0 or began < 0 or (state >> 8) & 0xFF:
            continue  # at its first link (an answer: at its last one)
        c, sequence, link = label >> 32, label & 0xFFFFFFFF, state >> 40
        row = last[c]
        sent = began + (((state >> 16) & 0xFFFFFF) * ps[link] + per_bytes[link] - 1) // per_bytes[link]
        if state & 1:
            place = row[ANSWERED] & answers
            came[c, place] = sent + delay[link]
            came_from[c, place] = origins[c, (sequence - 1) & mask]
            row[ANSWERED] += 1
            continue
        turn, origin = journal[i, CAME], row[ORIGIN]
        if sequence >= row[TOP] and turn > row[SENT] and not state & 32:
            origin = turn
            for k in range(answers + 1):
                if came[c, k] == turn:
                    origin = came_from[c, k]
        row[TOP] = max(row[TOP], sequence + 1)
        row[SENT], row[ORIGIN] = sent, origin
        origins[c, sequence & mask] = origin
        if origin != row[TOLD]:
            if noted == notes.shape[0]:
                return -1
            notes[noted, 0], notes[noted, 1], notes[noted, 2] = c, sequence, origin
            noted += 1
            row[TOLD] = origin
    return noted


class Origins:
    """Reads the journal as it comes, and then says what it guesses."""

    def __init__(self) -> None:
        self._last = np.full((0, 5), -1, "i8")
        self._origins = np.zeros((0, LAST_PLACES), "i8")
        self._came = self._came_from = np.zeros((0, ANSWERS), "i8")
        self._notes, self._noted = np.zeros((FIRST_NOTES, 3), "i8"), 0

    def read(self, world: World, journal: Column) -> None:
        """Rows of the journal, i8[n, 4], that follow those read before."""
        self._make_room(len(world.connections), len(journal))
        kind = world.kinds[world.links["kind"]]
        of_links = (np.ascontiguousarray(kind[name]) for name in ("ps", "per_bytes", "delay"))
        more = (self._last, self._origins, self._came, self._came_from, self._notes)
        if self._noted >= 0:
            self._noted = int(follow(journal, *of_links, *more, self._noted))

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
