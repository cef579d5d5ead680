"""A profile for people: how it was read, which operations of which sizes, by whom, to whom, and when."""

from collections.abc import Sequence

import pandas as pd

from netsim.profile import Profile
from netsim.report.text import NOTHING, columns, counted, number, percent
from netsim.units import format_size

MOST_ROWS = 16  # of a table; the rest is counted, and is in the Parquet files


def profile_text(profile: Profile) -> str:
    """The profile as lines and aligned tables."""
    parts = [_head(profile), _table("operations", operation_rows(profile))]
    parts.append(_table("sizes, in powers of two", _sizes(profile)))
    if profile.groups["group"].nunique() > 1:
        parts.append(_table("groups", group_rows(profile)))
    if profile.streams["stream"].nunique() > 1:
        parts.append(_table("streams", _operations(profile.streams, ["stream", "op"])))
    parts += [_ranks(profile), _traffic(profile), _bursts(profile), _read(profile)]
    return "\n\n".join(part for part in parts if part)


def _head(profile: Profile) -> str:
    groups = ", ".join(f"{many} x {size}" for many, size in profile.parallelism())
    facts = {
        "trace": profile.trace.name,
        "ranks": f"{profile.known_ranks:,}",
        "groups": f"{groups} ranks" if groups else "none: point to point only",
        "requests": f"{len(profile.requests):,}",
        "bytes": f"{int(profile.requests['bytes'].sum()):,}",
    }
    return "\n".join(f"{name:<10} {fact}" for name, fact in facts.items())


def operation_rows(profile: Profile) -> list[dict[str, str]]:
    """The operations as cells of a table."""
    return _operations(profile.operations, ["op"])


def group_rows(profile: Profile) -> list[dict[str, str]]:
    """The groups and what runs on them, as cells of a table."""
    return _operations(profile.groups, ["group", "ranks", "op"])


def _operations(table: pd.DataFrame, keys: Sequence[str]) -> list[dict[str, str]]:
    """Rows of a table that `sizes.by` made."""
    return [
        {
            **{key: str(row[key]) for key in keys},
            "count": f"{row['count']:,}",
            "bytes": f"{row['bytes_total']:,}",
            "min": f"{row['bytes_min']:,}",
            "median": whole(row["bytes_median"]),
            "mean": whole(row["bytes_mean"]),
            "p95": f"{row['bytes_p95']:,}",
            "max": f"{row['bytes_max']:,}",
            "one rank's part": whole(row["part_bytes_median"]),
        }
        for row in table.to_dict("records")
    ]


def whole(value: float) -> str:
    """A number of bytes that may be a mean: "9,852,864", "80.5"."""
    return f"{int(value):,}" if float(value).is_integer() else number(value, 1)


def _sizes(profile: Profile) -> list[dict[str, str]]:
    """The histogram, one row per power of two, with how much lies at or below it."""
    rows = []
    requests, size = 0, 0
    every, total = max(len(profile.requests), 1), max(int(profile.requests["bytes"].sum()), 1)
    for _, bin_ in profile.sizes.groupby("from_bytes"):
        requests += int(bin_["count"].sum())
        size += int(bin_["bytes_total"].sum())
        parts = ", ".join(f"{row['op']} {row['count']:,}" for row in bin_.to_dict("records"))
        rows.append(
            {
                "from": format_size(int(bin_["from_bytes"].iloc[0])),
                "to below": format_size(int(bin_["to_bytes"].iloc[0])),
                "count": f"{int(bin_['count'].sum()):,}",
                "requests so far": percent(requests / every),
                "bytes so far": percent(size / total),
                "operations": parts,
            }
        )
    return rows


def _table(
    title: str, rows: list[dict[str, str]], words: Sequence[str] = ("op", "group", "stream", "operations")
) -> str:
    if not rows:
        return ""
    heads = list(rows[0])
    cells = [list(row.values()) for row in rows[:MOST_ROWS]]
    more = f"\n{len(rows) - MOST_ROWS:,} more rows: --out and --json give them all" if len(rows) > MOST_ROWS else ""
    left = [place for place, head in enumerate(heads) if head in words]
    return f"{title}\n{columns(heads, cells, left)}{more}"


def _ranks(profile: Profile) -> str:
    """One line where all ranks do the same, else a table."""
    table = profile.ranks
    same = table.drop(columns="rank").drop_duplicates()
    if len(same) == 1 and len(table) > 1:
        row = same.iloc[0]
        what = f"{counted(int(row['requests']), 'request')}, {row['sent_bytes']:,} bytes sent"
        return f"ranks      each of {len(table):,} does the same: {what}, {row['received_bytes']:,} received"
    rows = [{str(name): f"{value:,}" for name, value in row.items()} for row in table.to_dict("records")]
    return _table("ranks", rows, words=())


def _traffic(profile: Profile) -> str:
    """How much moves, how unevenly, and how much of it leaves the servers."""
    table = profile.traffic.table
    if table.empty:
        return "traffic    none between ranks"
    top = table.iloc[int(table["bytes"].argmax())]
    most = f"most from {top['source']} to {top['target']}: {top['bytes']:,}"
    lines = [f"traffic    {profile.traffic.bytes:,} bytes between {counted(len(table), 'pair')} of ranks; {most}"]
    if profile.leaving_share is not None:
        lines.append(f"leaving    {percent(profile.leaving_share)} of them leave a server of {profile.fabric}")
    lines += [f"left out   {counted(times, 'operation')}: {why}" for why, times in profile.traffic.left_out.items()]
    return "\n".join(lines)


def _bursts(profile: Profile) -> str:
    bursts = profile.bursts
    if bursts is None:
        return "time       the trace holds no recorded times: no bursts to show"
    within = f"{counted(bursts.timed, 'request')} in {number(bursts.span_ms)} ms"
    return (
        f"time       {within}: {counted(bursts.bursts, 'burst')}, duty cycle {percent(bursts.duty_cycle)}\n"
        f"bytes/ms   {number(bursts.mean_bytes_per_ms, 0)} in the mean, {number(bursts.peak_bytes_per_ms, 0)} at most"
    )


def _read(profile: Profile) -> str:
    return "\n".join(f"{kind:<10} {text}" for kind, text in read_lines(profile))


def read_lines(profile: Profile) -> list[tuple[str, str]]:
    """The account of the read, line by line: what was kept, skipped, assumed and found."""
    read = profile.read
    files = f"{counted(read['files'], 'file')} of {read['format'] or NOTHING}"
    files += f", {counted(read['lines'], 'line')}" if read["lines"] else ""
    kept = f"{counted(read['records'], 'record')} kept, {read['cut']:,} cut off"
    entries = [("read", f"{files}: {kept}, {read['ranks_seen']:,} of {read['ranks']:,} ranks seen")]
    entries += [("skipped", f"{times:,} {why}") for why, times in read["skipped"].items()]
    if read["tuning"]:
        entries.append(("tuning", ", ".join(f"{choice} {times:,}" for choice, times in read["tuning"].items())))
    for kind in ("assumed", "findings"):
        entries += [(kind.removesuffix("s"), each) for each in read[kind]]
    known = (*read["assumed"], *read["findings"])
    return entries + [("note", note) for note in profile.trace.notes if note not in known]
