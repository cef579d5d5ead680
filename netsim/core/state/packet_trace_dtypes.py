"""The rows of a packet trace; see observe/packet_trace.py."""

import numpy as np

PACKET_TRACE = np.dtype(  # a packet at a queue
    [
        ("came_at", "i8"),  # to that queue; of an own packet of a NIC: its connection's turn
        ("began_at", "i8"),  # its first bit leaves
        ("header", "i8"),
        ("meta", "i8"),  # with the link in place of the ingress
    ]
)
MESSAGE_TIMELINE = np.dtype(  # what became of a message
    [
        ("released_at", "i8"),
        ("delivered_at", "i8"),
        ("acked_at", "i8"),
        ("first", "i8"),  # sequence of its first packet
        ("end", "i8"),  # and after its last one
    ]
)
