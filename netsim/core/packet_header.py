"""What a packet carries, in two integers with named accessors.

label: connection 31 | sequence 32        state: ingress 23 | bytes 24 | hop 8 | flags 8
"""

from netsim.kernel import part

CONNECTION, INGRESS, BYTES, HOP = 32, 40, 16, 8
ACK, MARK, NAK, CNP = 1, 2, 4, 8
TRIMMED = SACK = 16  # of data: only the header has come. Of an ACK: it speaks of one packet, not of all before it
PULL, CREDIT = 32, 64  # of an ACK: receiver-driven; see transport/ndp.py


@part
def label(connection, sequence):
    return (connection << CONNECTION) | sequence


@part
def connection_of(label):
    return label >> CONNECTION


@part
def sequence_of(label):
    return label & 0xFFFFFFFF


@part
def state(wire_bytes, hop, flags):
    return (wire_bytes << BYTES) | (hop << HOP) | flags


@part
def bytes_of(state):
    return (state >> BYTES) & 0xFFFFFF


@part
def hop_of(state):
    return (state >> HOP) & 0xFF


@part
def is_ack(state):
    return state & ACK


@part
def next_hop(state):
    """An ACK walks its connection's route backwards."""
    return hop_of(state) + 1 - 2 * is_ack(state)


@part
def ingress_of(state):
    """The link a packet came in by, while it waits in a switch that keeps account of that."""
    return state >> INGRESS


@part
def without_ingress(state):
    return state & ((1 << INGRESS) - 1)
