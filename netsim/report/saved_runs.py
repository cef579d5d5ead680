"""Two saved runs: what changed in the scenario, which collectives got faster or slower, and which links."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from netsim.config.scenario import Scenario
from netsim.report.compare import compare_text
from netsim.report.page import PageTable, Part, Section, page
from netsim.report.text import NOTHING, columns, counted, microseconds, times
from netsim.result import Result
from netsim.units import format_size

MOST_ROWS = 10
ALIKE = ["op", "group", "ranks", "bytes"]
LINK = ["source", "target"]
Changes = list[tuple[str, str, str]]  # key, before, after


def changes_text(results: Sequence[Result], names: Sequence[str]) -> list[str]:
    """Paragraphs on what differs between the first run and the second; nothing unless there are two."""
    if len(results) != 2:
        return []
    return [_titled(title, says, table) for title, says, table in _parts(results, names)]


def changes_json(results: Sequence[Result], names: Sequence[str]) -> dict[str, Any]:
    """Each run's summary by name; for two runs also what changed."""
    found: dict[str, Any] = {name: result.summary for name, result in zip(names, results, strict=True)}
    if len(results) != 2:
        return found
    changed = [dict(zip(("key", "before", "after"), each, strict=True)) for each in scenario_changes(*results)]
    collectives, links = collective_changes(*results), link_changes(*results)
    tables = {"collectives": collectives.to_dict("records"), "links": links.to_dict("records")}
    return {**found, "changes": {"scenario": changed, **tables}}


def changes_page(results: Sequence[Result], names: Sequence[str]) -> str:
    """The comparison of saved runs as a page."""
    _, _, words = compare_text(results, names).partition("\n\n")
    sections = [Section("Verdict", words.splitlines())]
    for title, says, changes in _parts(results, names) if len(results) == 2 else []:
        parts: list[Part] = [says] if changes is None else [says, PageTable(changes[0], changes[1:])]
        sections.append(Section(title, parts))
    facts = [
        (name, f"{microseconds(result.summary['completion_time_ps'])} us")
        for name, result in zip(names, results, strict=True)
    ]
    return page(" against ".join(names), facts, sections)


def scenario_changes(first: Result, second: Result) -> Changes:
    """The keys of the scenario that differ, as a scenario file writes them; the trace by its content."""
    before, after = _flat(_tables(first.scenario)), _flat(_tables(second.scenario))
    keys = [*before, *(key for key in after if key not in before)]
    pairs = [(key, before.get(key, NOTHING), after.get(key, NOTHING)) for key in keys]
    return [each for each in pairs if each[1] != each[2]]


def collective_changes(first: Result, second: Result) -> pd.DataFrame:
    """A row per kind of collective in both runs: op, group, ranks, bytes, count, before_ps, after_ps (medians), ratio.

    The largest change in time, all of a kind together, comes first.
    """
    kinds = [_kinds(result.collectives) for result in (first, second)]
    both = kinds[0].merge(kinds[1], on=ALIKE, suffixes=("_before", "_after"))
    table = both[ALIKE].assign(
        count=both["count_before"],
        before_ps=both["median_before"],
        after_ps=both["median_after"],
        ratio=both["sum_after"] / both["sum_before"].where(both["sum_before"] > 0),
    )
    change = (both["sum_after"] - both["sum_before"]).abs()
    order = change.sort_values(ascending=False, kind="stable").index
    return table.loc[order[change[order] > 0]].reset_index(drop=True)


def link_changes(first: Result, second: Result) -> pd.DataFrame:
    """A row per link in both runs, by its ends, that did other work: busy_ps, longest queue, drops, marks of each run.

    The largest change of the time it was busy comes first.
    """
    shown = ["busy_ps", "max_queue_bytes", "drops", "ecn_marks"]
    links = []
    for result in (first, second):
        busy_ps = (result.links["bytes"] * (8e12 / result.links["rate_bps"])).round().astype("int64")
        links.append(result.links.assign(busy_ps=busy_ps)[[*LINK, *shown]])
    both = links[0].merge(links[1], on=LINK, suffixes=("_before", "_after"))
    differs = pd.concat([both[f"{name}_before"] != both[f"{name}_after"] for name in shown], axis=1).any(axis=1)
    change = (both["busy_ps_after"] - both["busy_ps_before"]).abs()
    order = change[differs].sort_values(ascending=False, kind="stable").index
    return both.loc[order].reset_index(drop=True)


