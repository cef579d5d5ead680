"""Profiles of several jobs side by side: models, numbers of nodes, parallel layouts."""

from collections.abc import Callable, Sequence

import pandas as pd

from netsim.profile import Profile
from netsim.report.profile_text import profile_text, whole
from netsim.report.text import NOTHING, columns, number, percent

Row = tuple[str, list[str]]


def profiles_text(profiles: Sequence[Profile]) -> str:
    """One profile as it is, several side by side."""
    if len(profiles) == 1:
        return profile_text(profiles[0])
    rows = [[name, *cells] for name, cells in side_by_side(profiles)]
    return columns(["", *job_names(profiles)], rows)


def job_names(profiles: Sequence[Profile]) -> list[str]:
    """Name each job by its trace; jobs of one name are told apart by their number."""
    names = [profile.trace.name for profile in profiles]
    return [f"{name} ({place + 1})" if names.count(name) > 1 else name for place, name in enumerate(names)]


def side_by_side(profiles: Sequence[Profile]) -> list[Row]:
    """The rows of the comparison: a name, and a cell for each job."""

    def row(name: str, cell: Callable[[Profile], str]) -> Row:
        return name, [cell(profile) for profile in profiles]

    ops = dict.fromkeys(op for profile in profiles for op in profile.operations["op"])
    return [
        row("ranks", lambda each: f"{each.known_ranks:,}"),
        row("nodes", _nodes),
        row("groups (how many of which size)", _groups),
        row("requests", lambda each: f"{len(each.requests):,}"),
        row("bytes", lambda each: f"{int(each.requests['bytes'].sum()):,}"),
        row("bytes that move", lambda each: f"{each.traffic.bytes:,}"),
        *(line for op in ops for line in _operation(profiles, op)),
        row("leave the server", lambda each: NOTHING if each.leaving_share is None else percent(each.leaving_share)),
        row("duty cycle", lambda each: NOTHING if each.bursts is None else percent(each.bursts.duty_cycle)),
        row(
            "bytes/ms at most",
            lambda each: NOTHING if each.bursts is None else number(each.bursts.peak_bytes_per_ms, 0),
        ),
        row("ranks seen", lambda each: f"{each.read['ranks_seen']:,} of {each.read['ranks']:,}"),
    ]


def _operation(profiles: Sequence[Profile], op: str) -> list[Row]:
    cells = [_cells(profile.operations[profile.operations["op"] == op]) for profile in profiles]
    names = [f"{op} {what}" for what in ("count", "bytes", "median size", "largest")]
    return [(name, list(column)) for name, column in zip(names, zip(*cells, strict=True), strict=True)]


def _cells(found: pd.DataFrame) -> list[str]:
    if found.empty:
        return [NOTHING] * 4
    row = found.iloc[0]
    return [f"{row['count']:,}", f"{row['bytes_total']:,}", whole(row["bytes_median"]), f"{row['bytes_max']:,}"]


def _nodes(profile: Profile) -> str:
    """Servers of the fabric that the job is placed on, else the hosts that its logs name."""
    if profile.server is not None:
        return f"{len(set(profile.server.tolist())):,}"
    return f"{profile.trace.report.hosts:,}" if profile.trace.report.hosts else NOTHING


def _groups(profile: Profile) -> str:
    return ", ".join(f"{many} x {size}" for many, size in profile.parallelism()) or NOTHING
