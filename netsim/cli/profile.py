"""Profile a job's communication: which operations, how often, how large, by whom, to whom, when.

A log that does not show all ranks is profiled as far as it goes: a collective that some of its ranks report counts
once, as of all of them; what none of them reports does not count. --fill-missing-ranks lets the others do the same.

\b
  netsim profile deepseek_v3_decode_16
  netsim profile deepseek_v3_prefill_16 --on rail_optimized_16
  netsim profile --compare deepseek_v3_decode_16 deepseek_v3_prefill_16
  netsim profile nccl.rank0.log nccl.rank1.log --html nccl.profile.html
  netsim profile my_logs/ --out my_profile --json
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from netsim.cli import choices, show
from netsim.cli.choices import option
from netsim.errors import InputError

if TYPE_CHECKING:
    from netsim.profile import Profile


def profile(
    traces: choices.Traces,
    on: Annotated[
        str | None, option("--on", "TOPOLOGY", "Place the ranks there: what leaves a server, and by which rail?")
    ] = None,
    algorithm: choices.Algorithms = [],  # noqa: B006  typer wants the plain default
    sets: choices.Settings = [],  # noqa: B006
    fill_missing_ranks: choices.FillMissingRanks = False,
    compare: Annotated[bool, typer.Option("--compare", help="Each TRACE is a job of its own: side by side.")] = False,
    out: Annotated[Path | None, option("--out", "DIR", "Save profile.json and Parquet tables here.")] = None,
    html: choices.Html = None,
    as_json: choices.Json = False,
) -> None:
    _check_places(out, html, compare)
    jobs = [[each] for each in traces] if compare else [traces]
    chosen = choices.settings(sets, algorithm)
    profiles = [_profile(job, on, chosen, fill_missing_ranks) for job in jobs]
    _save(profiles, out, html)
    _print(profiles, compare, as_json)


def _print(profiles: list[Profile], compare: bool, as_json: bool) -> None:
    from netsim.report.profile_compare import profiles_text
    from netsim.report.profile_json import profile_table

    if as_json:
        tables = [profile_table(each) for each in profiles]
        show.as_json({"jobs": tables} if compare else tables[0])
    else:
        print(profiles_text(profiles))


def _check_places(out: Path | None, html: Path | None, compare: bool) -> None:
    """Refuse what cannot be written before the work, not after it."""
    if out is not None:
        from netsim.report.profile_folder import check_profile_folder

        if compare:
            hint = "profile each job alone to save it, or take --json or --html"
            raise InputError("one folder holds one profile", where="--out", hint=hint)
        check_profile_folder(out)
    show.refuse_unwritable(html)


def _profile(traces: list[str], on: str | None, sets: list[str], fill: bool) -> Profile:
    from netsim.cli.progress import reading
    from netsim.cli.work import scenario_of
    from netsim.config import build_scenario, load_trace
    from netsim.profile import profile as profile_of

    if choices.is_scenario(traces):
        scenario = scenario_of(traces, on, sets, fill=fill)
        return profile_of(scenario.trace, scenario)
    if on is None and sets:
        raise InputError("a setting changes nothing without a fabric", where=sets[0], hint="add --on TOPOLOGY")
    with reading():
        trace = load_trace(traces, fill_missing_ranks=fill, partial=not fill)
    return profile_of(trace, None if on is None else build_scenario(trace, on, sets))


def _save(profiles: list[Profile], out: Path | None, html: Path | None) -> None:
    from netsim.report.profile_page import profile_page

    if out is not None:
        from netsim.report.profile_folder import save_profile

        save_profile(profiles[0], out)
        show.note(f"saved in {out}")
    show.written(html, lambda: profile_page(profiles), "plots in")
