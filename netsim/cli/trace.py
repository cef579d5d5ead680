"""Write a saved run as a timeline to open in ui.perfetto.dev or chrome://tracing.

Every rank is a process: its streams with their collectives, its channels with their flows, arrows for who waited
for whom. The links with the longest queues have counters: queue, rate, marks, drops, pauses.

The run's tables add up chunk flows per connection. With --detail chunks the run is simulated once more to see each:
on its sender's channel, from its first bit sent to its last byte delivered, with arrows from the one it waited for.

\b
  netsim run perm16 --on fat_tree_k4_100g --out results/perm16
  netsim trace results/perm16
  netsim trace results/perm16 -o perm16.perfetto.json.gz
  netsim trace results/perm16 --detail chunks --collective 0
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from netsim.cli import choices, show
from netsim.cli.choices import option

if TYPE_CHECKING:
    from netsim.result import Result
    from netsim.result.chunks import Chunks


class Detail(StrEnum):
    """What a timeline shows beside what the tables of a run hold."""

    CHUNKS = "chunks"


Out = Annotated[Path | None, option("--out -o", "FILE", "Where to write it.  [default: DIR/run.perfetto.json.gz]")]
ChosenDetail = Annotated[
    Detail | None,
    typer.Option("--detail", help="Also every single chunk flow, and which waited for which."),
]
OfCollective = Annotated[
    int | None, option("--collective", "ID", "With --detail chunks: only those of this collective.")
]


def trace(
    folder: choices.SavedRun,
    out: Out = None,
    detail: ChosenDetail = None,
    collective: OfCollective = None,
) -> None:
    from netsim.cli.progress import counting_up
    from netsim.errors import InputError
    from netsim.report.perfetto import write_trace
    from netsim.result import Result

    show.refuse_unwritable(out)
    if collective is not None and detail is None:
        hint = "add --detail chunks: without, all are drawn"
        raise InputError("chunk flows of one collective, and none were asked for", where="--collective", hint=hint)
    file = folder / "run.perfetto.json.gz" if out is None else out
    result = Result.load(folder)
    chunks = _chunks(result, collective) if detail else None
    with counting_up(f"writing {file.name}", "events") as progress:
        write_trace(result, file, progress, chunks)
    print(file)
    show.note("open it in ui.perfetto.dev or chrome://tracing")


def _chunks(result: Result, collective: int | None) -> Chunks:
    """The chunk flows of a run, which is simulated once more before one's eyes; says what is left out."""
    from netsim.cli.progress import watching
    from netsim.cli.work import say_if_compiling
    from netsim.explain.chunks import chunks_of
    from netsim.report.perfetto_chunks import left_out

    say_if_compiling()
    with watching(result.scenario.topology.title) as progress:
        chunks = chunks_of(result, collective=collective, progress=progress)
    if said := left_out(chunks):
        show.note(said if collective is not None else f"{said}; --collective ID draws those of one collective")
    return chunks
