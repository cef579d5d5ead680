"""Pages that need nothing else: their scripts are in them, they ask nothing of the net, and follow light and dark."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from netsim.report.assets import assets, script_json

SCRIPTS = ("base.js", "charts.js")
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"  # no requests
THEME = '<button id="theme" type="button" aria-label="switch between light and dark">light / dark</button>'
CLOSER = "Drag over curves to look closer; a double click shows all again."


@dataclass(frozen=True, slots=True)
class Plot:
    """A chart of `page_assets/charts.js` ("curves", "bars" or "cells"), with the sentence that says what it shows.

    Two halves stand side by side where there is room. `data` and `how` are what the script takes.
    """

    shape: str
    title: str
    data: Sequence[Any]
    how: Mapping[str, Any]
    says: str
    half: bool = True


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
    plots: list[Plot] = []
    body = "\n".join(_section(section, plots) for section in sections)
    tiles = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in facts)
    hint = f'<footer><p class="soft">{CLOSER}</p></footer>\n' if any(each.shape == "curves" for each in plots) else ""
    charts = [{"shape": each.shape, "data": each.data, "how": each.how} for each in plots]
    head = f"<header><h1>{escape(title)}</h1>{THEME}</header>\n<dl>{tiles}</dl>\n"
    return document(title, f'{head}{body}\n{hint}<div id="tip" role="status"></div>', "charts", charts, ["page.js"])


def document(title: str, body: str, name: str, data: Any, scripts: Sequence[str]) -> str:
    """A page around its body, with data under a name for the scripts."""
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<link rel="icon" href="data:,">\n'
        f"<style>{assets('page.css')}</style>\n</head>\n<body>\n{body}\n"
        f'<script type="application/json" id="{name}">{script_json(data)}</script>\n'
        f"<script>(() => {{\n'use strict';\n{assets(*SCRIPTS, *scripts)}\n}})();</script>\n</body>\n</html>\n"
    )


def _section(section: Section, plots: list[Plot]) -> str:
    inner = "\n".join(_part(part, plots) for part in section.parts)
    return f"<section>\n<h2>{escape(section.title)}</h2>\n{inner}\n</section>"


def _part(part: Part, plots: list[Plot]) -> str:
    if isinstance(part, str):
        return f"<p>{escape(part)}</p>"
    if isinstance(part, PageTable):
        return _table(part)
    plots.append(part)
    place = f'<h3>{escape(part.title)}</h3><div id="plot{len(plots) - 1}" class="plot"></div>'
    kind = ' class="half"' if part.half else ""
    return f"<figure{kind}>{place}<figcaption>{escape(part.says)}</figcaption></figure>"


def _table(table: PageTable) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        kinds = (' class="word"' if place in table.words else "" for place in range(len(cells)))
        return "".join(f"<{tag}{kind}>{escape(cell)}</{tag}>" for cell, kind in zip(cells, kinds, strict=True))

    body = "\n".join(f"<tr>{row(cells, 'td')}</tr>" for cells in table.rows)
    head = f"<thead><tr>{row(table.header, 'th')}</tr></thead>"
    return f'<div class="wide"><table>{head}\n<tbody>{body}</tbody></table></div>'
