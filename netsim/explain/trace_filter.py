"""What is kept and counted of a packet trace that is too long to keep; rows as in core/observe/packet_trace.py."""

from netsim.core.observe.packet_trace import LOST
from netsim.core.state.packet_header import MARK, TRIMMED, bytes_of, connection_of, hop_of, is_ack, sequence_of
from netsim.core.state.packet_header import ingress_of as link_of  # a packet trace has the link there
from netsim.kernel import entry, part

CAME, BEGAN, HEADER, META = range(4)  # columns of the packet trace
NO_SEQUENCE = 0xFFFFFFFF


@part
def is_sent_data(packet_trace, i):
    """Whether a row is data that a link began to send."""
    return packet_trace[i, HEADER] >= 0 and packet_trace[i, BEGAN] >= 0 and not is_ack(packet_trace[i, META])


@entry
def keep(packet_trace, first, since, until, copied, kept):
    """Copy the signals, and the packets of connections in the times in question; how many rows these are.

    Times of connection c, in order and apart: since[first[c] : first[c + 1]] to `until` there, both included. Of those
    that sent some packet again (copied[c]) also the packets that got lost, at any time.
    """
    n = 0
    for i in range(packet_trace.shape[0]):
        wanted = packet_trace[i, HEADER] < 0
        if not wanted:
            c = connection_of(packet_trace[i, HEADER])
            low, high = first[c], first[c + 1]
            at = max(packet_trace[i, CAME], packet_trace[i, BEGAN])
            while low < high:  # the first that begins later
                middle = (low + high) >> 1
                if since[middle] <= at:
                    low = middle + 1
                else:
                    high = middle
            wanted = low > first[c] and at <= until[low - 1]
            if copied[c] and not wanted:
                wanted = not is_ack(packet_trace[i, META]) and (
                    packet_trace[i, BEGAN] < 0 or packet_trace[i, META] & (TRIMMED | LOST) != 0
                )
        if wanted:
            for k in range(4):
                kept[n, k] = packet_trace[i, k]
            n += 1
    return n


@entry
def count_bytes(packet_trace, bounds, sent):
    """Add up the bytes of data per link and stretch of time: sent[k, link] from bounds[k] to the next (excluded)."""
    k = 0
    for i in range(packet_trace.shape[0]):
        if is_sent_data(packet_trace, i):
            at, meta = packet_trace[i, BEGAN], packet_trace[i, META]
            while k + 1 < bounds.size and bounds[k + 1] <= at:
                k += 1
            while k > 0 and bounds[k] > at:
                k -= 1
            if bounds[k] <= at:
                sent[k, link_of(meta)] += bytes_of(meta)


@entry
def find_senders(packet_trace, first, since, until, links, places, stride, cells, seen):
    """Write down the sequence of the first data of each connection that a link sent in since <= t < until.

    Questions about link l are first[l] to first[l + 1]. places[c, hop]: the place of connection c among those that may
    cross links[c, hop], its link there (-1: any); seen[cells[q] + place] is its sequence in question q.
    """
    for i in range(packet_trace.shape[0]):
        if is_sent_data(packet_trace, i):
            at, header, meta = packet_trace[i, BEGAN], packet_trace[i, HEADER], packet_trace[i, META]
            link, here = link_of(meta), connection_of(header) * stride + hop_of(meta)
            for q in range(first[link], first[link + 1]):
                if since[q] <= at < until[q] and (links[here] == link or links[here] < 0):
                    cell = cells[q] + places[here]
                    if seen[cell] == NO_SEQUENCE:
                        seen[cell] = sequence_of(header)


@entry
def add_waits(packet_trace, first, came_by, since, until, hops, stride, steers, waits):
    """waits[q]: bytes times ps that data waited at link l (first[l] <= q < first[l + 1]), of what came by a link."""
    for i in range(packet_trace.shape[0]):
        if is_sent_data(packet_trace, i):
            meta, began, came = packet_trace[i, META], packet_trace[i, BEGAN], packet_trace[i, CAME]
            hop = hop_of(meta)
            for q in range(first[link_of(meta)], first[link_of(meta) + 1]):
                if hop and came < until[q] and began > since[q]:
                    before = hops[connection_of(packet_trace[i, HEADER]) * stride + hop - 1]
                    if steers or before == came_by[q]:
                        waits[q] += max(0, min(began, until[q]) - max(came, since[q])) * bytes_of(meta)


@entry
def count_marks(packet_trace, first, since, until, known, marks, waits):
    """marks[q, link]: packets of connection c (first[c] <= q < first[c + 1]) that a link marked; how long they waited.

    known[q, sequence & mask]: 1 + a sequence whose packet was marked already at a link before, and its hop there.
    """
    mask = known.shape[1] - 1
    for i in range(packet_trace.shape[0]):
        if is_sent_data(packet_trace, i):
            header, meta = packet_trace[i, HEADER], packet_trace[i, META]
            began, came = packet_trace[i, BEGAN], packet_trace[i, CAME]
            sequence, link = sequence_of(header), link_of(meta)
            for q in range(first[connection_of(header)], first[connection_of(header) + 1]):
                if meta & MARK:
                    before = ((sequence + 1) << 8) + hop_of(meta) - 1
                    if known[q, sequence & mask] != before and since[q] <= came < until[q]:
                        marks[q, link] += 1
                    known[q, sequence & mask] = before + 1
                if hop_of(meta) and began > since[q] and came < until[q]:
                    waits[q, link] += max(0, began - came)
