"""Draw a saved run as one HTML page that needs no net: fabric, queues over time, collectives, ranks, tables.

Links are coloured by utilisation, longest queue, marks, drops or pauses, over the whole run or at a moment of it.

\b
  netsim run perm16 --on fat_tree_k4_100g --out results/perm16
  netsim report results/perm16
  netsim report results/perm16 --open
  netsim report results/perm16 -o perm16.html
"""

from pathlib import Path
from typing import Annotated

import typer

from netsim.cli import choices, show
from netsim.cli.choices import option


def report(
    folder: choices.SavedRun,
    out: Annotated[
        Path | None, option("--out -o", "FILE", "Where to write the page.  [default: DIR/report.html]")
    ] = None,
    open_it: Annotated[bool, typer.Option("--open", help="Show the page in the browser.")] = False,
) -> None:
    from netsim.report.run_page import run_page
    from netsim.result import Result
    from netsim.writing import write_text

    show.refuse_unwritable(out)
    page = folder / "report.html" if out is None else out
    write_text(page, run_page(Result.load(folder)))
    print(page)
    if open_it:
        import webbrowser

        webbrowser.open(page.absolute().as_uri())
