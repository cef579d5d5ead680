"""Replay one trace on several designs and say which is faster, by how much, and how sure that is.

\b
  netsim compare deepseek_v3_decode_16 --on fat_tree_k4_400g --on rail_optimized_16
  netsim compare all_to_all_16 --on leaf_spine_32_1to1 --on leaf_spine_32_2to1 --on leaf_spine_32_4to1
  netsim compare perm16 --on fat_tree_k4_100g --routing ecmp --routing spray --preset ideal --seeds 5
  netsim compare incast16 --on fat_tree_k4_100g --controls all
  netsim compare my_job.jsonl --on today.toml --on tomorrow.toml --preset roce --preset uec --seeds 10
  netsim compare perm16 --on fat_tree_k4_100g --on leaf_spine_32_4to1 --html my_page.html
  netsim compare today.toml tomorrow.toml
  netsim compare my_results/first my_results/second

Options that repeat are crossed: two fabrics and two presets are four designs. --transport and --controls change
the congestion control and nothing else: buffers, PFC, ECN, recovery and routing are those of the preset or the
scenario file, which is printed, with what a control lacks there. With --seeds N every design runs
with the same N seeds: the means come with 95 % intervals (Student's t), and speed-ups are taken seed by seed.
Saved runs (of run --out) are compared as they are: what changed, which collectives, which links.

Costs count switches, ports, cables and optics outside servers; cables between two switches are taken for optical.
A file of prices holds your own: switch, port, cable, optic (a number, or by tier or rate, as in
optic = { spine = 2, other = 1 }), optical = ["spine"], currency = "kEUR". netsim knows no prices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from netsim.cli import choices, show
from netsim.cli.choices import argument, option
from netsim.errors import InputError

if TYPE_CHECKING:
    from netsim.config.limits import Limits
    from netsim.report.costs import Cost
    from netsim.study.comparison import Comparison
    from netsim.study.designs import Design
    from netsim.study.pool import Pool

MANY = "Repeat for each; every one is combined with all others."

Things = Annotated[
    list[str], argument("TRACE", "A trace as in 'netsim run', several scenario files, or the folders of saved runs.")
]
Fabrics = Annotated[list[str], option("--on", "TOPOLOGY", f"A fabric to compare. {MANY}")]
Algorithms = Annotated[list[str], option("--algorithm", "OP=NAME", "E.g. all_reduce=tree; repeat as --on.")]
Presets = Annotated[list[str], option("--preset", "NAME", "A transport preset; repeat as --on.")]
Transports = Annotated[list[str], option("--transport", "NAME", "A congestion control, all else as it is; repeat.")]
Controls = Annotated[str | None, option("--controls", "LIST", "all, or names as in --transport: dctcp,swift,hpcc.")]
Routings = Annotated[list[str], option("--routing", "NAME", "ecmp, spray, adaptive ...; repeat as --on.")]
Placements = Annotated[list[str], option("--placement", "NAME", "packed or random; repeat as --on.")]
Seeds = Annotated[int, option("--seeds", "N", "Run each design with N seeds: 1, 2, ... N.")]
Prices = Annotated[Path | None, option("--prices", "FILE", "Your prices (TOML): cost of each design.")]
Jobs = Annotated[int, option("--jobs", "N", "Runs at once, with --seeds; 0: one per core.")]


def compare(
    traces: Things,
    on: Fabrics = [],  # noqa: B006  typer wants the plain default
    algorithm: Algorithms = [],  # noqa: B006
    preset: Presets = [],  # noqa: B006
    transport: Transports = [],  # noqa: B006
    controls: Controls = None,
    routing: Routings = [],  # noqa: B006
    placement: Placements = [],  # noqa: B006
    seed: choices.Seed = None,
    seeds: Seeds = 1,
    sets: choices.Settings = [],  # noqa: B006
    prices: Prices = None,
    html: choices.Html = None,
    jobs: Jobs = 0,
    time_limit: choices.TimeLimit = None,
    wall_limit: choices.WallLimit = None,
    as_json: choices.Json = False,
) -> None:
    from netsim.cli.designs import axes_of, designs, saved_runs
    from netsim.cli.work import say_how_read
    from netsim.study.controls import names_of

    show.refuse_unwritable(html)
    answer = Answer(html, as_json, choices.limits(time_limit, wall_limit))
    folders = saved_runs(traces)
    if folders:
        chosen = [*transport, *([controls] if controls else [])]
        _compare_saved(folders, answer, given=[*on, *algorithm, *preset, *chosen, *routing, *placement, *sets])
        return
    if seeds < 1:
        raise InputError(f"{seeds} seeds", where="--seeds", hint="give 1 or more")
    transport = [*transport, *(names_of(controls) if controls else [])]
    axes = axes_of(traces, on, algorithm, preset, transport, routing, placement)
    found = designs(traces, axes, choices.settings(sets, seed=seed), show.note)
    say_how_read(found[0].scenario)
    answer.base = _said_of_the_base(found) if len(transport) > 1 else {}
    _compare_designs(found, seeds, prices, jobs, answer)


@dataclass(slots=True)
class Answer:
    """What is wanted of the comparison besides the text, or instead of it; and what is told of the controls' base."""

    html: Path | None
    as_json: bool
    limits: Limits  # of each run
    base: dict[str, list[str]] = field(default_factory=dict)


