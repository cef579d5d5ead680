"""A small chart as an SVG file: groups of bars over words, lines over numbers, both with ranges.

Apart from the pages' `page_assets/charts.js`, since a file for a paper or a README is on white, runs no script, and is
written where there is no browser.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

COLOURS = (  # Okabe and Ito: told apart by everybody; and grey and black
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#888888", "#222222",
)  # fmt: skip
MOST_DOTS = 60  # of a line: more would hide it
WIDTH, LEFT, RIGHT, TOP, FLOOR = 760, 78, 742, 64, 300  # px; the frame
LEGEND_ROW, LETTER, SMALL = 20, 6.4, 12  # px: of the legend, of a letter, of the text
GROUP = 0.78  # of the room of an x value that its bars take
INK, SOFT, LINE = "#222222", "#555555", "#dddddd"

Mark = tuple[float, float, float] | None  # middle, low, high (equal where there is no range)


@dataclass(frozen=True, slots=True)
class Chart:
    """What is drawn: x values as text (and as numbers, where they are), and a mark of each line at each of them.

    repeats: the most runs behind one mark.
    """

    title: str
    x_title: str
    y_title: str
    x: Sequence[str]
    lines: Mapping[str, Sequence[Mark]]
    numbers: Sequence[float] | None = None
    repeats: int = 1


def svg(chart: Chart) -> str:
    """The whole picture as text."""
    top = _round_up(max((mark[2] for marks in chart.lines.values() for mark in marks if mark), default=1.0))
    legend, rows = _legend(list(chart.lines))
    parts = [_text(16, 26, chart.title, size=15), _text(16, 46, chart.y_title, fill=SOFT), *_grid(top)]
    draw = _bars if chart.numbers is None else _curves
    parts += [*draw(chart, top), _text((LEFT + RIGHT) / 2, FLOOR + 42, chart.x_title, anchor="middle", fill=SOFT)]
    parts += legend
    height = FLOOR + 62 + LEGEND_ROW * rows
    note = f"mean and 95 % interval of {chart.repeats} seeds" if chart.repeats > 1 else ""
    parts.append(_text(RIGHT, 46, note, size=11, anchor="end", fill=SOFT))
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" fill="none">'
    body = "\n".join(part for part in parts if part)
    return f'{head}\n<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>\n{body}\n</svg>\n'


def _step(value: float) -> float:
    """1, 2, 2.5, 5 or 10 times a power of ten, of which five reach a value."""
    unit = 10.0 ** math.floor(math.log10(value / 5) + 1e-9)
    return next(each * unit for each in (1, 2, 2.5, 5, 10) if each * unit * 5 >= value * (1 - 1e-9))


def _round_up(value: float) -> float:
    """Where the grid ends: at a whole step."""
    return _step(value) * math.ceil(value / _step(value) - 1e-9) if value > 0 else 1.0


def _grid(top: float) -> list[str]:
    step, parts = _step(top), []
    for number in range(round(top / step) + 1):
        y = _y(number * step, top)
        parts.append(f'<path d="M{LEFT} {y}H{RIGHT}" stroke="{LINE}"/>')
        parts.append(_text(LEFT - 8, y + 4, f"{number * step:,.10g}", anchor="end"))
    return parts


def _bars(chart: Chart, top: float) -> list[str]:
    room = (RIGHT - LEFT) / max(len(chart.x), 1)
    wide = min(room * GROUP / max(len(chart.lines), 1), 70)
    parts = []
    for place, name in enumerate(chart.x):
        middle = LEFT + room * (place + 0.5)
        parts += _label(middle, name, room)
        for number, marks in enumerate(chart.lines.values()):
            x = middle + wide * (number - len(chart.lines) / 2)
            parts += _bar(x, wide, marks[place], top, COLOURS[number % len(COLOURS)])
    return parts


def _bar(x: float, wide: float, mark: Mark, top: float, colour: str) -> list[str]:
    if mark is None:
        return []
    y = _y(mark[0], top)
    bar = f'<rect x="{x + 1:.1f}" y="{y}" width="{wide - 2:.1f}" height="{round(FLOOR - y, 1)}" fill="{colour}"/>'
    above = _y(mark[2], top) - 5
    value = _text(x + wide / 2, above, _figure(mark[0]), size=11, anchor="middle") if wide >= 26 else ""
    return [bar, _range(x + wide / 2, mark, top, INK), value]


def _curves(chart: Chart, top: float) -> list[str]:
    numbers = list(chart.numbers or [])
    low, high = min(numbers), max(numbers)
    inset = 30
    width = (RIGHT - LEFT - 2 * inset) / (high - low or 1)
    at = [LEFT + inset + (number - low) * width for number in numbers]
    parts = []
    room = (RIGHT - LEFT) / max(len(at), 1)
    for x, name in zip(at, chart.x, strict=True):
        parts += _label(x, name, max(room, 30))
    for number, marks in enumerate(chart.lines.values()):
        colour = COLOURS[number % len(COLOURS)]
        known = sorted((x, mark) for x, mark in zip(at, marks, strict=True) if mark)
        points = " ".join(f"{x:.1f},{_y(mark[0], top)}" for x, mark in known)
        parts.append(f'<polyline points="{points}" stroke="{colour}" stroke-width="2" stroke-linejoin="round"/>')
        dots = known if len(known) <= MOST_DOTS else []
        parts += [f'<circle cx="{x:.1f}" cy="{_y(mark[0], top)}" r="3.5" fill="{colour}"/>' for x, mark in dots]
        parts += [_range(x, mark, top, colour) for x, mark in known]
    return parts


def _range(x: float, mark: tuple[float, float, float], top: float, colour: str) -> str:
    _, low, high = mark
    if not high > low:
        return ""
    below, above = _y(max(low, 0), top), _y(high, top)
    path = f"M{x:.1f} {below}V{above}M{x - 4:.1f} {above}h8M{x - 4:.1f} {below}h8"
    return f'<path d="{path}" stroke="{colour}" stroke-width="1.3"/>'


def _label(x: float, name: str, room: float) -> list[str]:
    """A value below the axis, in two lines where one has not enough room."""
    most = max(int(room / LETTER), 4)
    lines = [name] if len(name) <= most else _halves(name)
    shown = [line if len(line) <= most else f"{line[: most - 1]}…" for line in lines]
    return [_text(x, FLOOR + 16 + 13 * row, line, size=11, anchor="middle") for row, line in enumerate(shown)]


def _halves(name: str) -> list[str]:
    """Cut a name at the space or underscore nearest to its middle."""
    cuts = [place for place, letter in enumerate(name) if letter in " _"]
    if not cuts:
        return [name]
    cut = min(cuts, key=lambda place: abs(place - len(name) / 2))
    return [name[: cut + 1].rstrip(), name[cut + 1 :]]


def _legend(names: Sequence[str]) -> tuple[list[str], int]:
    """A square and a name for each line, and how many rows they take; nothing for one line."""
    x, row, parts = float(LEFT), 0, list[str]()
    for number, name in enumerate(names):
        width = 24 + LETTER * len(name) + 22
        if x > LEFT and x + width > RIGHT:
            x, row = float(LEFT), row + 1
        y, colour = FLOOR + 60 + LEGEND_ROW * row, COLOURS[number % len(COLOURS)]
        parts.append(f'<rect x="{x:g}" y="{y - 9}" width="12" height="12" fill="{colour}"/>')
        parts.append(_text(x + 18, y + 1, name))
        x += width
    return (parts, row + 1) if len(names) > 1 else ([], 0)


def _y(value: float, top: float) -> float:
    return round(FLOOR - (FLOOR - TOP) * value / top, 1)


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:,.3g}"


def _text(x: float, y: float, words: str, *, size: int = SMALL, anchor: str = "start", fill: str = INK) -> str:
    if not words:
        return ""
    place = f'x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{fill}"'
    return f"<text {place}>{escape(words)}</text>"
