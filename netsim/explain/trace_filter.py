"""What is kept and counted of a packet trace that is too long to keep; rows as in core/observe/packet_trace.py."""

from netsim.kernel import entry, part

CAME, BEGAN, LABEL, STATE = range(4)  # columns of the packet trace
NO_SEQUENCE = 0xFFFFFFFF


@part
def connection_of(label):
    return label >> 32


@part
def is_sent_data(packet_trace, i):
    """Whether a row is data that a link began to send."""
    return packet_trace[i, LABEL] >= 0 and packet_trace[i, BEGAN] >= 0 and packet_trace[i, STATE] & 1 == 0


@part
def link_of(state):
    return state >> 40


@part
def bytes_of(state):
    return (state >> 16) & 0xFFFFFF


@part
def hop_of(state):
    return (state >> 8) & 0xFF


@entry
def keep(packet_trace, first, since, until, copied, kept):
    """Copy the signals, and the packets of connections in the times in question; how many rows these are.

    Times of connection c, in order and apart: since[first[c] : first[c + 1]] to `until` there, both included. Of those
    that sent some packet again (copied[c]) also the packets that got lost, at any time.
    """
    n = 0
    for i in range(packet_trace.shape[0]):
        wanted = packet_trace[i, LABEL] < 0
        if not wanted:
            c = connection_of(packet_trace[i, LABEL])
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
                wanted = packet_trace[i, STATE] & 1 == 0 and (
                    packet_trace[i, BEGAN] < 0 or packet_trace[i, STATE] & (16 | 128) != 0
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
            at, state = packet_trace[i, BEGAN], packet_trace[i, STATE]
            while k + 1 < bounds.size and bounds[k + 1] <= at:
                k += 1
            while k > 0 and bounds[k] > at:
                k -= 1
            if bounds[k] <= at:
                sent[k, link_of(state)] += bytes_of(state)


@entry
def find_senders(packet_trace, first, since, until, links, places, stride, cells, seen):
    """Write down the sequence of the first data of each connection that a link sent in since <= t < until.

    Questions about link l are first[l] to first[l + 1]. places[c, hop]: the place of connection c among those that may
    cross links[c, hop], its link there (-1: any); seen[cells[q] + place] is its sequence in question q.
    """
    for i in range(packet_trace.shape[0]):
        if is_sent_data(packet_trace, i):
            at, label, state = packet_trace[i, BEGAN], packet_trace[i, LABEL], packet_trace[i, STATE]
            link, here = link_of(state), connection_of(label) * stride + hop_of(state)
            for q in range(first[link], first[link + 1]):
                if since[q] <= at < until[q] and (links[here] == link or links[here] < 0):
                    cell = cells[q] + places[here]
                    if seen[cell] == NO_SEQUENCE:
                        seen[cell] = label & 0xFFFFFFFF


@entry
def add_waits(packet_trace, first, came_by, since, until, hops, stride, steers, waits):
    """waits[q]: bytes times ps that data waited at link l (first[l] <= q < first[l + 1]), of what came by a link."""
    for i in range(packet_trace.shape[0]):
        if is_sent_data(packet_trace, i):
            state, began, came = packet_trace[i, STATE], packet_trace[i, BEGAN], packet_trace[i, CAME]
            hop = hop_of(state)
            for q in range(first[link_of(state)], first[link_of(state) + 1]):
                if hop and came < until[q] and began > since[q]:
                    before = hops[connection_of(packet_trace[i, LABEL]) * stride + hop - 1]
                    if steers or before == came_by[q]:
                        waits[q] += max(0, min(began, until[q]) - max(came, since[q])) * bytes_of(state)


@entry
def count_marks(packet_trace, first, since, until, known, marks, waits):
    """marks[q, link]: packets of connection c (first[c] <= q < first[c + 1]) that a link marked; how long they waited.

    known[q, sequence & mask]: 1 + a sequence whose packet was marked already at a link before, and its hop there.
    """
    mask = known.shape[1] - 1
    for i in range(packet_trace.shape[0]):
        if is_sent_data(packet_trace, i):
            label, state, began, came = (
                packet_trace[i, LABEL],
                packet_trace[i, STATE],
                packet_trace[i, BEGAN],
                packet_trace[i, CAME],
            )
            sequence, link = label & 0xFFFFFFFF, link_of(state)
            for q in range(first[connection_of(label)], first[connection_of(label) + 1]):
                if state & 2:
                    before = ((sequence + 1) << 8) + hop_of(state) - 1
                    if known[q, sequence & mask] != before and since[q] <= came < until[q]:
                        marks[q, link] += 1
                    known[q, sequence & mask] = before + 1
                if hop_of(state) and began > since[q] and came < until[q]:
                    waits[q, link] += max(0, began - came)
