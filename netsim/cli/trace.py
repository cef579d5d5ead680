"""`netsim trace`: a saved run as a file for Perfetto and chrome://tracing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from netsim.cli import show


def trace(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that 'netsim run --out DIR' wrote.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Where to write it.  [default: DIR/run.perfetto.json.gz]"),
    ] = None,
) -> None:
    """Write a saved run as a timeline to open in ui.perfetto.dev or chrome://tracing.

    Every rank is a process: its streams with their collectives, its channels with their flows, arrows for who waited
    for whom. The links with the longest queues have counters: queue, rate, marks, drops, pauses.

    \b
      netsim run perm16 --on fat_tree_k4_100g --out results/perm16
      netsim trace results/perm16
      netsim trace results/perm16 -o perm16.perfetto.json.gz
    """
    from netsim.cli.progress import counting_up
    from netsim.report.perfetto import write_trace
    from netsim.result import Result

    if out is not None:
        show.check_file(out)
    file = folder / "run.perfetto.json.gz" if out is None else out
    result = Result.load(folder)
    with counting_up(f"writing {file.name}", "events") as progress:
        write_trace(result, file, progress)
    print(file)
    show.note("open it in ui.perfetto.dev or chrome://tracing")
