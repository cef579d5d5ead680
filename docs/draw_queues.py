"""Draw docs/queues.svg, the picture in the README: the longest queues of a permutation over a small fat tree.

python docs/draw_queues.py
"""

from pathlib import Path
from xml.sax.saxutils import escape

import pandas as pd

import netsim

PICTURE = Path(__file__).with_name("queues.svg")
TRACE, FABRIC, CONTROL, SEED = "perm16", "fat_tree_k4_100g", "dctcp", 1
SHOWN = 6  # queues
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")  # Okabe and Ito: told apart by everybody
WIDTH, HEIGHT = 760, 300
LEFT, RIGHT, TOP, BOTTOM = 58, 590, 44, 252  # the frame
KIB, US = 1024, 10**6


def main() -> None:
    """Simulate, draw, write."""
    PICTURE.write_text(picture(netsim.simulate(TRACE, FABRIC, transport=CONTROL, seed=SEED)), encoding="utf-8")


def picture(result: netsim.Result) -> str:
    """The SVG text: a line per queue, and the lengths at which ECN begins and is certain."""
    longest = result.queues.groupby("link")["bytes"].max().sort_values(ascending=False, kind="stable").index[:SHOWN]
    ecn = netsim.load_topology(FABRIC).ecn
    end_us = -(-result.summary["completion_time_ps"] // (50 * US)) * 50
    top_kib = -(-ecn.kmax // (50 * KIB)) * 50
    plane = Plane(end_us, top_kib)
    title = f"netsim run {TRACE} --on {FABRIC} --preset {CONTROL}: the {SHOWN} longest queues (KiB) over time (us)"
    parts = [text(LEFT, 24, title, size=14), *plane.grid()]
    parts += plane.level(ecn.kmin, "marks begin (kmin)") + plane.level(ecn.kmax, "marks all (kmax)")
    for place, (link, colour) in enumerate(zip(longest, COLOURS, strict=True)):
        parts.append(plane.line(result.queues[result.queues["link"] == link], colour))
        row = result.links.iloc[link]
        y = TOP + 44 + 18 * place
        parts.append(f'<path d="M{RIGHT + 12} {y - 4}h18" stroke="{colour}" stroke-width="3"/>')
        parts.append(text(RIGHT + 36, y, f"{row['source']} → {row['target']}"))
    body = "\n".join(parts)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" fill="none">'
    )
    return f'{head}\n<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>\n{body}\n</svg>\n'


def text(x: float, y: float, words: str, *, size: int = 12, anchor: str = "start", fill: str = "#222222") -> str:
    """One piece of text."""
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" fill="{fill}">{escape(words)}</text>'


class Plane:
    """Time to the right up to `end_us`, bytes upward up to `top_kib`."""

    def __init__(self, end_us: int, top_kib: int) -> None:
        self.end_us, self.top_kib = end_us, top_kib

    def x(self, time_us: float) -> float:
        """Where a time lies."""
        return round(LEFT + (RIGHT - LEFT) * time_us / self.end_us, 1)

    def y(self, kib: float) -> float:
        """Where a length lies."""
        return round(BOTTOM - (BOTTOM - TOP) * kib / self.top_kib, 1)

    def grid(self) -> list[str]:
        """Thin lines with numbers, every 50 us and every 50 KiB."""
        parts = []
        for time_us in range(0, self.end_us + 1, 50):
            parts.append(f'<path d="M{self.x(time_us)} {TOP}V{BOTTOM}" stroke="#eeeeee"/>')
            parts.append(text(self.x(time_us), BOTTOM + 18, str(time_us), anchor="middle"))
        for kib in range(0, self.top_kib + 1, 50):
            parts.append(f'<path d="M{LEFT} {self.y(kib)}H{RIGHT}" stroke="#dddddd"/>')
            parts.append(text(LEFT - 8, self.y(kib) + 4, str(kib), anchor="end"))
        parts.append(text((LEFT + RIGHT) / 2, BOTTOM + 38, "simulated time, us", anchor="middle"))
        return parts

    def level(self, size: int, words: str) -> list[str]:
        """A dashed line across at so many bytes."""
        y = self.y(size / KIB)
        dashed = f'<path d="M{LEFT} {y}H{RIGHT}" stroke="#777777" stroke-dasharray="5 4"/>'
        return [dashed, text(RIGHT + 12, y + 4, words, fill="#555555")]

    def line(self, samples: pd.DataFrame, colour: str) -> str:
        """The queue of one link; it is empty wherever there is no sample."""
        every = pd.RangeIndex(0, self.end_us)
        held = samples.set_index(samples["time_ps"] // US)["bytes"].reindex(every, fill_value=0)
        steps = " ".join(f"{self.x(at):g},{self.y(size / KIB):g}" for at, size in held.items())
        return f'<polyline points="{steps}" stroke="{colour}" stroke-width="1.6" stroke-linejoin="round"/>'


if __name__ == "__main__":
    main()