def _said_of_the_base(found: Sequence[Design]) -> dict[str, list[str]]:
    """What all controls have in common, and what each lacks there."""
    from netsim.study.controls import base_text, misfits

    scenarios = [each.scenario for each in found]
    base = dict.fromkeys(base_text(scenario) for scenario in scenarios)
    warnings = dict.fromkeys(text for scenario in scenarios for text in misfits(scenario))
    for text in warnings:
        show.note(f"warning: {text}")
    return {"base": list(base), "warnings": list(warnings)}


def _compare_designs(found: Sequence[Design], seeds: int, prices: Path | None, jobs: int, answer: Answer) -> None:
    from netsim.study.compare import costs_of
    from netsim.study.comparison import comparison_json
    from netsim.study.comparison_page import comparison_page
    from netsim.study.pool import pool_of

    pool = pool_of("local", None, jobs)
    costs = costs_of(found, prices)  # a mistake in the last shows before any work
    comparison, text = (
        _over_seeds(found, seeds, pool, costs, answer.limits) if seeds > 1 else _one_each(found, costs, answer.limits)
    )
    show.written(answer.html, lambda: comparison_page(comparison))
    if answer.as_json:
        show.as_json(comparison_json(comparison) | answer.base)
    else:
        print("\n".join([*(f"only the control differs, on {each}" for each in answer.base.get("base", [])), text]))


def _one_each(found: Sequence[Design], costs: list[Cost], limits: Limits) -> tuple[Comparison, str]:
    """One run of each design, one after the other, each with its own bar."""
    from netsim.cli.work import simulated
    from netsim.report.compare import compare_text
    from netsim.study.compare import comparison_of
    from netsim.study.comparison import ONE_SEED
    from netsim.study.measure import measured_of

    results = [simulated(each.scenario, limits) for each in found]
    comparison = comparison_of(found, [[measured_of(each, 0.0, explained=True)] for each in results], costs)
    text = compare_text(results, comparison.names, costs)
    return comparison, f"{text}\n{ONE_SEED}" if len(found) > 1 else text


def _over_seeds(
    found: Sequence[Design], seeds: int, pool: Pool, costs: list[Cost], limits: Limits
) -> tuple[Comparison, str]:
    """Every design with every seed, on all cores."""
    from netsim.cli.eta import finishing
    from netsim.cli.work import compile_once, saying_warnings
    from netsim.simulation import check
    from netsim.study.compare import compared
    from netsim.study.comparison_text import comparison_text
    from netsim.study.designs import tasks_of

    tasks = tasks_of(found, seeds, limits)
    for each in found:
        check(each.scenario)
    compile_once(pool)
    with finishing(len(tasks), "runs") as tell:
        comparison = compared(found, tasks, pool, costs, saying_warnings(tell))
    pool.end()
    return comparison, comparison_text(comparison)


def _compare_saved(folders: list[Path], answer: Answer, given: Sequence[str]) -> None:
    from netsim.report.compare import compare_text
    from netsim.report.saved_runs import changes_json, changes_page, changes_text
    from netsim.result import Result

    if given:
        hint = f"leave out {given[0]!r}; or give {folders[0] / 'run.json'} to run it again"
        raise InputError("saved runs are compared as they are", where=str(folders[0]), hint=hint)
    results = [Result.load(folder) for folder in folders]
    names = [str(folder) for folder in folders]
    show.written(answer.html, lambda: changes_page(results, names))
    if answer.as_json:
        show.as_json(changes_json(results, names))
    else:
        print("\n\n".join([compare_text(results, names), *changes_text(results, names)]))
