"""The rows of the tables, one record dtype each. Times are picoseconds, sizes bytes, ids unsigned."""

import numpy as np

from netsim.transport.registry import CONTROL_STATES, with_states

NEVER = (1 << 62) - 1
NONE = 0xFFFFFFFF  # no such row
CACHE = 8  # entropies that reps keeps for a connection
MOST_HOPS = 8  # of a route: so many links can tell a packet how they are
NODE_BLOCK = 4  # nodes are searched in blocks of 2^4: in most of them nothing is due
WAITED = 10  # binary digits that LINK.waited leaves out, so that it holds a second of a full queue

PACKET = np.dtype([("at", "i8"), ("header", "i8"), ("meta", "i8")])  # on a wire: arrives at; in a queue: came at
PACKET_METADATA = np.dtype(  # what some modes know of the packet beside it
    [
        ("stamp", "i8"),  # when its first bit was sent, ps; an ACK has that of the data packet it answers
        ("entropy", "u4"),
        ("hops", "u4"),  # rows of its telemetry in use
        ("pool_index", "i8"),  # in an inbox: where the packet itself lies, with its metadata
    ]
)
TELEMETRY = np.dtype(  # the INT record that a link appends to a packet
    [
        ("link", "u4"),
        ("spare", "u4"),
        ("at", "i8"),
        ("sent_bytes", "i8"),  # all it had sent before
        ("queue", "i8"),  # bytes of data that waited behind
    ]
)
RING = np.dtype(
    [("head", "i8"), ("tail", "i8"), ("start", "u4"), ("mask", "u4")]
)  # entry i is packet_pool[start + (i & mask)]

LINK = np.dtype(
    [  # what every packet touches, 64 bytes
        ("free_at", "i8"),  # the transmitter is busy until then
        ("backlog", "i8"),  # bytes of data here, the packet in transmission included
        ("leaving", "i4"),  # bytes of the data packet in transmission
        ("control_leaving", "i4"),
        ("in_flight", RING),  # packets under way
        ("sent_bytes", "i8"),
        ("link_class", "u4"),
        ("target", "u4"),
        # what waits, 64 bytes
        ("payload", RING),  # queue of data (at a host: packets passing through)
        ("control", RING),  # queue of ACKs
        ("control_backlog", "i8"),  # as backlog, for the control class
        ("longest", "i8"),  # largest backlog
        # what is touched seldom, 64 bytes
        ("waited", "i8"),  # bytes times the time they waited, in units of 1024 ps
        ("drops", "i8"),
        ("marks", "i8"),
        ("send_ring", RING),  # at a host: connections waiting for their turn
        ("source", "u4"),
        ("round_robin_own_next", "u4"),  # at a host: its own connections are next, then packets passing through
        ("lost", "i8"),  # packets that its wire lost
    ]
)
LINK_CLASS = np.dtype(  # what links of one kind share
    [
        ("ps", "i8"),  # serialisation of b bytes takes ceil(b * ps / per_bytes)
        ("per_bytes", "i8"),
        ("delay", "i8"),
        ("buffer", "i8"),
        ("pausable", "i8"),  # PFC_STATE.is_pausable
        ("headroom", "i8"),  # bytes beyond XOFF that may still come in by it
        ("pause_above", "i8"),  # with flow control: a queue that is longer stops those that add to it,
        ("resume_at", "i8"),  # until it is as short as that
        ("room", "i8"),  # and it holds no more
        ("mark_from", "i8"),  # ECN: Kmin, Kmax, Pmax in units of 2^-30
        ("mark_all", "i8"),
        ("mark_chance", "i8"),
        ("marks_late", "i8"),  # when a packet leaves, not when it comes
        ("strict", "i8"),  # ACKs have a class of their own above data
        ("control_room", "i8"),  # bytes that class holds
        ("loss", "i8"),  # chance that its wire loses a packet, in units of 2^-30
        ("jitter", "i8"),  # of a NIC: a packet may be late by so many of its own times to send, 16 fractional bits
    ]
)
PFC_STATE = np.dtype(  # what priority flow control knows of a link
    [  # what every packet touches, 64 bytes
        ("ingress_occupancy", "i8"),  # at its far end: bytes that came by it and are still in that switch
        ("pause_sent", "u4"),  # at its far end: its sender has been told to stop
        ("tracked", "u4"),  # at its far end: its occupancy is kept in order of time; see core/link/ingress_accounts.py
        ("paused_by", "u4"),  # at its far end: the row of the queue that was too long, or NONE
        ("paused", "u4"),  # at its near end: the sender has stopped
        ("is_above", "u4"),  # at its near end: the queue has been, and is not yet short again
        ("leaving_from", "u4"),  # at its near end: the ingress of the packet in transmission
        ("leaving_row", "u4"),  # and the row of its class: another than this only with several classes
        ("is_pausable", "u4"),  # at its far end: flow control rules what comes by it: not inside a server
        ("pauses", "i8"),
        ("paused_since", "i8"),
        ("paused_ps", "i8"),
        # the rest, 64 bytes
        ("signals", RING),  # PAUSE (header 1) and RESUME (0) on their way to the near end
        ("paced_queue", RING),  # at a NIC: connections that may not send before some time (`at`), in that order
        ("trims", "i8"),  # packets cut to their headers at its near end
        ("headroom_occupancy", "i8"),  # at its far end, with a shared buffer: those of them in the headroom
    ]
)
LINKS_OF_A_NODE = [("first_in", "u4"), ("last_in", "u4"), ("first_out", "u4"), ("last_out", "u4")]
NODE = np.dtype(
    [
        *LINKS_OF_A_NODE,
        ("next_egress", "i8"),  # a batched switch: when the first of its ports sends next
        ("next_pause", "i8"),  # there: when the next PAUSE or RESUME reaches one of them
        ("paused_senders", "i8"),  # there: links whose senders it has told to stop
    ]
)
POOL = np.dtype(  # the memory of a switch
    [
        ("room", "i8"),  # bytes that its ports share; 0: each has a buffer of its own
        ("taken", "i8"),  # bytes of them that are in use
        ("fullest", "i8"),  # and the most that ever were
        ("watched", "i8"),  # in this visit that may change
    ]
)
HOST = np.dtype(
    [
        ("reached", "i8"),  # events before it are done
        ("limit", "i8"),  # none happens at or after it
        ("expires", "i8"),  # the first of `timers`
        ("timers", RING),  # connections, by when their time-outs may be due
    ]
)

