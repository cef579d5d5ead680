"""A profile as one page of plots and tables; several jobs on one page are set side by side."""

from collections.abc import Sequence

from netsim.profile import Profile
from netsim.report import profile_plots as plots
from netsim.report.page import PageTable, Part, Section, page
from netsim.report.profile_compare import job_names, side_by_side
from netsim.report.profile_text import MOST_ROWS, group_rows, operation_rows, read_lines
from netsim.report.text import counted, number, percent
from netsim.units import format_size


def profile_page(profiles: Sequence[Profile]) -> str:
    """The page as one text of HTML that needs nothing else."""
    names = job_names(profiles)
    if len(profiles) == 1:
        (profile,), (name,) = profiles, names
        return page(f"What {name} asks of the network", _facts(profile), _sections(profiles, names))
    rows = [[row, *cells] for row, cells in side_by_side(profiles)]
    overview = Section("Side by side", [PageTable(["", *names], rows)])
    facts = [(name, f"{counted(len(each.requests), 'request')}") for each, name in zip(profiles, names, strict=True)]
    return page(f"What {len(profiles)} jobs ask of the network", facts, [overview, *_sections(profiles, names)])


def _facts(profile: Profile) -> list[tuple[str, str]]:
    facts = [
        ("ranks", f"{profile.known_ranks:,}"),
        ("ranks seen", f"{profile.read['ranks_seen']:,} of {profile.read['ranks']:,}"),
        ("requests", f"{len(profile.requests):,}"),
        ("bytes asked for", format_size(int(profile.requests["bytes"].sum()))),
        ("bytes that move", format_size(profile.traffic.bytes)),
    ]
    if profile.leaving_share is not None:
        facts.append(("leave their server", percent(profile.leaving_share)))
    if profile.bursts is not None:
        facts.append(("duty cycle", percent(profile.bursts.duty_cycle)))
        facts.append(("recorded time", f"{number(profile.bursts.span_ms)} ms"))
    return facts


def _sections(profiles: Sequence[Profile], names: Sequence[str]) -> list[Section]:
    jobs = list(zip(profiles, names, strict=True))
    operations: list[Part] = [*plots.operations(profiles, names)]
    sizes: list[Part] = [*(plots.histogram(*job) for job in jobs), plots.distribution(profiles, names)]
    traffic: list[Part] = [plot for plot in (plots.matrix(*job) for job in jobs) if plot is not None]
    if len(profiles) == 1:
        operations.append(_table(operation_rows(profiles[0])))
    time = plots.bursts(profiles, names)
    no_time = "No trace here holds recorded times: the order of the operations is known, not when they ran."
    return [
        Section("Operations", operations),
        Section("Sizes", sizes),
        Section("Groups", _group_parts(jobs)),
        Section("Traffic", traffic or ["Nothing moves between ranks."]),
        Section("Time", [time if time is not None else no_time]),
        Section("How it was read", _read_parts(jobs)),
    ]


def _group_parts(jobs: Sequence[tuple[Profile, str]]) -> list[Part]:
    parts: list[Part] = []
    for profile, name in jobs:
        rows = group_rows(profile)
        parts += [name] if len(jobs) > 1 else []
        parts.append(_table(rows[:MOST_ROWS]))
        if len(rows) > MOST_ROWS:
            parts.append(f"{len(rows) - MOST_ROWS:,} more rows are in the tables that --out writes.")
    return parts


def _read_parts(jobs: Sequence[tuple[Profile, str]]) -> list[Part]:
    rows = [[*([name] if len(jobs) > 1 else []), *line] for profile, name in jobs for line in read_lines(profile)]
    heads = [*(["job"] if len(jobs) > 1 else []), "", ""]
    return [PageTable(heads, rows, words=range(len(heads)))]


def _table(rows: Sequence[dict[str, str]]) -> Part:
    if not rows:
        return "None."
    heads = list(rows[0])
    words = [place for place, head in enumerate(heads) if head in ("op", "group")]
    return PageTable(heads, [list(row.values()) for row in rows], words)
