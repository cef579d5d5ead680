"""What happens to every packet at every queue, written down for whoever asks afterwards why something took so long.

Only where `settings.tracing`: else the tables have one row and nobody touches them. A row of `world.packet_trace` is a
packet that a link begins to send, or that finds no room there, or a PAUSE or RESUME that a sender takes; the caller
takes the rows away when there may be no room for those of one more visit. A row of `world.message_timelines` is what
became of the message in the same row of `world.messages`.
"""

import numpy as np

from netsim.core.state.packet_header import INGRESS, PULL
from netsim.kernel import inner

LOST = 128  # beside the meta of a packet in the packet trace: its wire lost it
WAS_PACED = PULL  # of a data packet at its first link: its pace, not its window, said when it was its turn
REFUSED = -1  # `began_at` of a packet that found no room


@inner
def trace_packet(world, link_id, came_at, began_at, header, meta):
    """A packet that came to link l at one time was begun at another."""
    progress = world.progress[0]
    row = world.packet_trace[progress.trace_rows]
    row.came_at = came_at
    row.began_at = began_at
    row.header = header
    row.meta = meta | (np.int64(link_id) << INGRESS)
    progress.trace_rows += 1


@inner
def trace_pause(world, row, now, stop):
    """The sender of a link stops (1) or goes on (0) with the class whose row this is."""
    trace_packet(world, row, now, now, -1 - np.int64(stop), 0)


@inner
def is_trace_full(world):
    """Whether one more visit to a node may find no room."""
    return world.progress[0].trace_rows + world.settings[0].trace_reserve > world.packet_trace.size


@inner
def begin_timeline(world, message_id, first, now):
    """A message waits for nothing more: its packets are those from `first` on."""
    timeline = world.message_timelines[message_id]
    timeline.released_at = now
    timeline.first = first
    timeline.end = world.messages[message_id].end
