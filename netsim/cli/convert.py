"""`netsim convert`: any trace that netsim reads, in the format of another program."""

from __future__ import annotations

from typing import Annotated

import typer

from netsim.cli import choices, show
from netsim.errors import InputError


def convert(
    traces: Annotated[
        list[str],
        typer.Argument(
            metavar="TRACE", help="A shipped trace, a file, several, a folder or 'a pattern*'.", show_default=False
        ),
    ],
    out: Annotated[
        str, typer.Option("--out", metavar="FILE", help="Its end tells the format: .jsonl .et .goal .bin .cm")
    ],
    to: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="FORMAT", help="native, chakra, goal, goal_binary or htsim_cm, whatever the name."
        ),
    ] = None,
    algorithm: choices.Algorithms = [],  # noqa: B006  typer wants the plain default
    chunk: Annotated[
        str | None, typer.Option("--chunk", metavar="SIZE", help="Most bytes of one flow of a collective, e.g. 1MiB.")
    ] = None,
    fill_missing_ranks: choices.FillMissingRanks = False,
    as_json: choices.Json = False,
) -> None:
    """Convert a trace: to netsim's own format, or so that another simulator can run the same job.

    \b
      netsim convert nccl.*.log --out job.jsonl                 netsim's own JSON lines: short, and easy to edit
      netsim convert deepseek_v3_decode_16 --out job.et         Chakra for ASTRA-sim: job.0.et ... job.15.et
      netsim convert job.jsonl --out job.goal                   GOAL for LogGOPSim and ATLAHS (.bin: the binary form)
      netsim convert perm16 --out perm.cm                       a connection matrix for htsim
      netsim convert chakra_traces/ --out job.jsonl.gz          a folder of .et files, packed
      netsim convert job.jsonl --out job.goal --algorithm all_reduce=tree --chunk 4MiB

    GOAL and .cm know no collectives: these become flows that wait for each other, by the algorithm that is named or
    else by netsim's default. What a format cannot hold is said on stderr.
    """
    from netsim.cli.progress import reading
    from netsim.config import load_trace
    from netsim.convert import convert as converted

    named = dict(choices.pair("--algorithm", each, "all_reduce=tree").split("=", 1) for each in algorithm)
    with reading():
        trace = load_trace(traces, fill_missing_ranks=fill_missing_ranks)
    made = converted(trace, out, to, named, _chunk(chunk))
    for note in (*trace.notes, *made.notes):
        show.note(note)
    facts = {
        "format": made.format,
        "ranks": made.trace.ranks,
        "operations": len(made.trace.operations),
        "files": [str(path) for path in made.files],
    }
    if as_json:
        show.as_json({**facts, "notes": [*trace.notes, *made.notes]})
        return
    files = f"{made.files[0]}" + (f" ... {made.files[-1]} ({len(made.files)} files)" if made.files[1:] else "")
    print(f"{files}: {made.format}, {made.trace.ranks:,} ranks, {len(made.trace.operations):,} operations")


def _chunk(text: str | None) -> int | None:
    from netsim.units import parse_size

    if text is None:
        return None
    try:
        size = parse_size(text)
    except InputError as error:
        raise InputError(error.what, where="--chunk", mend=error.mend) from None
    if not size:
        raise InputError("a flow of no bytes", where="--chunk", mend="give at least one byte, e.g. --chunk 1MiB")
    return size