Titled = tuple[str, str, list[list[str]] | None]  # a title, a sentence, a table with its header


def _parts(results: Sequence[Result], names: Sequence[str]) -> list[Titled]:
    first, second = results
    changed, collectives, links = scenario_changes(*results), collective_changes(*results), link_changes(*results)
    slower = int((collectives["ratio"] > 1).sum())
    kinds = [_kinds(result.collectives) for result in results]
    shared = len(kinds[0].merge(kinds[1], on=ALIKE))
    alone = sum(map(len, kinds)) - 2 * shared
    lacking = f"; {counted(alone, 'kind')} in one run alone" if alone else ""
    says = (
        f"{counted(len(collectives) - slower, 'kind')} faster, {slower} slower, {shared - len(collectives)} as before"
    )
    head = ["", names[0], names[1]]
    return [
        (
            "What changed in the scenario",
            f"{counted(len(changed), 'key')}." if changed else "Nothing.",
            [head, *map(list, changed)] if changed else None,
        ),
        ("Collectives", f"{says}{lacking}.", _collective_table(collectives, names)),
        ("Links", _links_say(first, second, links), _link_table(links)),
    ]


def _links_say(first: Result, second: Result, links: pd.DataFrame) -> str:
    shared = len(first.links.merge(second.links, on=LINK))
    only = len(first.links) + len(second.links) - 2 * shared
    alone = f"; {counted(only, 'link')} in one fabric alone" if only else ""
    return f"{len(links):,} of {counted(shared, 'link')} in both fabrics did other work{alone}."


def _collective_table(table: pd.DataFrame, names: Sequence[str]) -> list[list[str]] | None:
    head = ["collective (median)", f"{names[0]}, us", f"{names[1]}, us", "time"]
    rows = [
        [
            f"{row['op']} {format_size(int(row['bytes']))}, {row['group'] or NOTHING}, {row['ranks']} ranks",
            microseconds(row["before_ps"]),
            microseconds(row["after_ps"]),
            times(row["ratio"]),
        ]
        for row in _records(table)
    ]
    return [head, *rows] if rows else None


def _link_table(table: pd.DataFrame) -> list[list[str]] | None:
    head = ["link: first, then second", "busy us", "", "longest queue", "", "marks", "", "drops", ""]
    rows = [
        [
            f"{row['source']}->{row['target']}",
            *(microseconds(row[f"busy_ps_{when}"]) for when in ("before", "after")),
            *(format_size(row[f"max_queue_bytes_{when}"]) for when in ("before", "after")),
            *(f"{row[f'{what}_{when}']:,}" for what in ("ecn_marks", "drops") for when in ("before", "after")),
        ]
        for row in _records(table)
    ]
    return [head, *rows] if rows else None


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = table.head(MOST_ROWS).to_dict("records")  # type: ignore[assignment]
    return records


def _kinds(collectives: pd.DataFrame) -> pd.DataFrame:
    equal = collectives.fillna({"group": ""}).groupby(ALIKE, sort=False, as_index=False)
    return equal.agg(count=("time_ps", "size"), sum=("time_ps", "sum"), median=("time_ps", "median"))


def _tables(scenario: Scenario) -> dict[str, Any]:
    return scenario.as_tables(trace=f"{scenario.trace.name} ({scenario.trace.digest()[:12]})")


def _flat(tables: Mapping[str, Any], above: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for key, value in tables.items():
        if isinstance(value, Mapping):
            found |= _flat(value, f"{above}{key}.")
        else:
            found[above + key] = str(value)
    return found


def _titled(title: str, says: str, table: list[list[str]] | None) -> str:
    return f"{title}: {says}" + (f"\n{columns(table[0], table[1:])}" if table else "")
