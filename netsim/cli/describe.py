"""Describe a topology (counts, rates, bisection) or a trace (ranks, groups, operations, bytes).

\b
  netsim describe rail_optimized_128
  netsim describe my_fabric.toml
  netsim describe deepseek_v3_decode_16
  netsim describe nccl.rank0.log nccl.rank1.log --json
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from netsim.cli import choices, show
from netsim.cli.choices import argument

if TYPE_CHECKING:
    from netsim.topology import Network
    from netsim.traces import Trace


def describe(
    things: Annotated[
        list[str], argument("FILE", "A topology or a trace: a built-in name, a file, or a job's log files.")
    ],
    fill_missing_ranks: choices.FillMissingRanks = False,
    as_json: choices.Json = False,
) -> None:
    facts = _topology_facts(things[0]) if _is_topology(things) else _trace_facts(things, fill_missing_ranks)
    if as_json:
        show.as_json(facts)
        return
    for name, fact in facts.items():
        _print(name, fact)


def _print(name: str, fact: Any) -> None:
    """One line per plain fact, one line per note, one table per list of rows."""
    if not isinstance(fact, list):
        print(f"{name:<20} {format(fact, ',') if isinstance(fact, int) else fact}")
        return
    for text in (each for each in fact if isinstance(each, str)):
        print(f"{'note':<20} {text}")
    rows = [each for each in fact if isinstance(each, dict)]
    if rows:
        print()
        show.table(
            name, list(rows[0]), [list(row.values()) for row in rows], words=["op", "kind", "rate", "delay", "buffer"]
        )


def _is_topology(things: list[str]) -> bool:
    from netsim.config.builtin_inputs import names

    return len(things) == 1 and (Path(things[0]).suffix in (".toml", ".topo") or things[0] in names("topologies"))


def _topology_facts(name: str) -> dict[str, Any]:
    from netsim.config import load_topology
    from netsim.units import format_rate

    topology = load_topology(name)
    network = topology.build()
    return {
        "topology": topology.title,
        "kind": topology.kind,
        **network.counts(),
        "bisection": format_rate(network.bisection_bps()),
        "cables": _cables(network),
    }


def _cables(network: Network) -> list[dict[str, object]]:
    """The links of each kind that are alike, counted in both directions."""
    from netsim.units import format_rate, format_size, format_time

    equal = Counter((link.kind, link.rate_bps, link.delay_ps, link.buffer_bytes) for link in network.links)
    return [
        {
            "kind": kind,
            "links": number,
            "rate": format_rate(rate),
            "delay": format_time(delay),
            "buffer": format_size(buffer),
        }
        for (kind, rate, delay, buffer), number in equal.items()
    ]


def _trace_facts(paths: list[str], fill: bool) -> dict[str, Any]:
    from netsim.cli.progress import reading
    from netsim.config import load_trace

    with reading():
        trace = load_trace(paths, fill_missing_ranks=fill)
    return {
        "trace": trace.name,
        "source": trace.source,
        "ranks": trace.ranks,
        "groups": len(trace.groups),
        "operations in all": len(trace.operations),
        "notes": list(trace.notes),
        "operations": _operations(trace),
    }


def _operations(trace: Trace) -> list[dict[str, object]]:
    """Operations that are alike in kind, size and number of ranks, counted."""
    from netsim.units import format_size, format_time

    equal = Counter((each.op, len(each.ranks), each.bytes, each.duration_ps) for each in trace.operations)
    return [
        {
            "op": op,
            "ranks": ranks,
            "bytes": format_size(size) if size else "",
            "duration": format_time(duration) if duration else "",
            "times": times,
        }
        for (op, ranks, size, duration), times in equal.most_common()
    ]
