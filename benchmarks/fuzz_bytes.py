"""One to eight changes of some bytes: flipped, removed, repeated, cut, other words and numbers, lines swapped."""

import random
from collections.abc import Callable

LARGEST = 200_000  # bytes of a file to begin with
WORDS = (
    *(b"-1", b"0", b"1e999", b"9" * 19, b"9" * 5000, b"NaN", b"null", b"true", b'""', b"[]", b"{}", b"\x00", b"\xff"),
    *(b"[" * 2000, b'{"a":' * 2000, b"\n", b"\r", b" ", b'"', b"\\u0000", b"\xed\xa0\x80", b"18446744073709551615"),
)


def mutated(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """One to eight changes of a file."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        data = rng.choice(CHANGES)(data, others, rng)
    return data[: 4 * LARGEST]


def _span(data: bytes, rng: random.Random, most: int = 200) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.randrange(most))


def _flip(data: bytes, _: list[bytes], rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]


def _remove(data: bytes, _: list[bytes], rng: random.Random) -> bytes:
    start, end = _span(data, rng)
    return data[:start] + data[end:]


def _repeat(data: bytes, _: list[bytes], rng: random.Random) -> bytes:
    start, end = _span(data, rng, 2000)
    return data[:end] + data[start:end] * rng.choice((1, 1, 2, 20)) + data[end:]


def _cut(data: bytes, _: list[bytes], rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _insert(data: bytes, _: list[bytes], rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(WORDS) + data[at:]


def _number(data: bytes, _: list[bytes], rng: random.Random) -> bytes:
    """Another number in place of one."""
    places = [at for at in (rng.randrange(len(data) + 1) for _ in range(50)) if data[at : at + 1].isdigit()]
    if not places:
        return data
    start = end = places[0]
    while data[start - 1 : start].isdigit():
        start -= 1
    while data[end : end + 1].isdigit():
        end += 1
    other = rng.choice((b"0", b"1", b"2", b"-1", b"7", b"4294967296", b"9" * 19, b"1.5", b"null", b"131072"))
    return data[:start] + other + data[end:]


def _swap_lines(data: bytes, _: list[bytes], rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def _splice(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    other = rng.choice(others)
    return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]


Change = Callable[[bytes, list[bytes], random.Random], bytes]
CHANGES: tuple[Change, ...] = (_flip, _remove, _repeat, _cut, _insert, _number, _number, _swap_lines, _splice)
