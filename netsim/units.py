"""The one door for units: text such as "400Gb/s", "500ns", "64MiB" becomes bit/s, picoseconds, bytes, and back."""

import re
from fractions import Fraction
from math import gcd
from typing import Annotated, Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, PlainSerializer, ValidationInfo

from netsim.errors import InputError

UNLIMITED = 1 << 60
LARGEST = 1 << 62  # times and rates beyond this would overflow the core's int64 sums
FROM_FILE = {"bare_numbers": False}  # pydantic context: a rate or a time written in a file must carry its unit

PS_PER_SECOND = 10**12
PS_BITS = 8 * PS_PER_SECOND  # a byte in so many ps is one bit/s
_NUMBER = re.compile(r"\s*([+-]?\d[\d_]{0,30}(?:\.\d{1,30})?(?:[eE][+-]?\d{1,2})?)\s*([^\W\d]\S*|)\s*")


class Scale(NamedTuple):
    """One kind of quantity: what it is called, a good example, and its units from small to large."""

    noun: str
    example: str
    units: dict[str, int]
    bare: str = ""  # the unit of a number without one, where that is allowed


_THOUSANDS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_RATE = Scale("rate", "400Gb/s", {f"{p}b/s": n for p, n in _THOUSANDS.items()})
_BYTE_RATE = {f"{p}B/s": 8 * n for p, n in _THOUSANDS.items()}
_TIME = Scale("time", "500ns", {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12})
_SIZES = {"B": 1, "KB": 10**3, "KiB": 1 << 10, "MB": 10**6, "MiB": 1 << 20, "GB": 10**9, "GiB": 1 << 30}
_SIZE = Scale("size", "64MiB", _SIZES | {"TB": 10**12, "TiB": 1 << 40}, bare="B")


def parse_rate(value: str | int) -> int:
    """Read a rate such as "400Gb/s", "3.6Tbps" or "450GB/s" (bytes) as bit/s; an int is bit/s already."""
    rate = _parse(value, _RATE, _RATE.units | _BYTE_RATE, LARGEST)
    if rate == 0:
        raise _refused(value, "is zero, and nothing would ever arrive", _RATE)
    return rate


def parse_time(value: str | int) -> int:
    """Read a time such as "500ns" or "1.5us" as picoseconds; an int is picoseconds already."""
    return _parse(value, _TIME, _TIME.units, LARGEST)


def parse_size(value: str | int) -> int:
    """Read a size such as "64MiB", "416KB" or "4096" as bytes; "unlimited" gives UNLIMITED, an int is bytes already."""
    if isinstance(value, str) and value.strip().lower() == "unlimited":
        return UNLIMITED
    return _parse(value, _SIZE, _SIZE.units, UNLIMITED)


