"""One self-contained page with plots: its script is in it, it needs no net, and it follows light and dark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from netsim.report.assets import asset, script_json

Figure = dict[str, Any]  # "data" and "layout", as plotly.js takes them


@dataclass(frozen=True, slots=True)
class Plot:
    """A figure with the sentence that says what it shows; two halves stand side by side where there is room."""

    figure: Figure
    says: str
    half: bool = False


@dataclass(frozen=True, slots=True)
class PageTable:
    """Rows under a header; columns that `words` numbers hold words, the others numbers."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: Sequence[int] = (0,)


Part = Plot | PageTable | str  # a str is a paragraph


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands under it."""

    title: str
    parts: Sequence[Part]


def page(title: str, facts: Sequence[tuple[str, str]], sections: Sequence[Section]) -> str:
    """The page as one text of HTML; whatever names a trace brings are written as text, never as markup."""
    from plotly.offline import get_plotlyjs

    metrics: list[Figure] = []
    body = "\n".join(_section(section, metrics) for section in sections)
    tiles = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in facts)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<style>{asset("page.css")}</style>\n'
        f"<script>{get_plotlyjs()}</script>\n</head>\n<body>\n<header><h1>{escape(title)}</h1>{_THEME}</header>\n<dl>{tiles}</dl>\n"
        f"{body}\n<script>const figures = {script_json(metrics)};\n{_SCRIPT}</script>\n</body>\n</html>\n"
    )


def _section(section: Section, metrics: list[Figure]) -> str:
    inner = "\n".join(_part(part, metrics) for part in section.parts)
    return f"<section>\n<h2>{escape(section.title)}</h2>\n{inner}\n</section>"


def _part(part: Part, metrics: list[Figure]) -> str:
    if isinstance(part, str):
        return f"<p>{escape(part)}</p>"
    if isinstance(part, PageTable):
        return _table(part)
    metrics.append(part.figure)
    name = f"plot{len(metrics) - 1}"
    kind = ' class="half"' if part.half else ""
    return f'<figure{kind}><div id="{name}" class="plot"></div><figcaption>{escape(part.says)}</figcaption></figure>'


def _table(table: PageTable) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        kinds = (' class="word"' if place in table.words else "" for place in range(len(cells)))
        return "".join(f"<{tag}{kind}>{escape(cell)}</{tag}>" for cell, kind in zip(cells, kinds, strict=True))

    body = "\n".join(f"<tr>{row(cells, 'td')}</tr>" for cells in table.rows)
    head = f"<thead><tr>{row(table.header, 'th')}</tr></thead>"
    return f'<div class="wide"><table>{head}\n<tbody>{body}</tbody></table></div>'


_THEME = '<button id="theme" type="button" aria-label="switch between light and dark">light / dark</button>'

_SCRIPT = """
const dark = window.matchMedia("(prefers-color-scheme: dark)");
function colours() {
  const style = getComputedStyle(document.documentElement), of = (name) => style.getPropertyValue(name).trim();
  return { ink: of("--ink"), line: of("--line"), tile: of("--tile") };
}
function dress(layout) {
  const { ink, line, tile } = colours();
  const clear = "rgba(0,0,0,0)", font = { color: ink, family: "system-ui, sans-serif", size: 13 };
  const hoverlabel = { bgcolor: tile, font: { color: ink } };
  const modebar = { bgcolor: clear, color: line, activecolor: ink };
  const dressed = { ...layout, paper_bgcolor: clear, plot_bgcolor: clear, font, hoverlabel, modebar };
  for (const key of Object.keys(layout).filter((key) => /^[xy]axis/.test(key)))
    dressed[key] = { ...layout[key], gridcolor: line, zerolinecolor: line, linecolor: line };
  return dressed;
}
const modeBarButtons = [["toImage", "zoom2d", "pan2d", "resetScale2d"]];
const config = { responsive: true, displaylogo: false, modeBarButtons };
function draw() {
  figures.forEach((figure, number) => Plotly.react("plot" + number, figure.data, dress(figure.layout), config));
}
draw();
dark.addEventListener("change", draw);
document.getElementById("theme").addEventListener("click", () => {
  const root = document.documentElement, now = root.dataset.theme || (dark.matches ? "dark" : "light");
  root.dataset.theme = now === "dark" ? "light" : "dark";
  draw();
});
"""
