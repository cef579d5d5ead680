"""What happens to every packet at every queue, written down for whoever asks afterwards why something took so long.

Only where `settings.journaling`: else the tables have one row and nobody touches them. A row of `world.journal` is a
packet that a link begins to send, or that finds no room there, or a PAUSE or RESUME that a sender obeys; the seam takes
the rows away when there may be no room for those of one more visit. A row of `world.stories` is what became of the
message in the same row of `world.messages`.
"""

import numpy as np

from netsim.core.packet_header import INGRESS, PULL
from netsim.kernel import inner

LOST = 128  # beside the flags of a packet in the packet trace: its wire lost it
PARKED = PULL  # of a data packet at its first link: its pace, not its window, said when it was its turn
REFUSED = -1  # `began_at` of a packet that found no room


@inner
def write_down(world, l, came_at, began_at, label, state):
    """A packet that came to link l at one time was begun at another."""
    progress = world.progress[0]
    row = world.packet_trace[progress.journaled]
    row.came_at = came_at
    row.began_at = began_at
    row.label = label
    row.state = state | (np.int64(l) << INGRESS)
    progress.journaled += 1


@inner
def write_pause(world, row, now, stop):
    """The sender of a link stops (1) or goes on (0) with the class whose row this is."""
    write_down(world, row, now, now, -1 - np.int64(stop), 0)


@inner
def is_journal_full(world):
    """Whether one more visit to a node may find no room."""
    return world.progress[0].journaled + world.settings[0].journal_reserve > world.packet_trace.size


@inner
def begin_story(world, m, first, now):
    """A message waits for nothing more: its packets are those from `first` on."""
    story = world.stories[m]
    story.released_at = now
    story.first = first
    story.end = world.messages[m].end
