"""hash64: the published sequence, avalanche, and independence of the order of columns."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netsim.routing.hashing import hash64, splitmix64


def test_splitmix64_gives_the_published_sequence() -> None:
    """Seed 1234567, as in the reference implementation's own test vectors."""
    step = 0x9E3779B97F4A7C15
    states = np.array([(1234567 + i * step) % 2**64 for i in range(3)], np.uint64)
    assert splitmix64(states).tolist() == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_one_flipped_bit_flips_half_of_the_hash() -> None:
    values = np.arange(2000, dtype=np.uint64)
    for bit in range(0, 64, 7):
        changed = hash64(1, values) ^ hash64(1, values ^ np.uint64(1 << bit))
        assert np.unpackbits(changed.view(np.uint8)).sum() / 2000 == pytest.approx(32, abs=0.5)


@given(st.integers(-(2**70), 2**70), st.integers(0, 10**6), st.integers(0, 10**6))
def test_scalars_and_columns_hash_alike(seed: int, a: int, b: int) -> None:
    columns = hash64(seed, np.array([a, b], np.int32), np.array([b, a], np.int32))
    assert columns.tolist() == [hash64(seed, a, b)[0], hash64(seed, b, a)[0]]
    assert a == b or columns[0] != columns[1]
