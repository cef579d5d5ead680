"""What a switch port does with packets that wait: queue disciplines, one file each.

To add one: one file and one line in QUEUES; see CONTRIBUTING.md. This page imports nothing, so that names are listed
at once.
"""

QUEUES = {
    "tail_drop": "a packet that finds its queue full is dropped",
    "red": "ECN marks by the length of the queue, between kmin and kmax at random (RED; RFC 3168)",
    "shared_buffer": "ports share a memory, and a queue may hold alpha times what is left of it (ToN 1998)",
    "codel": "ECN marks when packets have waited too long for a while (RFC 8289)",
    "trim": "a packet that finds no room is cut to its header, which goes ahead of data (SIGCOMM 2017)",
    "strict_priority": "of several classes of traffic the highest that may send does (IEEE 802.1Q, 8.6.8.1)",
    "drr": "classes of traffic take turns, each with a quantum of bytes a round (deficit round robin; SIGCOMM 1995)",
}

__all__ = ["QUEUES"]
