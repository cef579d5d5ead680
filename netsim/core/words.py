"""What a packet carries, in two integers with named accessors.

label: connection 31 | sequence 32        state: bytes 24 | hop 8 | flags 8
"""

from netsim.kernel import part

CONNECTION, BYTES, HOP = 32, 16, 8
ACK, MARK, NAK = 1, 2, 4


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
