"""The summary of one result for people: what each operation took, what limited the run, and where it queued."""

from __future__ import annotations

from textwrap import fill

import pandas as pd

from netsim.config.preset_defaults import filled_in
from netsim.report.text import NOTHING, columns, counted, microseconds, number, percent, times
from netsim.result import Result
from netsim.result.totals import worst_links
from netsim.transport.registry import REGISTRY
from netsim.units import format_rate, format_size

MOST_ROWS = 20  # kinds of operations shown one by one
MOST_LINKS = 5
MOST_WIDE = 160  # characters of a line of prose
ALIKE = ["op", "algorithm", "group", "ranks", "bytes"]  # operations that agree in these stand in one row


def summary_text(result: Result) -> str:
    """Everything a person wants to know first, in some twenty lines."""
    parts = [_head(result), operations_text(result.collectives), recorded_text(result.collectives)]
    parts += [result.reason.text, _congestion(result)]
    parts += [_unmoved(result), _headroom(result), _held(result), _classes(result)]
    return "\n\n".join(part for part in parts if part)


def _head(result: Result) -> str:
    summary, scenario = result.summary, result.scenario
    preset = filled_in(scenario.transport, scenario.routing, scenario.topology, scenario.nic)
    return (
        f"{scenario}\n"
        + (f"{fill(f'preset {preset}', MOST_WIDE, subsequent_indent='  ')}\n" if preset else "")
        + f"finished at {microseconds(summary['completion_time_ps'])} us; "
        f"simulated {counted(summary['packet_hops'], 'packet hop')} in {summary['simulate_seconds']:,.2f} s"
    )


def operations_text(collectives: pd.DataFrame) -> str:
    """One row per kind of operation: medians, and the slowest where there are several."""
    if collectives.empty:
        return "no collectives"
    equal = grouped(collectives)
    header = ["operation", "algorithm", "group", "ranks", "bytes", "count", "time us", "slowest us"]
    header += ["algbw GB/s", "busbw GB/s", "ideal us", "slowdown"]
    rows = [_operation(group) for group in equal[:MOST_ROWS]]
    left_out = len(equal) - len(rows)
    more = f"\n({counted(left_out, 'more kind')} of operations took less time)" if left_out else ""
    return f"{columns(header, rows, words=(0, 1, 2))}{more}"


def grouped(collectives: pd.DataFrame) -> list[pd.DataFrame]:
    """Operations that are alike, in order of first appearance; the most time first where there are too many kinds.

    Groups that differ only in their name (the 64 data-parallel groups of a job) fall together when the table is long.
    """
    equal = [group for _, group in collectives.groupby(ALIKE, sort=False)]
    if len(equal) > MOST_ROWS:
        nameless = [column for column in ALIKE if column != "group"]
        equal = [group for _, group in collectives.groupby(nameless, sort=False)]
    if len(equal) > MOST_ROWS:
        equal.sort(key=lambda group: -int(group["time_ps"].sum()))
    return equal


def _operation(group: pd.DataFrame) -> list[str]:
    first, names = group.iloc[0], group["group"].unique()
    several = len(group) > 1
    return [
        str(first["op"]),
        str(first["algorithm"]),
        str(names[0] or NOTHING) if len(names) == 1 else f"{len(names):,} groups",
        f"{first['ranks']:,}",
        format_size(int(first["bytes"])),
        f"{len(group):,}",
        microseconds(group["time_ps"].median()),
        microseconds(group["time_ps"].max()) if several else NOTHING,
        number(group["algbw_gbs"].median()),
        number(group["busbw_gbs"].median()),
        microseconds(group["ideal_ps"].median()),
        times(group["slowdown"].median()),
    ]


def recorded_text(collectives: pd.DataFrame) -> str:
    """Simulated beside recorded time, one row per kind of operation, where the trace holds times of a real run."""
    known = collectives[collectives["recorded_ps"] > 0]
    if known.empty:
        return ""
    equal = grouped(known)
    header = ["against the recorded run", "ranks", "bytes", "count"]
    header += ["recorded us", "simulated us", "ratio", "from", "to"]
    rows = [_recorded(str(group.iloc[0]["op"]), group) for group in equal[:MOST_ROWS]]
    if len(equal) > 1:
        rows.append(_recorded("all", known))
    note = "medians, of what is left once the last rank has come; a ratio above 1 means slower here than there"
    return f"{columns(header, rows)}\n({note})"


