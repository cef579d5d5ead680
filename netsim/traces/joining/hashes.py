"""Polynomial hashes modulo 2^64 of sequences of numbers: any two stretches are compared at once, by chance wrongly.

What is found by them has to be looked at: two stretches that differ have equal hashes once in 2^64 times, or by design.
"""

import numpy as np

from netsim.traces.joining.columns import Ints

_BASE, _MIX, _ADD = np.uint64(0xD1342543DE82EF95), np.uint64(0x9E3779B97F4A7C15), np.uint64(0x632BE59BD9B4E019)


class Hashed:
    """Two sequences, whose stretches can be compared."""

    def __init__(self, one: Ints, other: Ints) -> None:
        powers = np.full(max(len(one), len(other)) + 1, _BASE)
        powers[0] = 1
        self.powers = np.cumprod(powers, dtype=np.uint64)
        self.one, self.other = self._beginnings(one), self._beginnings(other)

    def _beginnings(self, symbols: Ints) -> Ints:
        mixed = (symbols.astype(np.uint64) + _ADD) * _MIX
        mixed ^= mixed >> np.uint64(29)
        sums = np.cumsum(mixed * self.powers[: len(symbols)], dtype=np.uint64)
        return np.concatenate([np.zeros(1, np.uint64), sums])

    def equal(self, here: Ints, there: Ints, lengths: Ints) -> Ints:
        """Tell which stretches are equal: from places of the one and of the other on, so long."""
        one = (self.one[here + lengths] - self.one[here]) * self.powers[there]
        recorded: Ints = one == (self.other[there + lengths] - self.other[there]) * self.powers[here]
        return recorded

    def runs(self, here: Ints, there: Ints) -> Ints:
        """How long both are equal from places on (by halving)."""
        here, there = np.broadcast_arrays(here, there)
        low, high = np.zeros(len(here), np.int64), np.minimum(len(self.one) - here, len(self.other) - there) - 1
        while (low < high).any():
            middle = (low + high + 1) // 2
            fits = self.equal(here, there, middle)
            low, high = np.where(fits, middle, low), np.where(fits, high, middle - 1)
        return low
