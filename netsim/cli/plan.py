"""Plan a collective: who sends how much to whom, after what.

\b
  netsim plan all_reduce --algorithm ring --ranks 8 --bytes 64MiB
  netsim plan all_reduce --algorithm tree --on rail_optimized_16 --bytes 1MiB
  netsim plan all_to_all --ranks 4 --bytes 64KiB --json
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from netsim.cli import choices, show
from netsim.cli.choices import argument, option
from netsim.errors import InputError

if TYPE_CHECKING:
    from netsim.collectives import Layout, Schedule

COLUMNS = ["row", "source", "target", "channel", "offset", "bytes", "after"]


def plan(
    op: Annotated[str, argument("OP", "E.g. all_reduce; 'netsim list' shows all.")],
    ranks: Annotated[int | None, option("--ranks", "N", "Ranks; with --on, by default all hosts.", min=1)] = None,
    size: Annotated[str | None, option("--bytes", "SIZE", "The full buffer, e.g. 64MiB.")] = None,
    algorithm: Annotated[str | None, option("--algorithm", "NAME", "E.g. ring or tree.")] = None,
    on: Annotated[str | None, option("--on", "TOPOLOGY", "Lay the ranks on its servers and rails.")] = None,
    root: Annotated[int, option("--root", "RANK", "For broadcast, reduce, gather, scatter.")] = 0,
    channels: Annotated[int | None, option("--channels", "N", "Rings or trees at once.", min=1)] = None,
    chunk: Annotated[str | None, option("--chunk", "SIZE", "Most bytes of one chunk flow.")] = None,
    rows: Annotated[int, option("--rows", "N", "How many chunk flows to print.", min=0)] = 20,
    as_json: choices.Json = False,
) -> None:
    from netsim import collectives

    layout = _layout(on, ranks)
    request = collectives.Request(
        op=op,
        ranks=len(layout),
        bytes=_size(op, size),
        root=root,
        channels=channels,
        chunk_bytes=choices.size("--chunk", chunk),
        layout=layout,
    )
    schedule = collectives.plan(request, algorithm)
    flows = [_row(schedule, number) for number in range(min(rows, len(schedule)))]
    if as_json:
        show.as_json({**_facts(schedule), "chunk_flows": flows})
        return
    for name, fact in _facts(schedule).items():
        print(f"{name:<20} {fact if isinstance(fact, str) else format(fact, ',')}")
    print()
    show.table("", COLUMNS, [list(row.values()) for row in flows])


def _layout(on: str | None, ranks: int | None) -> Layout:
    """Where the ranks sit: on the servers of a topology, packed from host 0; else each on a server of its own."""
    from netsim.collectives import Layout

    if on is None and ranks is None:
        raise InputError("how many ranks?", where="--ranks", hint="add --ranks 8, or --on rail_optimized_16 for all")
    if on is None:
        return Layout.flat(ranks or 0)
    from netsim.config import load_topology
    from netsim.config.scenario import Placement

    network = load_topology(on).build()
    hosts = list(Placement().hosts(ranks or len(network.hosts), len(network.hosts), seed=0))
    return Layout(network.server_of[hosts], network.rail_of[hosts])


def _size(op: str, text: str | None) -> int:
    if text is None and op != "barrier":
        raise InputError("how much?", where="--bytes", hint="add --bytes 64MiB")
    return choices.size("--bytes", text) or 0


def _facts(schedule: Schedule) -> dict[str, str | int]:
    import numpy as np

    sent = np.bincount(schedule.source, weights=schedule.bytes, minlength=schedule.ranks)
    return {
        "op": schedule.op,
        "algorithm": schedule.algorithm,
        "ranks": schedule.ranks,
        "channels": len(np.unique(schedule.channel)),
        "chunk flows": len(schedule),
        "bytes in all": int(schedule.bytes.sum()),
        "most sent by a rank": int(sent.max()),
        "least sent by a rank": int(sent.min()),
    }


def _row(schedule: Schedule, number: int) -> dict[str, Any]:
    columns = {name: int(getattr(schedule, name)[number]) for name in COLUMNS[1:-1]}
    return {"row": number, **columns, "after": schedule.predecessors(number).tolist()}
