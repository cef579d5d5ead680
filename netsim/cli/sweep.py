"""Run every point of a study, write each down as it ends, and put all into one Parquet table.

\b
  netsim sweep my_study.toml --dry-run
  netsim sweep my_study.toml --html my_study.html
  netsim sweep my_study.toml --jobs 4 --out my_results --svg my_picture.svg
  netsim sweep my_study.toml --backend dask --scheduler tcp://10.0.0.1:8786

A study is a scenario file with a [grid]: every key that --set takes, with a list of values.

\b
  trace = "all_to_all_16"
  [grid]
  topology = ["leaf_spine_32_1to1", "leaf_spine_32_4to1"]
  transport.preset = ["roce", "uec"]
  seed = { from = 1, to = 5 }

[[points]] lists settings instead of, or besides, crossing them; time_limit = "10ms" gives up on endless runs,
--wall-limit on those that take too long by the clock;
[picture] says what is drawn: x, lines, y, title. Paths are relative to the study's file. Interrupted, the same
command goes on where it stopped: what is finished is never run again, be it in an older study of the same folder.
A point that fails is a row with its error; the exit code is 1 then. A cluster needs pip install 'netsim[cluster]'.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from netsim.cli import choices, show
from netsim.cli.choices import argument, option
from netsim.cli.exit_codes import FAILED_RUN

if TYPE_CHECKING:
    from netsim.study.plan import Plan
    from netsim.study.pool import Pool
    from netsim.study.sweep import SweepWork


Study = Annotated[Path, argument("STUDY.toml", "The study's file.")]
Out = Annotated[Path | None, option("--out", "DIR", "The study's folder; by default STUDY_results, where you are.")]
Jobs = Annotated[int, option("--jobs", "N", "Runs at once on this machine; 0: one per core.")]
Backend = Annotated[str, option("--backend", "NAME", "local, or dask: a cluster.")]
Scheduler = Annotated[str | None, option("--scheduler", "ADDRESS", "Of the Dask cluster: tcp://10.0.0.1:8786.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="List the points and run nothing.")]
RetryFailed = Annotated[bool, typer.Option("--retry-failed", help="Run again what failed before.")]
Svg = Annotated[Path | None, option("--svg", "FILE", "Write the study's picture.")]


def sweep(
    study: Study,
    out: Out = None,
    jobs: Jobs = 0,
    backend: Backend = "local",
    scheduler: Scheduler = None,
    dry_run: DryRun = False,
    retry_failed: RetryFailed = False,
    html: choices.Html = None,
    svg: Svg = None,
    wall_limit: choices.WallLimit = None,
    as_json: choices.Json = False,
) -> None:
    from netsim.study.folder import StudyFolder
    from netsim.study.plan import read_plan
    from netsim.study.pool import pool_of
    from netsim.study.sweep import work_of

    show.refuse_unwritable(html, svg)
    pool = pool_of(backend, scheduler, jobs)
    plan = read_plan(study)
    folder = StudyFolder(out if out is not None else Path(f"{study.stem}_results"))
    if dry_run:
        _list_points(plan, work_of(plan, folder), as_json)
        return
    folder.open(plan.name)
    work = work_of(plan, folder, retry_failed=retry_failed)
    table = _run(work, pool, choices.limits(None, wall_limit).wall_ps)
    _answer(plan, table, html, svg, as_json)
    show.note(f"results of {len(table):,} points in {folder.path / 'results.parquet'}")
    _say_failed(len(work.failed))


def _run(work: SweepWork, pool: Pool, wall_limit_ps: int | None) -> Any:
    """Do what is to do, with its progress; the table as a DataFrame."""
    from netsim.cli.eta import finishing
    from netsim.cli.work import compile_once, saying_warnings
    from netsim.study.sweep import swept

    if work.records:
        show.note(f"{len(work.records):,} of {len(work.records) + len(work.todo):,} runs are finished already")
    if work.todo:
        compile_once(pool)
    try:
        with finishing(len(work.todo), "runs") as tell:
            table = swept(work, pool, saying_warnings(tell), wall_limit_ps)
    except KeyboardInterrupt:
        total = len(work.records) + sum(point.digest not in work.records for point in work.todo)
        show.note(f"{len(work.records):,} of {total:,} runs are finished and kept; the same command goes on from there")
        raise
    if work.todo:
        pool.end()
    return table.to_pandas()


def _say_failed(runs: int) -> None:
    """Nothing is said of none; else the command has failed too."""
    from netsim.report.text import counted

    if runs:
        show.note(f"{counted(runs, 'run')} failed, see the columns status and error; --retry-failed tries again")
        raise typer.Exit(FAILED_RUN)


def _list_points(plan: Plan, work: SweepWork, as_json: bool) -> None:
    from netsim.study.folder import label

    rows = [[point.number, *(label(point.settings.get(key, "-")) for key in plan.varied)] for point in plan.points]
    if as_json:
        show.as_json(
            [{"point": point.number, "settings": point.settings, "digest": point.digest} for point in plan.points]
        )
        return
    show.table("", ["point", *plan.varied], rows, words=plan.varied)
    print(f"\n{len(plan.points):,} points, {len(work.todo):,} runs to do, {len(work.records):,} finished")


def _answer(plan: Plan, table: Any, html: Path | None, svg: Path | None, as_json: bool) -> None:
    from netsim.study.sweep_page import picture, study_page
    from netsim.study.sweep_text import sweep_text

    show.written(html, lambda: study_page(plan, table))
    show.written(svg, lambda: picture(plan, table))
    if as_json:
        import json

        show.as_json(json.loads(table.to_json(orient="records")))
    else:
        print(sweep_text(plan, table))
