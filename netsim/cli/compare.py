"""`netsim compare`: one trace on several fabrics, side by side."""

from typing import Annotated

import typer

from netsim.cli import choices, show


def compare(
    traces: choices.Traces,
    on: Annotated[list[str], typer.Option("--on", metavar="TOPOLOGY", help="A fabric to compare; repeat for each.")],
    algorithm: choices.Algorithms = [],  # noqa: B006  typer wants the plain default
    preset: choices.Preset = None,
    transport: choices.Transport = None,
    routing: choices.Routing = None,
    seed: choices.Seed = None,
    sets: choices.Settings = [],  # noqa: B006
    as_json: choices.Json = False,
) -> None:
    """Replay one trace on several fabrics and print their results side by side.

    \b
      netsim compare deepseek_v3_decode_16 --on fat_tree_k4_400g --on rail_optimized_16
      netsim compare all_to_all_16 --on leaf_spine_32_1to1 --on leaf_spine_32_2to1 --on leaf_spine_32_4to1
      netsim compare my_job.jsonl --on today.toml --on tomorrow.toml --transport dctcp --json
    """
    from netsim.cli.work import say_how_read, scenario_of, simulated
    from netsim.report.compare import compare_text

    chosen = choices.settings(algorithm, preset, transport, routing, seed, sets)
    scenarios = [scenario_of(traces, fabric, chosen) for fabric in on]  # a mistake in the last shows before any work
    say_how_read(scenarios[0])
    results = [simulated(scenario) for scenario in scenarios]
    if as_json:
        show.as_json({fabric: result.summary for fabric, result in zip(on, results, strict=True)})
    else:
        print(compare_text(results, on))
