"""What a packet carries, in two integers with named accessors.

header: connection 31 | sequence 32        meta: ingress 23 | bytes 24 | hop 8 | flags 8
"""

from netsim.kernel import part

CONNECTION, INGRESS, BYTES, HOP = 32, 40, 16, 8
ACK, MARK, NAK, CNP = 1, 2, 4, 8
TRIMMED = SACK = 16  # of data: only the header has come. Of an ACK: it speaks of one packet, not of all before it
PULL, CREDIT = 32, 64  # of an ACK: receiver-driven; see recovery/receiver_credit.py


@part
def make_header(connection, sequence):
    return (connection << CONNECTION) | sequence


@part
def connection_of(header):
    return header >> CONNECTION


@part
def sequence_of(header):
    return header & 0xFFFFFFFF


@part
def make_meta(wire_bytes, hop, flags):
    return (wire_bytes << BYTES) | (hop << HOP) | flags


@part
def bytes_of(meta):
    return (meta >> BYTES) & 0xFFFFFF


@part
def hop_of(meta):
    return (meta >> HOP) & 0xFF


@part
def is_ack(meta):
    return meta & ACK


@part
def next_hop(meta):
    """An ACK walks its connection's route backwards."""
    return hop_of(meta) + 1 - 2 * is_ack(meta)


@part
def ingress_of(meta):
    """The link a packet came in by, while it waits in a switch that keeps account of that."""
    return meta >> INGRESS


@part
def without_ingress(meta):
    return meta & ((1 << INGRESS) - 1)
