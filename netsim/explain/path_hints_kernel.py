"""The kernel of path_hints.py: since when the path through each packet may have been on its connection."""

from netsim.core.observe.packet_trace import WAS_PACED
from netsim.core.state.packet_header import bytes_of, connection_of, hop_of, ingress_of, is_ack, sequence_of
from netsim.explain.trace_filter import BEGAN, CAME, HEADER, META
from netsim.kernel import entry

SENT, ORIGIN, TOLD, ANSWERED, TOP = range(5)  # columns of `last`


@entry
def follow(packet_trace, ps, per_bytes, delay, last, origins, came, came_from, notes, recorded):
    """Read rows of the packet trace. Returns how many `notes` (connection, sequence, origin) there are, -1 if too many.

    ps, per_bytes, delay: per link. last[c]: when the newest packet of connection c was sent, its origin, the one noted
    last, answers so far, and the end of what was sent. origins[c, sequence & mask]; came[c, n & mask] and came_from:
    when an answer arrives and the origin of what it answers.
    """
    mask, answers = origins.shape[1] - 1, came.shape[1] - 1
    for i in range(packet_trace.shape[0]):
        header, meta, began = packet_trace[i, HEADER], packet_trace[i, META], packet_trace[i, BEGAN]
        if header < 0 or began < 0 or hop_of(meta):
            continue  # at its first link (an answer: at its last one)
        c, sequence, link = connection_of(header), sequence_of(header), ingress_of(meta)
        row = last[c]
        sent = began + (bytes_of(meta) * ps[link] + per_bytes[link] - 1) // per_bytes[link]
        if is_ack(meta):
            place = row[ANSWERED] & answers
            came[c, place] = sent + delay[link]
            came_from[c, place] = origins[c, (sequence - 1) & mask]
            row[ANSWERED] += 1
            continue
        turn, origin = packet_trace[i, CAME], row[ORIGIN]
        if sequence >= row[TOP] and turn > row[SENT] and not meta & WAS_PACED:
            origin = turn
            for k in range(answers + 1):
                if came[c, k] == turn:
                    origin = came_from[c, k]
        row[TOP] = max(row[TOP], sequence + 1)
        row[SENT], row[ORIGIN] = sent, origin
        origins[c, sequence & mask] = origin
        if origin != row[TOLD]:
            if recorded == notes.shape[0]:
                return -1
            notes[recorded, 0], notes[recorded, 1], notes[recorded, 2] = c, sequence, origin
            recorded += 1
            row[TOLD] = origin
    return recorded