CONNECTION = with_states(
    [  # what sending and acknowledging a packet touch, 64 bytes
        ("next", "i8"),  # sequence to send next
        ("acked", "i8"),  # everything before it has arrived
        ("stop", "i8"),  # everything before it may be sent: end of the last message released
        ("cwnd", "i8"),  # congestion window: packets, fixed point
        ("last_progress_at", "i8"),
        ("sending", "u4"),  # message that holds `next`
        ("acking", "u4"),  # message that holds `acked`
        ("queued", "u4"),  # it waits for its turn at the NIC
        ("egress", "u4"),
        ("payload", "u4"),  # bytes in a full packet
        ("control", "u4"),
        # the rest of the sender, 64 bytes
        ("sent", "i8"),  # everything before it has been sent at least once
        ("injected", "i8"),
        ("acks_received", "i8"),
        ("acks_dropped", "i8"),
        ("dropped", "i8"),
        ("timeout", "i8"),
        ("ready_at", "i8"),  # paced: no packet before then
        ("last", "u4"),  # newest message
        ("source", "u4"),
        # the receiver, 40 bytes
        ("expected", "i8"),  # sequence that should come next
        ("received", "i8"),
        ("cnp_at", "i8"),  # no congestion notification before then
        ("receiving", "u4"),  # message that holds `expected`
        ("nak_pending", "u4"),  # a NAK for this gap is under way
        ("back", "u4"),  # link that its ACKs leave by
        ("length", "u4"),  # links of its route
        # what times out and counts that, 24 bytes
        ("armed", "u4"),  # it is among the timers of its host
        ("unused", "u4"),
        ("arrived_at_timeout", "i8"),  # packets known to have arrived at the last time-out
        ("retries", "u4"),  # time-outs since that number last grew
        ("max_retries", "u4"),  # more of them, and it fails
    ],
    CONTROL_STATES,
)
SACK_STATE = np.dtype(  # selective repeat: what a connection knows of packets beyond `acked` and `expected`
    [
        # the sender
        ("got", "i8"),  # packets after `acked` known to have arrived
        ("lost", "i8"),  # packets to be retransmitted
        ("lost_from", "i8"),  # none of them comes before this one
        ("newest", "i8"),  # of the transmissions known to have arrived, the latest
        ("oldest", "i8"),  # nothing under way was sent before this transmission
        # the receiver
        ("ahead", "i8"),  # packets here after `expected`
        ("known", "i8"),  # end of the last message of which something has come
        ("headers", "i8"),  # trimmed packets that have come
        ("asked", "i8"),  # pulls: those due to it so far,
        ("pulled", "i8"),  # and those that have been sent
        # both
        ("limit", "i8"),  # no packet is sent so far beyond `acked`
        ("reordering", "i8"),  # transmissions by which a packet may be overtaken and is not yet taken for lost
        ("window_limited", "i8"),  # ACKs that found it stopped by `limit` alone
        ("start", "i8"),  # its block of `sack_scoreboard`: the sender's,
        ("mask", "i8"),
        ("bitmap_start", "i8"),  # and the receiver's, in words
        ("bitmap_mask", "i8"),
    ]
)
PULLER = np.dtype(  # at a NIC, where receivers pull
    [
        ("pull_ring", RING),  # connections that are due a pull, in turn
        ("ready_at", "i8"),  # no pull before then
    ]
)
MESSAGE = np.dtype(  # a chunk flow on its connection
    [
        ("bytes", "i8"),
        ("end", "i8"),  # sequence after its last packet
        ("flow", "u4"),
        ("waits", "u4"),  # predecessors not yet finished
        ("next", "u4"),  # in its connection's queue, or in its part's list of those waiting for the rank
        ("first_dependent", "u4"),  # rows that wait for it: dependents[first_dependent : next row's first_dependent]
    ]
)
FLOW = np.dtype(  # what one connection carries for one collective
    [
        ("connection", "u4"),
        ("source_part", "u4"),
        ("target_part", "u4"),
        ("collective", "u4"),
        ("started_at", "i8"),
        ("delivered_at", "i8"),
        ("acked_at", "i8"),
        ("retransmitted", "i8"),
        ("marked", "i8"),
        ("dropped", "i8"),
    ]
)
PART = np.dtype(  # one rank's part of one collective
    [
        ("host", "u4"),
        ("entered", "u4"),
        ("first_waiting", "u4"),
        ("last_waiting", "u4"),
        ("incoming", "i8"),  # messages still to be delivered to it
        ("outgoing", "i8"),  # messages that have not yet left it
        ("left_at", "i8"),  # the last bit of what it sends has left, or will have left, by then
        ("finished_at", "i8"),
    ]
)
ECMP_GROUP = np.dtype(  # links that a switch may choose from per packet: ecmp_links[first : first + count]
    [
        ("first", "u4"),
        ("count", "u4"),
        ("turn", "i8"),  # taken in turn: the one that is next
    ]
)
SPRAY_SEGMENT = np.dtype(  # of a connection's route, what lies outside servers: there switches choose per packet
    [
        ("outward", "u4"),  # links before it
        ("source", "u4"),  # the hosts at its ends
        ("target", "u4"),
        ("unused_entropies", "u4"),  # reps: entropies in its cache that were not retransmitted
        ("cached_entropies", "i8"),  # reps: entropies put into its cache so far
        ("spare", "i8"),
    ]
)
FLOWLET = np.dtype([("at", "i8"), ("drawn", "i8")])  # the last packet of a slot, and what its flowlet drew
COLLECTIVE = np.dtype(
    [
        ("unacked", "i8"),  # messages not yet acknowledged
        ("sender_waits", "i8"),  # some row waits for an acknowledgement
    ]
)
FINISHED = np.dtype([("at", "i8"), ("part", "i8")])
SAMPLE = np.dtype(  # what waited at a link, and what has happened there since the beginning
    [
        ("at", "i8"),
        ("bytes", "i8"),
        ("link", "u4"),
        ("spare", "u4"),
        ("sent_bytes", "i8"),  # these of all classes together
        ("marks", "i8"),
        ("drops", "i8"),
        ("paused_ps", "i8"),
    ]
)
