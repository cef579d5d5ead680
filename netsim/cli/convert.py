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

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from netsim.cli import choices, show
from netsim.cli.choices import argument, option
from netsim.errors import InputError

if TYPE_CHECKING:
    from netsim.traces.convert import Converted


Things = Annotated[list[str], argument("TRACE", "A built-in trace, a file, several, a folder or 'a pattern*'.")]
Out = Annotated[str, option("--out", "FILE", "Its end tells the format: .jsonl .et .goal .bin .cm")]
To = Annotated[
    str | None, option("--to", "FORMAT", "native, chakra, goal, goal_binary or htsim_cm, whatever the name.")
]
Chunk = Annotated[str | None, option("--chunk", "SIZE", "Most bytes of one flow of a collective, e.g. 1MiB.")]


def convert(
    traces: Things,
    out: Out,
    to: To = None,
    algorithm: choices.Algorithms = [],  # noqa: B006  typer wants the plain default
    chunk: Chunk = None,
    fill_missing_ranks: choices.FillMissingRanks = False,
    as_json: choices.Json = False,
) -> None:
    from netsim.cli.progress import reading
    from netsim.config import load_trace
    from netsim.traces.convert import convert as converted

    named = dict(choices.pair("--algorithm", each, "all_reduce=tree").split("=", 1) for each in algorithm)
    with reading():
        trace = load_trace(traces, fill_missing_ranks=fill_missing_ranks)
    most = choices.size("--chunk", chunk)
    if most == 0:
        raise InputError("a flow of no bytes", where="--chunk", hint="give at least one byte, e.g. --chunk 1MiB")
    made = converted(trace, out, to, named, most)
    _tell([*trace.notes, *made.notes], made, as_json)


def _tell(notes: list[str], made: Converted, as_json: bool) -> None:
    """What was assumed and lost, and what was written."""
    for note in notes:
        show.note(note)
    ranks, operations = made.trace.ranks, len(made.trace.operations)
    if as_json:
        files = [str(path) for path in made.files]
        facts = {"format": made.format, "ranks": ranks, "operations": operations, "files": files}
        show.as_json({**facts, "notes": notes})
        return
    named = f"{made.files[0]}" + (f" ... {made.files[-1]} ({len(made.files)} files)" if made.files[1:] else "")
    print(f"{named}: {made.format}, {ranks:,} ranks, {operations:,} operations")
