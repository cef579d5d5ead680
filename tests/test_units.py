"""Units: exact both ways, and every mistake is refused with a good example."""

from collections.abc import Callable
from fractions import Fraction
from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from netsim import units
from netsim.errors import InputError
from netsim.units import UNLIMITED, Duration, Rate, Size, parse_rate, parse_size, parse_time, serialisation_ps
from tests.inputs import refused

RATES = st.integers(1, 10**14)


READ: dict[Callable[[object], int], dict[object, int]] = {
    parse_rate: {
        "400Gb/s": 400 * 10**9,
        "400 Gbps": 400 * 10**9,
        "3.6Tb/s": 3_600 * 10**9,
        "450GB/s": 3_600 * 10**9,
        "25.78125Gbit/s": 25_781_250_000,
        "10kb/s": 10_000,
        "1_000b/s": 1_000,
        7: 7,
    },
    parse_time: {"500ns": 500_000, "1.5 us": 1_500_000, "2µs": 2_000_000, "1e3ns": 10**6, "0s": 0, "3ps": 3, 9: 9},
    parse_size: {
        "64MiB": 64 << 20,
        "64MB": 64 * 10**6,
        "1.5KiB": 1536,
        "416kB": 416_000,
        "4096": 4096,
        "4096B": 4096,
        "3TB": 3 * 10**12,
        "3TiB": 3 << 40,
        "2GB": 2 * 10**9,
        "2GiB": 2 << 30,
        " Unlimited ": UNLIMITED,
        0: 0,
        np.int64(5): 5,
    },
}


@pytest.mark.parametrize(("parse", "text"), [(parse, text) for parse, texts in READ.items() for text in texts])
def test_what_people_write_is_read(parse: Callable[[object], int], text: object) -> None:
    assert parse(text) == READ[parse][text]


@pytest.mark.parametrize(
    ("parse", "text", "why", "example"),
    [
        (parse_rate, "400", "'400' has no unit", "400Gb/s"),
        (parse_rate, "Gb/s", "is no rate", "400Gb/s"),
        (parse_rate, "0Gb/s", "is zero", "400Gb/s"),
        (parse_rate, "-1Gb/s", "is negative", "400Gb/s"),
        (parse_rate, "1.5b/s", "is not a whole number of b/s", "400Gb/s"),
        (parse_rate, "400Gs", "unknown unit 'Gs'", "400Gb/s"),
        (parse_rate, 1.5, "is no rate", "400Gb/s"),
        (parse_time, "5", "has no unit", "500ns"),
        (parse_time, "-5ns", "is negative", "500ns"),
        (parse_time, "0.5ps", "is not a whole number of ps", "500ns"),
        (parse_time, "1e90s", "too large", "500ns"),
        (parse_time, None, "is no time", "500ns"),
        (parse_size, "1.3KiB", "is not a whole number of B", "64MiB"),
        (parse_size, "64M", "unknown unit 'M'", "64MiB"),
        (parse_size, "", "is no size", "64MiB"),
        (parse_size, True, "is no size", "64MiB"),
        (parse_size, -1, "is negative", "64MiB"),
        (parse_size, "1.5.2MB", "is no size", "64MiB"),
        (parse_size, "9" * 31 + "B", "too large", "64MiB"),
        (parse_size, "9" * 4000 + "B", "is no size", "64MiB"),
    ],
)
def test_mistakes_are_refused_with_an_example(
    parse: Callable[[object], int], text: object, why: str, example: str
) -> None:
    error = refused(parse, text)
    assert why in str(error)
    assert f'"{example}"' in error.hint


@given(RATES, st.integers(0, units.LARGEST), st.integers(0, UNLIMITED))
def test_what_files_hold_is_read_back(rate: int, time: int, size: int) -> None:
    assert parse_rate(units.rate_text(rate)) == rate
    assert parse_time(units.time_text(time)) == time
    assert parse_size(units.size_text(size)) == size


@given(st.integers(0, 10**9), st.sampled_from(["ps", "ns", "us", "ms"]), st.integers(0, 3))
def test_decimals_are_exact(number: int, unit: str, places: int) -> None:
    text = f"{number // 10**places}.{number % 10**places:0{places}d}{unit}" if places else f"{number}{unit}"
    exact = Fraction(number, 10**places) * {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9}[unit]
    if exact.denominator == 1:
        assert parse_time(text) == exact
    else:
        with pytest.raises(InputError):
            parse_time(text)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (units.format_rate(400 * 10**9), "400 Gb/s"),
        (units.format_rate(3_600 * 10**9), "3.6 Tb/s"),
        (units.format_time(5_544_109_440), "5,544.11 us"),
        (units.format_time(332_800), "332.8 ns"),
        (units.format_time(0), "0 ps"),
        (units.format_time(10**12), "1 s"),
        (units.format_size(64 << 20), "64 MiB"),
        (units.format_size(416_000), "416 KB"),
        (units.format_size(1_234_567), "1.18 MiB"),
        (units.format_size(0), "0 B"),
        (units.format_size(UNLIMITED), "unlimited"),
        (units.rate_text(100 * 10**9), "100Gb/s"),
        (units.time_text(500_000), "500ns"),
        (units.size_text(4096), "4KiB"),
    ],
)
def test_written_for_people_and_for_files(written: str, text: str) -> None:
    assert written == text


@pytest.mark.parametrize(
    ("size", "rate", "time"),
    [
        (4160, 100 * 10**9, 332_800),  # htsim.md
        (64, 100 * 10**9, 5_120),
        (1, 600 * 10**9, 14),  # 13.33 ps: whole picoseconds per byte would be 2.5 % wrong
        (3, 600 * 10**9, 40),
        (4160, 3_200 * 10**9, 10_400),
    ],
)
def test_serialisation(size: int, rate: int, time: int) -> None:
    assert serialisation_ps(size, rate) == time


@given(st.lists(st.integers(0, 1 << 44), max_size=5), RATES)
def test_serialisation_is_the_exact_ceiling_for_ints_and_arrays(sizes: list[int], rate: int) -> None:
    exact = [ceil(Fraction(8 * 10**12 * size, rate)) for size in sizes]
    assert [serialisation_ps(size, rate) for size in sizes] == exact
    if all(time < 1 << 63 for time in exact):
        assert serialisation_ps(np.array(sizes, np.int64), rate).tolist() == exact


class Cable(BaseModel):
    rate: Rate
    delay: Duration = parse_time("1us")
    buffer: Size = UNLIMITED


def test_models_take_text_and_whole_inner_units() -> None:
    assert Cable(rate="400Gb/s", delay="500ns", buffer="64KiB") == Cable(rate=400 * 10**9, delay=500_000, buffer=65_536)


def test_models_write_text_that_they_read_back() -> None:
    cable = Cable(rate="400Gb/s")
    assert cable.model_dump(mode="json") == {"rate": "400Gb/s", "delay": "1us", "buffer": "unlimited"}
    assert Cable.model_validate(cable.model_dump(mode="json")) == cable


@pytest.mark.parametrize(("key", "value"), [("rate", 400), ("delay", 1)])
def test_a_file_must_write_the_unit(key: str, value: int) -> None:
    with pytest.raises(ValidationError, match=f"{value} has no unit; write a"):
        Cable.model_validate({"rate": "1Gb/s", key: value}, context=units.FROM_FILE)


def test_a_file_may_write_bytes_and_zero_bare() -> None:
    cable = Cable.model_validate({"rate": "1Gb/s", "delay": 0, "buffer": 4096}, context=units.FROM_FILE)
    assert (cable.delay, cable.buffer) == (0, 4096)
