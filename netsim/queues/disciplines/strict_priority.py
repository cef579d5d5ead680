"""Strict priority: the highest class that may send does (IEEE 802.1Q, 8.6.8.1)."""

from netsim.kernel import part


@part
def next_class(settings, states, row, stride, head_bytes):
    for k in range(head_bytes.size - 1, 0, -1):
        if head_bytes[k]:
            return k
    return 0
