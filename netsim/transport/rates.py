"""From a rate to the gap between packets, and from a NIC's rate to what a paper says of another."""

from netsim.kernel import part
from netsim.units import PS_BITS


@part
def gap_at(rate, line, wire_bytes):
    """Picoseconds from the start of this packet to that of the next at `rate` bit/s; 0 at line rate."""
    if rate >= line:
        return 0
    return (wire_bytes * PS_BITS + rate - 1) // rate


@part
def scaled(step, line, reference_mbps):
    """A step in bit/s that a paper gives for a line of `reference_mbps`, at this line."""
    return step * (line // 10**6) // reference_mbps
