"""The one row of settings, which no kernel changes, and the one row of progress."""

import numpy as np

from netsim.queues.registry import QUEUE_SETTINGS
from netsim.transport.registry import CONTROL_SETTINGS

PROGRESS = np.dtype(  # what kernels have come to
    [
        ("next_sample_at", "i8"),  # at the queues
        ("first_sample_at", "i8"),  # the first: when something began
        ("finished", "i8"),  # rows of `finished` in use
        ("failed", "i8"),  # 1 + the connection that gave up first,
        ("failed_at", "i8"),  # and when
        ("pool_used", "i8"),
        ("scoreboard_used", "i8"),
        ("windows", "i8"),
        ("node_steps", "i8"),
        ("late_entries", "i8"),
        ("samples", "i8"),  # rows of `samples` in use
        ("unsettled", "i8"),  # rows of `unsettled` in use
        ("sample_times", "i8"),  # at a network that was not idle
        ("sample_calls", "i8"),
        ("trace_rows", "i8"),  # rows of `packet_trace` in use
        ("interrupted", "i8"),  # not by a kernel: Python wants `advance` to come back
    ]
)
SETTINGS = np.dtype(  # what no kernel changes
    [
        ("hosts", "i8"),
        ("connections", "i8"),
        ("lookahead", "i8"),  # ps: nothing sent now arrives sooner
        # ps: nothing sent now has an answer sooner, where the network has two colours; else the lookahead
        ("lookahead_across", "i8"),
        ("stride", "i8"),  # entries of `hops` per connection
        ("header_bytes", "i8"),
        ("ack_bytes", "i8"),
        ("max_packet_bytes", "i8"),
        ("pool_reserve", "i8"),  # entries of `packet_pool` that a visit to one node may need beyond what doubles
        ("paced", "i8"),  # some control paces its senders
        ("lossless", "i8"),  # priority flow control is on
        ("xoff", "i8"),
        ("xon", "i8"),
        ("event_driven", "i8"),  # switches go from event to event (core/switch/event_driven.py)
        ("timestamped", "i8"),  # packets have metadata
        ("telemetered", "i8"),  # and telemetry
        ("seed", "i8"),
        ("per_packet_routing", "i8"),  # 0, or how switches choose a link per packet
        ("in_turn", "i8"),  # spray: the links of a group in turn, not at random
        ("gap", "i8"),  # flowlet: ps
        ("slots", "i8"),  # of a switch's table of flowlets
        ("entropies", "i8"),  # reps: how many different ones there are
        ("selective", "i8"),  # selective repeat, not go-back-N
        ("lossy", "i8"),  # some wire loses packets
        ("jittery", "i8"),  # NICs have jitter
        ("receiver_credit", "i8"),  # receivers pull
        ("cnp_interval", "i8"),  # ps: a receiver notifies a sender at most once in so long; 0: never
        ("nak_per_packet", "i8"),  # go-back-N: 1 if every packet beyond a gap brings a NAK, 0 if the first does
        ("classes", "i8"),  # of traffic; see core/link/priorities.py
        ("ports", "i8"),  # links: classes above the first have more rows
        ("pooling", "i8"),  # ports of a switch share a buffer
        ("sample_interval", "i8"),
        ("max_sample_times", "i8"),
        ("tracing", "i8"),  # what happens to packets is traced
        ("trace_reserve", "i8"),  # rows that a visit to one node may need
        ("disciplined", "i8"),  # queues have disciplines beyond those that are always on
        ("queues", QUEUE_SETTINGS),
        ("controls", CONTROL_SETTINGS),
    ]
)
