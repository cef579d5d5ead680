"""Random choices: splitmix64's finaliser to the bit, on whatever seed, link and count."""

from hypothesis import given, settings
from hypothesis import strategies as st

from netsim.kernel import entry
from netsim.kernel.rng import thirty_bits
from tests.core.worlds import plain

WHOLE = (1 << 64) - 1
int64s = st.integers(-(1 << 63), (1 << 63) - 1)


@entry
def drawn(seed, a, b):  # type: ignore[no-untyped-def]
    return thirty_bits(seed, a, b)


def splitmix64(state: int) -> int:
    """The output function of Vigna's splitmix64.c."""
    z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & WHOLE
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WHOLE
    return z ^ (z >> 31)


def test_the_model_gives_the_published_numbers() -> None:
    """The first outputs for seed 1234567, as Rosetta Code lists them."""
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert [splitmix64((1234567 + n * 0x9E3779B97F4A7C15) & WHOLE) for n in range(1, 5)] == published


@settings(deadline=None)
@given(int64s, st.integers(0, 1 << 32), st.integers(0, 1 << 40))
def test_the_kernel_draws_what_the_model_says(seed: int, a: int, b: int) -> None:
    state = seed * 0x9E3779B97F4A7C15 + a * 0xBF58476D1CE4E5B9 + b * 0x94D049BB133111EB
    assert drawn(seed, a, b) == splitmix64(state & WHOLE) >> 34


def test_neighbouring_choices_have_nothing_to_do_with_each_other() -> None:
    draws = [drawn(seed, link, k) for seed in range(4) for link in range(32) for k in range(64)]
    assert len(set(draws)) > 0.999 * len(draws)
    for bit in range(30):
        ones = sum(draw >> bit & 1 for draw in draws)
        assert abs(ones - len(draws) / 2) < 5 * (len(draws) / 4) ** 0.5, bit


def test_the_constants_are_those_of_splitmix64_as_int64() -> None:
    names = plain(thirty_bits).__globals__
    constants = [names[name] & WHOLE for name in ("_GOLDEN", "_FIRST", "_SECOND")]
    assert constants == [0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB]
