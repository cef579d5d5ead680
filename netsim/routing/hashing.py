"""hash64: a 64-bit hash in numpy, the same on every machine."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

_GOLDEN, _FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_MASK = (1 << 64) - 1


def splitmix64(value: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """One step of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): every input bit flips about half the output bits."""
    mixed = value + _GOLDEN
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _FIRST
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND
    return mixed ^ (mixed >> np.uint64(31))


def hash64(*parts: ArrayLike | int) -> NDArray[np.uint64]:
    """Hash several integers (scalars or arrays, broadcast together) into u8[n]; their order matters."""
    state = np.zeros(1, np.uint64)
    for part in parts:
        state = splitmix64(state ^ _unsigned(part))
    return state


def _unsigned(part: ArrayLike | int) -> NDArray[np.uint64]:
    """The low 64 bits; a Python integer of any size and sign is welcome (a seed)."""
    if isinstance(part, int):
        return np.array([part & _MASK], np.uint64)
    return np.atleast_1d(np.asarray(part)).astype(np.uint64)
