"""Random choices by counting: a draw depends on the seed and on what is chosen, never on what was drawn before."""

import numpy as np

from netsim.kernel import part

_GOLDEN, _FIRST, _SECOND = (
    -0x61C8864680B583EB,
    -0x40A7B892E31B1A47,
    -0x6B2FB644ECCEEE15,
)  # splitmix64's constants, as int64


@part
def shifted(z, bits):
    """Logical shift right of an int64."""
    return (z >> bits) & ((1 << (64 - bits)) - 1)


@part
def thirty_bits(seed, a, b):
    """A number in [0, 2^30) for the choice numbered (a, b). Finaliser of splitmix64 (Steele, Lea, Flood 2014)."""
    z = seed * _GOLDEN + np.int64(a) * _FIRST + np.int64(b) * _SECOND
    z = (z ^ shifted(z, 30)) * _FIRST
    z = (z ^ shifted(z, 27)) * _SECOND
    return shifted(z ^ shifted(z, 31), 34)
