"""Several results side by side: times, ratios to the first, congestion, and a sentence on which is better and why."""

import math
from collections.abc import Callable, Sequence

import pandas as pd

from netsim.errors import InputError
from netsim.report.bottleneck import slowdown_of
from netsim.report.costs import SAME, Cost, cost_rows, price_verdict
from netsim.report.text import NOTHING, columns, microseconds, number, percent, times
from netsim.result import Result
from netsim.result.totals import worst_links
from netsim.units import format_size

MOST_OPERATIONS = 12

KIND = ["op", "ranks", "bytes"]


def compare_text(
    results: Sequence[Result], names: Sequence[str] | None = None, costs: Sequence[Cost] | None = None
) -> str:
    """Set results side by side; `names` head the columns, by default what tells the results apart.

    `costs` are those of each result's fabric, where they are wanted.
    """
    if not results:
        raise InputError("nothing to compare", hint="give at least one result")
    heads = list(names) if names is not None else names_of(results)

    def row(name: str, cell: Callable[[Result], str]) -> list[str]:
        return [name, *map(cell, results)]

    rows = [
        row("finished at, us", lambda result: microseconds(result.summary["completion_time_ps"])),
        row(f"  against {heads[0]}", lambda result: times(_ratio(result, results[0]))),
        row("slowdown (time / ideal)", lambda result: times(slowdown_of(result))),
        *operation_rows([operations_of(result) for result in results]),
        row("busiest link", _busiest),
        row("longest queue", lambda result: format_size(int(result.links["max_queue_bytes"].max()))),
        row("packets marked", lambda result: f"{result.summary['ecn_marks']:,}"),
        row("packets dropped", lambda result: f"{result.summary['drops']:,}"),
        row("packets retransmitted", lambda result: f"{result.summary['retransmitted_packets']:,}"),
        row("limited by", lambda result: result.reason.kind),
        row("  at", _place),
    ]
    rows += cost_rows(costs) if costs is not None else []
    table = columns([results[0].scenario.trace.name, *heads], rows)
    return f"{table}\n\n{_verdict(results, heads, costs)}"


def _place(result: Result) -> str:
    found = result.reason
    return found.link or (NOTHING if found.rank is None else f"rank {found.rank}")


def _verdict(results: Sequence[Result], names: Sequence[str], costs: Sequence[Cost] | None) -> str:
    """Say which result finished first, how far behind the others are, what held the slowest up, and what they cost."""
    times_ps = [int(result.summary["completion_time_ps"]) for result in results]
    best, *others = sorted(range(len(results)), key=lambda place: times_ps[place])
    best_us = microseconds(times_ps[best])
    if not others:
        return f"{names[best]} finishes at {best_us} us. {results[best].reason.text}"
    slower = [place for place in others if _ratio(results[place], results[best]) > 1 + SAME]
    same = [place for place in others if place not in slower]
    if not slower:
        near = f" worth the name: all finish within {SAME:.0%} of {best_us} us"
        equal = f": all finish at {best_us} us" if len(set(times_ps)) == 1 else near
        lines = [f"No difference{equal}. {results[best].reason.text}"]
    else:
        behind = [
            f"{names[place]} takes {_ratio(results[place], results[best]):,.2f} times as long" for place in slower
        ]
        beside = f", no difference to {' and '.join(names[place] for place in same)}" if same else ""
        lines = [f"{names[best]} is fastest ({best_us} us){beside}; {', '.join(behind)}."]
        lines.append(f"{names[slower[-1]]}: {results[slower[-1]].reason.text}")
    lines.append(price_verdict(names, times_ps, costs or [], [best, *same]))
    return "\n".join(line for line in lines if line)


def names_of(results: Sequence[Result]) -> list[str]:
    """The topology of each result; where that does not tell them apart, also the choices that differ."""
    names = [result.scenario.topology.title for result in results]
    for choice in CHOICES:
        if len(set(names)) < len(names) and len({choice(result) for result in results}) > 1:
            names = [f"{name} {choice(result)}" for name, result in zip(names, results, strict=True)]
    if len(set(names)) < len(names):
        return [f"{name} #{number}" for number, name in enumerate(names, 1)]
    return names


CHOICES: tuple[Callable[[Result], str], ...] = (
    lambda result: result.scenario.transport.control,
    lambda result: result.scenario.routing.kind,
    lambda result: ",".join(f"{op}={name}" for op, name in result.scenario.algorithms.items()) or "default",
    lambda result: f"seed {result.scenario.seed}",
)


def _ratio(result: Result, first: Result) -> float:
    base = first.summary["completion_time_ps"]
    return result.summary["completion_time_ps"] / base if base else math.nan


def operations_of(result: Result) -> pd.DataFrame:
    """A row per kind of operation: op, ranks, bytes, count, time_ps (all together), median_ps, busbw_gbs (median)."""
    equal = result.collectives.groupby(KIND, sort=False, as_index=False)
    return equal.agg(
        count=("time_ps", "size"),
        time_ps=("time_ps", "sum"),
        median_ps=("time_ps", "median"),
        busbw_gbs=("busbw_gbs", "median"),
    )


def operation_rows(tables: Sequence[pd.DataFrame]) -> list[list[str]]:
    """Two rows per kind of operation, with a cell for each table: time and bandwidth; what takes most time first."""
    spent = pd.concat(tables).groupby(KIND, sort=False)["time_ps"].max().sort_values(ascending=False, kind="stable")
    by_kind = [table.set_index(KIND) for table in tables]
    rows = []
    for kind in spent.index[:MOST_OPERATIONS]:
        op, ranks, size = kind
        found = [table.loc[kind] if kind in table.index else None for table in by_kind]
        median = [NOTHING if each is None else microseconds(each["median_ps"]) for each in found]
        bandwidth = [NOTHING if each is None else number(each["busbw_gbs"]) for each in found]
        rows += [[f"{op} {format_size(int(size))}, {ranks} ranks, us", *median], ["  busbw, GB/s", *bandwidth]]
    return rows


def _busiest(result: Result) -> str:
    worst = worst_links(result.links)
    if worst.empty:
        return NOTHING
    return f"{worst.iloc[0]['source']}->{worst.iloc[0]['target']} {percent(worst.iloc[0]['busy_fraction'])}"
