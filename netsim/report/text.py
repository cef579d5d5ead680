"""Aligned columns and plain figures: how numbers look in every report."""

import math
from collections.abc import Sequence

PS_PER_US = 1e6
NOTHING = "-"


def columns(header: Sequence[str], rows: Sequence[Sequence[str]], words: Sequence[int] = (0,)) -> str:
    """Set rows under a header, each column as wide as its widest cell; `words` stand left, numbers right."""
    table = [list(header), *map(list, rows)]
    widths = [max(len(row[place]) for row in table) for place in range(len(header))]
    return "\n".join(_line(row, widths, words) for row in table)


def _line(row: Sequence[str], widths: Sequence[int], words: Sequence[int]) -> str:
    cells = zip(row, widths, strict=True)
    set_out = [cell.ljust(width) if place in words else cell.rjust(width) for place, (cell, width) in enumerate(cells)]
    return "  ".join(set_out).rstrip()


def microseconds(time_ps: float) -> str:
    """A time as a column of microseconds shows it: "5,544.11"."""
    return number(time_ps / PS_PER_US, 2)


def number(value: float, digits: int = 2) -> str:
    """A figure with thousands marked; "-" where there is none."""
    return NOTHING if math.isnan(value) else f"{value:,.{digits}f}"


def plain(value: float) -> float | None:
    """A number as JSON has it: none for NaN."""
    return None if math.isnan(value) else float(value)


def times(ratio: float) -> str:
    """A ratio: "2.88 x"."""
    return NOTHING if math.isnan(ratio) else f"{ratio:,.2f} x"


def percent(fraction: float) -> str:
    """A fraction in percent: "94 %", and with one digit below ten."""
    digits = 1 if 0 < fraction < 0.0995 else 0
    return NOTHING if math.isnan(fraction) else f"{100 * fraction:.{digits}f} %"


def counted(count: int, noun: str) -> str:
    """A count with its noun: "1 packet", "2,000 packets"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def listed(names: Sequence[str]) -> str:
    """Names as a sentence lists them: "queueing", "queueing and pause", "queueing, pause and throttling"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