def _recorded(name: str, group: pd.DataFrame) -> list[str]:
    """One row: medians, and between what the ratios lie; of all operations together the sums."""
    ratios, first = group["against_recorded"], group.iloc[0]
    whole = name == "all"
    here, there = (
        group[column].sum() if whole else group[column].median() for column in ("together_ps", "recorded_ps")
    )
    return [
        name,
        NOTHING if whole else f"{first['ranks']:,}",
        NOTHING if whole else format_size(int(first["bytes"])),
        f"{len(group):,}",
        microseconds(there),
        microseconds(here),
        times(here / there if whole else ratios.median()),
        times(ratios.min()),
        times(ratios.max()),
    ]


def _congestion(result: Result) -> str:
    summary = result.summary
    counts = [
        f"{counted(summary['packets_delivered'], 'packet')} delivered",
        f"{summary['drops']:,} dropped",
        f"{summary['ecn_marks']:,} marked",
        f"{summary['retransmitted_packets']:,} retransmitted",
    ]
    counts += [f"{summary[name]:,} {name}" for name in ("lost", "trims", "pauses") if summary[name]]
    worst = worst_links(result.links).head(MOST_LINKS)
    if worst.empty:
        return ", ".join(counts)
    header = ["busiest links", "kind", "rate", "busy", "longest queue KiB", "mean KiB", "marked", "dropped"]
    return f"{', '.join(counts)}\n\n{columns(header, [_link(row) for _, row in worst.iterrows()], words=(0, 1))}"


def _unmoved(result: Result) -> str:
    """Where packets were lost under a control that does not slow down for that."""
    summary, transport = result.summary, result.scenario.transport
    gone = summary["drops"] + summary["lost"]
    if REGISTRY[transport.control].reacts_to_loss or not gone:
        return ""
    hint = "" if result.scenario.topology.pfc else "; with PFC (topology.pfc = on) full queues drop nothing"
    return (
        f"{transport.control} takes no notice of losses: {counted(gone, 'packet')} dropped or lost, which only "
        f"{transport.recovery} acts on{hint}"
    )


def _headroom(result: Result) -> str:
    """Where flow control lost what it is there to save."""
    losers = result.links[result.links["drops"] > 0].sort_values(["drops", "id"], ascending=[False, True])
    if result.scenario.topology.pfc is None or losers.empty:
        return ""
    named = [f"{row['source']}->{row['target']} ({row['drops']:,})" for _, row in losers.head(MOST_LINKS).iterrows()]
    more = f" and {counted(len(losers) - len(named), 'more link')}" if len(losers) > len(named) else ""
    return (
        f"flow control is on, and yet {counted(int(losers['drops'].sum()), 'packet')} found no headroom, on the way to "
        f"{', '.join(named)}{more}; raise pfc.headroom, or leave it out"
    )


def _held(result: Result) -> str:
    """Where the window of selective repeat bound."""
    held = result.summary.get("held_by_recovery", 0)
    if not held:
        return ""
    window, acks = result.scenario.transport.selective_repeat.window, result.summary["acks_delivered"]
    return (
        f"transport.selective_repeat.window = {window:,} packets alone kept senders waiting: {percent(held / acks)} of "
        'the ACKs found one stopped by it; make it larger, or leave it out ("auto" has no limit)'
    )


def _classes(result: Result) -> str:
    """What several classes of traffic did, the one that goes first on top."""
    header = ["class", "collectives", "bytes", "dropped", "trimmed", "marked", "pauses", "longest queue KiB"]
    rows = [
        [
            str(row["class"]),
            f"{row['collectives']:,}",
            format_size(int(row["bytes"])),
            *(f"{row[name]:,}" for name in ("drops", "trims", "ecn_marks", "pauses")),
            number(row["max_queue_bytes"] / 1024, 1),
        ]
        for row in reversed(result.summary.get("classes", []))
    ]
    return columns(header, rows) if rows else ""


def _link(row: pd.Series[float]) -> list[str]:
    return [
        f"{row['source']}->{row['target']}",
        str(row["kind"]),
        format_rate(int(row["rate_bps"])),
        percent(row["busy_fraction"]),
        number(row["max_queue_bytes"] / 1024, 1),
        number(row["mean_queue_bytes"] / 1024, 1),
        f"{row['ecn_marks']:,}",
        f"{row['drops']:,}",
    ]