def _parse(value: str | int, scale: Scale, units: dict[str, int], largest: int) -> int:
    """Read a whole, non-negative number of the smallest unit, exactly (no floats on the way)."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        exact = Fraction(int(value))
    elif isinstance(value, str):
        number, unit = _split(value, scale)
        exact = Fraction(number) * _multiplier(unit, value, scale, units)
    else:
        raise _refused(value, f"is no {scale.noun}", scale)
    smallest = next(iter(units))
    if exact < 0:
        raise _refused(value, f"is negative, and a {scale.noun} is not", scale)
    if exact.denominator != 1:
        raise _refused(value, f"is not a whole number of {smallest}", scale)
    if exact > largest:
        raise _refused(value, f"is too large for a {scale.noun}", scale)
    return exact.numerator


def _split(text: str, scale: Scale) -> tuple[str, str]:
    match = _NUMBER.fullmatch(text)
    if not match:
        raise _refused(text, f"is no {scale.noun}", scale)
    number, unit = match[1].replace("_", ""), match[2] or scale.bare
    if not unit:
        raise _refused(text, "has no unit", scale)
    return number, unit


def _multiplier(unit: str, text: str, scale: Scale, units: dict[str, int]) -> int:
    """Find a unit under the ways people write it: Gbps and Gbit/s are Gb/s, kB is KB, µs is us."""
    plain = unit.replace("bit", "b").replace("bps", "b/s").replace("Bps", "B/s").replace("µ", "u").replace("μ", "u")
    plain = "K" + plain[1:] if plain.startswith("k") else plain
    if plain not in units:
        raise _refused(text, f"has the unknown unit {unit!r}", scale, f" (units: {', '.join(units)})")
    return units[plain]


def _refused(value: object, why: str, scale: Scale, more: str = "") -> InputError:
    return InputError(f"{value!r} {why}", hint=f'write a {scale.noun} like "{scale.example}"{more}')


def rate_text(rate_bps: int) -> str:
    """Write a rate exactly, as a file would: "400Gb/s"; `parse_rate` reads it back."""
    return "{}{}".format(*_whole(rate_bps, _RATE))


def time_text(time_ps: int) -> str:
    """Write a time exactly, as a file would: "500ns"; `parse_time` reads it back."""
    return "{}{}".format(*_whole(time_ps, _TIME))


def size_text(size_bytes: int) -> str:
    """Write a size exactly, as a file would: "64MiB" or "unlimited"; `parse_size` reads it back."""
    return "unlimited" if size_bytes == UNLIMITED else "{}{}".format(*_whole(size_bytes, _SIZE))


def format_rate(rate_bps: int) -> str:
    """Write a rate for people: "400 Gb/s"."""
    return _rounded(rate_bps, _RATE.units)


def format_time(time_ps: int) -> str:
    """Write a time for people: "332.8 ns", "5,544.11 us"; microseconds up to one second, as the field writes them."""
    return _rounded(time_ps, {unit: n for unit, n in _TIME.units.items() if unit != "ms"})


def format_size(size_bytes: int) -> str:
    """Write a size for people: "64 MiB", "416 KB" where that is exact, else rounded in binary units: "1.18 MiB"."""
    if size_bytes == UNLIMITED:
        return "unlimited"
    number, unit = _whole(size_bytes, _SIZE)
    binary = {unit: n for unit, n in _SIZE.units.items() if "i" in unit or unit == "B"}
    return f"{number:,} {unit}" if number < 10_000 else _rounded(size_bytes, binary)


def _whole(number: int, scale: Scale) -> tuple[int, str]:
    """Split into the largest unit that leaves a whole number."""
    unit, size = next(
        item for item in reversed(scale.units.items()) if number % item[1] == 0 and (number or item[1] == 1)
    )
    return number // size, unit


def _rounded(number: int, units: dict[str, int]) -> str:
    unit, size = next((item for item in reversed(units.items()) if abs(number) >= item[1]), next(iter(units.items())))
    digits = f"{number / size:,.2f}".rstrip("0").rstrip(".")
    return f"{digits} {unit}"


def picoseconds_per_byte(rate_bps: int) -> tuple[int, int]:
    """Give 8 * 10^12 / rate as a reduced fraction (numerator, denominator), so that every rate is exact."""
    common = gcd(8 * PS_PER_SECOND, rate_bps)
    return 8 * PS_PER_SECOND // common, rate_bps // common


@overload
def serialisation_ps(size_bytes: int, rate_bps: int) -> int: ...
@overload
def serialisation_ps(size_bytes: NDArray[np.int64], rate_bps: int) -> NDArray[np.int64]: ...
def serialisation_ps(size_bytes: int | NDArray[np.int64], rate_bps: int) -> int | NDArray[np.int64]:
    """Time to put bytes on a link: ceil(bytes * 8 * 10^12 / rate) picoseconds, exact for ints and int64 arrays."""
    numerator, denominator = picoseconds_per_byte(rate_bps)
    if not isinstance(size_bytes, np.ndarray):
        return -(-int(size_bytes) * numerator // denominator)
    if (
        size_bytes.size and int(size_bytes.max()) > (2**63 - 1) // numerator
    ):  # an odd rate: go by Python's long integers
        exact: NDArray[np.int64] = (-(-size_bytes.astype(object) * numerator // denominator)).astype(np.int64)
        return exact
    return -(-size_bytes * numerator // denominator)


def _with_unit(value: Any, info: ValidationInfo, noun: str, example: str) -> Any:
    """Refuse a bare number in a file (some other unit may be meant); Python may pass bit/s and picoseconds."""
    if info.context == FROM_FILE and isinstance(value, int) and value != 0:
        raise InputError(f"{value!r} has no unit", hint=f'write a {noun} like "{example}"')
    return value


def _rate(value: Any, info: ValidationInfo) -> int:
    return parse_rate(_with_unit(value, info, _RATE.noun, _RATE.example))


def _time(value: Any, info: ValidationInfo) -> int:
    return parse_time(_with_unit(value, info, _TIME.noun, _TIME.example))


Rate = Annotated[int, BeforeValidator(_rate), PlainSerializer(rate_text, return_type=str, when_used="json")]
Duration = Annotated[int, BeforeValidator(_time), PlainSerializer(time_text, return_type=str, when_used="json")]
Size = Annotated[int, BeforeValidator(parse_size), PlainSerializer(size_text, return_type=str, when_used="json")]
