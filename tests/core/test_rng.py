"""Random choices: splitmix64's finaliser as the twin has it, on whatever seed, link and count."""

from hypothesis import given, settings
from hypothesis import strategies as st

from netsim.kernel import entry
from netsim.kernel.rng import thirty_bits
from tests.reference.state.records import mix

int64s = st.integers(-(1 << 63), (1 << 63) - 1)


@entry
def drawn(seed, a, b):  # type: ignore[no-untyped-def]
    return thirty_bits(seed, a, b)


@settings(deadline=None)
@given(int64s, st.integers(0, 1 << 32), st.integers(0, 1 << 40))
def test_the_kernel_draws_what_the_twin_draws(seed: int, a: int, b: int) -> None:
    """Whose numbers are the published ones: tests/reference/transport/test_dctcp.py."""
    assert drawn(seed, a, b) == mix(seed, a, b)


def test_neighbouring_choices_have_nothing_to_do_with_each_other() -> None:
    draws = [drawn(seed, link, k) for seed in range(4) for link in range(32) for k in range(64)]
    assert len(set(draws)) > 0.999 * len(draws)
    for bit in range(30):
        ones = sum(draw >> bit & 1 for draw in draws)
        assert abs(ones - len(draws) / 2) < 5 * (len(draws) / 4) ** 0.5, bit
